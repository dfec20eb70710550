// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/session"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// sessionKey marks, in Extra, an answer that the provider ties to its request: its value
// describes what this module put there.
const sessionKey = "__einolean_toolsearch_session__"

// Request is what this module put into a request. The zero value is a request that it did not see.
type Request[M adk.MessageType] struct {
	list  string
	names []string           // of the hidden tools that it shows
	tools []*schema.ToolInfo // all tools, in the order of the wire
	msgs  []M
	told  []int // positions of this module's messages
}

// mark describes the request in three parts: the list, the hidden tools, and, for an answer that
// is bound to it, every tool and message as it went out.
func (s Request[M]) mark(t session.Tie) string {
	mark := hidden.Digest(s.list) + "." + hidden.Digest(strings.Join(slices.Sorted(slices.Values(s.names)), "\n"))
	if t == session.Bound {
		mark += "." + boundTo(definitions(s.tools), s.texts())
	}
	return mark
}

// texts are this module's messages.
func (s Request[M]) texts() (texts []string) {
	for _, i := range s.told {
		texts = append(texts, wire.TextOf(s.msgs[i]).Text)
	}
	return texts
}

func boundTo(tools string, told []string) string { return hidden.Digest(tools + say.JSON(told)) }

// definitions are tools as they go out.
func definitions(tools []*schema.ToolInfo) string {
	h := sha256.New()
	for _, t := range tools {
		if t == nil {
			continue
		}
		params, _ := t.ToJSONSchema() // one that cannot be read is not sent either
		text, _ := json.Marshal(params)
		fmt.Fprintf(h, "%q %q %s\n", t.Name, t.Desc, text)
	}
	return string(h.Sum(nil))
}

// Keeper releases what is tied to another list, other tools or, if it is bound to them, to another
// message of this module than the request has. changed hears of it.
func (s Request[M]) Keeper(changed func(context.Context)) session.Keeper[M] {
	return session.Keeper[M]{
		Key:  sessionKey,
		Mark: func(_ []M, t session.Tie) string { return s.mark(t) },
		Stale: func(msgs []M) func(int, session.Tie, string) bool {
			short := strings.Split(s.mark(session.Stored), ".")
			before := s.before(msgs)
			tools := sync.OnceValue(func() string { return definitions(s.tools) })
			return func(i int, t session.Tie, mark string) bool {
				was := strings.Split(mark, ".")
				switch t {
				case session.Stored:
					return was[0] != short[0]
				case session.StoredWithTools:
					return len(was) < 2 || !slices.Equal(was[:2], short)
				}
				return len(was) < 3 || was[2] != boundTo(tools(), before(i))
			}
		},
		Changed: changed,
	}
}

// before returns a function that finds this module's texts before a message of the request.
func (s Request[M]) before(msgs []M) func(i int) []string {
	var at []int
	all, texts := s.told, s.texts()
	for i, m := range msgs {
		if len(at) < len(all) && m == s.msgs[all[len(at)]] {
			at = append(at, i)
		}
	}
	if len(at) < len(all) { // a later handler copied them
		at = all
	}
	return func(i int) []string {
		n, _ := slices.BinarySearch(at, i)
		return texts[:n]
	}
}
