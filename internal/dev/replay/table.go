// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// Recorded is a conversation with a name, which decides into which half it goes, and a
// kind of work.
type Recorded struct {
	Name, Kind   string
	Model        string // that it was recorded with, if known
	Conversation *Conversation
}

// ReadAll reads recorded conversations, one JSON object a line.
func ReadAll(in io.Reader, each func(Recorded) error) error {
	for dec := json.NewDecoder(in); ; {
		var line struct {
			Name     string            `json:"name"`
			Kind     string            `json:"kind"`
			Messages []*schema.Message `json:"messages"`
		}
		if err := dec.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("replay: reading conversations: %w", err)
		}
		if err := each(Recorded{Name: line.Name, Kind: line.Kind, Conversation: New(line.Messages)}); err != nil {
			return err
		}
	}
}

// Tuning reports whether a conversation may be used to choose settings. The other half
// is held out.
func (r Recorded) Tuning() bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Name))
	return h.Sum32()%2 == 0
}

// Each replays a conversation under each policy.
func Each(ctx context.Context, c *Conversation, policies []Policy, o Options) ([]Bill, error) {
	out := make([]Bill, len(policies))
	for i, p := range policies {
		var err error
		if out[i], err = c.Run(ctx, p, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shortConversation is how many model calls a short conversation has at most.
const shortConversation = 10

// Table adds up the bills of conversations by policy. It is not safe for concurrent
// use.
type Table struct {
	policies []Policy
	kinds    map[string][]Bill
	totals   []Bill
	runs     int
	worst    [][]float64 // by policy and card, the highest cost of a short one, relative to no reduction
}

// NewTable makes a table. The first policy is what others are compared with.
func NewTable(policies []Policy) *Table {
	t := &Table{
		policies: policies, kinds: make(map[string][]Bill),
		totals: make([]Bill, len(policies)), worst: make([][]float64, len(policies)),
	}
	for i := range t.worst {
		t.worst[i] = make([]float64, len(Cards))
	}
	return t
}

// Add adds the bills of a conversation, one for each policy.
func (t *Table) Add(r Recorded, bills []Bill) {
	t.runs++
	if t.kinds[r.Kind] == nil {
		t.kinds[r.Kind] = make([]Bill, len(t.policies))
	}
	for i, b := range bills {
		t.totals[i].Add(b)
		t.kinds[r.Kind][i].Add(b)
		for k, c := range Cards {
			if r.Conversation.Calls() <= shortConversation {
				t.worst[i][k] = max(t.worst[i][k], c.Cost(b)/c.Cost(bills[0]))
			}
		}
	}
}

// Ratio is what a policy costs of what no reduction does, by the prices of a card. The
// kind is one of those that were added, or empty for all.
func (t *Table) Ratio(policy, kind string, c Card) float64 {
	bills := t.totals
	if kind != "" {
		bills = t.kinds[kind]
	}
	i := slices.IndexFunc(t.policies, func(p Policy) bool { return p.Name == policy })
	if i < 0 || len(bills) == 0 {
		return 0
	}
	return c.Cost(bills[i]) / c.Cost(bills[0])
}

// Bill is the sum of a policy's bills.
func (t *Table) Bill(policy string) Bill {
	i := slices.IndexFunc(t.policies, func(p Policy) bool { return p.Name == policy })
	if i < 0 {
		return Bill{}
	}
	return t.totals[i]
}

// String is the table: ratios by kind with the first card, then all kinds with each
// card, lost uses per conversation, results that cannot be read, the largest call in
// thousands of tokens, and the highest ratio of a short conversation on any card.
func (t *Table) String() string {
	kinds := make([]string, 0, len(t.kinds))
	for k := range t.kinds {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s", "")
	for _, k := range kinds {
		fmt.Fprintf(&b, " %9s", k)
	}
	for _, c := range Cards {
		fmt.Fprintf(&b, " %9s", c.Name)
	}
	fmt.Fprintf(&b, " %9s %9s %9s %9s\n", "lost/run", "unread.", "largest/k", "short")
	for i, p := range t.policies {
		fmt.Fprintf(&b, "%-44s", p.Name)
		for _, k := range kinds {
			fmt.Fprintf(&b, " %9.2f", t.Ratio(p.Name, k, Cards[0]))
		}
		for _, c := range Cards {
			fmt.Fprintf(&b, " %9.2f", t.Ratio(p.Name, "", c))
		}
		total := t.totals[i]
		fmt.Fprintf(&b, " %9.2f %9d %9d %9.2f\n", float64(total.Lost)/float64(max(1, t.runs)), total.Unreadable,
			(total.Largest+500)/1000, slices.Max(t.worst[i]))
	}
	return b.String()
}
