// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// Max bounds what a run may cost. A field that is zero sets no bound.
type Max struct {
	Window int // tokens of the largest request, estimated at four bytes each
	Calls  int // model calls
}

// RequireLean fails the test if the run cost more than max.
func RequireLean[M adk.MessageType](t testing.TB, out *Outcome[M], max Max) {
	t.Helper()
	requests := out.watch.requests
	if max.Calls > 0 && len(requests) > max.Calls {
		t.Errorf("einoleantest: the run took %d model calls, and may take %d", len(requests), max.Calls)
	}
	for i, r := range requests {
		if n := tokens(r); max.Window > 0 && n > max.Window {
			t.Errorf("einoleantest: request %d of %d has about %d tokens, and may have %d", i+1, len(requests), n, max.Window)
		}
	}
}

func tokens[M adk.MessageType](r Request[M]) int {
	n := 0
	for _, m := range r.Messages {
		n += len(adktest.Text(m))
		for _, c := range adktest.Calls(m) {
			n += len(c.Name) + len(c.Args)
		}
	}
	for _, info := range slices.Concat(r.Tools, r.Deferred) {
		n += len(info.Name) + len(info.Desc)
		if params, err := info.ToJSONSchema(); err == nil {
			text, _ := json.Marshal(params)
			n += len(text)
		}
	}
	return (n + 3) / 4
}

// RequireReadable fails the test if any tool output is lost. The final form of each
// result, in the last request or the outcome, must hold every text that the tool
// returned, or name a file of the store that does. JSON may stand there in the form that
// CompactJSON gives it. The store is the agent's, and must be a [store.Reader].
func RequireReadable[M adk.MessageType](t testing.TB, out *Outcome[M], files reduction.Backend) {
	t.Helper()
	reader, ok := store.As[store.Reader](files)
	if !ok {
		t.Fatalf("einoleantest: a store of type %T cannot be read", files)
	}
	shown := finally(out)
	for _, r := range out.watch.results {
		texts := shown[r.id]
		if r.failed || len(texts) == 0 && out.Err != nil {
			continue // the run ended first
		}
		for _, want := range r.texts {
			compact, _ := jsontext.Compact(want)
			isKept := func(text string) bool {
				return holds(t.Context(), reader, text, want) || compact != "" && holds(t.Context(), reader, text, compact)
			}
			if !slices.ContainsFunc(texts, isKept) {
				t.Errorf("einoleantest: %d bytes that %s returned (call %s) are lost: the model sees\n%.600s", len(want), r.tool, r.id, strings.Join(texts, "\n"))
			}
		}
	}
}

// finally is what is left of each result, by the id of its call, which several may have: as the last
// request shows it or, if it came later, the outcome.
func finally[M adk.MessageType](out *Outcome[M]) map[string][]string {
	shown := func(messages []M) map[string][]string {
		all := map[string][]string{}
		for _, m := range messages {
			for _, r := range adktest.Results(m) {
				all[r.ID] = append(all[r.ID], r.Args)
			}
		}
		return all
	}
	all := shown(out.Messages)
	if n := len(out.watch.requests); n > 0 {
		for id, texts := range shown(out.watch.requests[n-1].Messages) {
			all[id] = append(texts, all[id][min(len(texts), len(all[id])):]...)
		}
	}
	return all
}

// word is what may be a path in a notice.
var word = regexp.MustCompile("[^\\s\"'`<>。，：；（）]+")

// holds reports whether a text has another one in it, or names a file that has.
func holds(ctx context.Context, reader store.Reader, text, want string) bool {
	if strings.Contains(text, want) {
		return true
	}
	for _, path := range word.FindAllString(text, -1) {
		for _, p := range []string{path, strings.TrimRight(path, ".,;:!?)")} {
			if !strings.Contains(p, "/") {
				continue
			}
			content, err := reader.Read(ctx, &filesystem.ReadRequest{FilePath: p})
			if err == nil && content != nil && strings.Contains(content.Content, want) {
				return true
			}
		}
	}
	return false
}
