// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The laws of the Filter, on random catalogues, filters and conversations.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
)

// A tool that is denied in every phase leaves no trace: all that the model is sent is, byte
// for byte, what it would be sent if the tool did not exist.
func TestDeniedToolsLeaveNoTrace(t *testing.T) {
	everywhere(t, leaveNoTrace[*schema.Message], leaveNoTrace[*schema.AgenticMessage])
}

func leaveNoTrace[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(60) {
		w := newTreasury(r)
		w.streaming = streaming
		hidden := playTreasury[M](t, w, func(req toolsearch.FilterRequest) bool { return !w.denied[req.Tool.Name] })
		w.tools = slices.DeleteFunc(slices.Clone(w.tools), func(t treasure) bool { return w.denied[t.name] })
		absent := playTreasury[M](t, w, func(toolsearch.FilterRequest) bool { return true })
		require.Equal(t, absent, hidden, "%+v", w)
	}
}

// Whatever a filter allows or denies, the model never reads the name or the description of
// a tool that is denied in every phase.
func TestRandomFiltersKeepWhatTheyDeny(t *testing.T) {
	everywhere(t, keepWhatTheyDeny[*schema.Message], keepWhatTheyDeny[*schema.AgenticMessage])
}

func keepWhatTheyDeny[M adk.MessageType](t *testing.T, streaming bool) {
	r := newRand(t)
	for range race.Cases(60) {
		w := newTreasury(r)
		w.streaming = streaming
		seed := r.Uint64()
		text := playTreasury[M](t, w, func(req toolsearch.FilterRequest) bool {
			if w.denied[req.Tool.Name] {
				return false
			}
			// Of the others, any phase of any tool may be denied.
			h := rand.New(rand.NewPCG(seed, uint64(len(req.Tool.Name))<<8+uint64(req.Tool.Name[len(req.Tool.Name)-1])+uint64(len(req.Phase))<<32+uint64(req.Phase[0])<<40))
			return h.IntN(4) > 0
		})
		for _, tr := range w.tools {
			if w.denied[tr.name] {
				require.NotContains(t, strings.ToLower(text), tr.secret, "%s\n%+v", text, w)
			}
		}
	}
}

// treasury is a random catalogue of which some is denied, and what a model does with it.
type treasury struct {
	tools     []treasure
	denied    map[string]bool
	protocol  toolsearch.Protocol
	native    bool
	limit     int
	results   int
	streaming bool
	turns     []adktest.Turn
}

// treasure is a tool. Its name and its description end in a secret that the model, who
// knows no more than the beginning, never writes.
type treasure struct{ name, desc, secret string }

func newTreasury(r *rand.Rand) treasury {
	w := treasury{denied: map[string]bool{}, protocol: toolsearch.Protocol(r.IntN(4)), results: r.IntN(4)}
	w.native = w.protocol == toolsearch.Keyword && chance(r, 25)
	if chance(r, 30) {
		w.limit = 1 + r.IntN(4)
	}
	servers, words := []string{"git__", "mail__", "gitHub__", ""}, strings.Fields("list issue Issue get open send weather pay")
	for i := range 1 + r.IntN(12) {
		secret := fmt.Sprintf("zq%dx%d", i, r.IntN(1000))
		tr := treasure{secret: secret, name: pick(r, servers) + pick(r, words) + "_" + pick(r, words) + "_" + secret}
		tr.desc = pick(r, words) + " and " + pick(r, words) + " " + secret
		w.tools = append(w.tools, tr)
		if chance(r, 40) {
			w.denied[tr.name] = true
		}
	}
	for i := range 1 + r.IntN(5) {
		turn := adktest.Turn{}
		for j := range 1 + r.IntN(3) {
			name, args := w.act(r)
			turn.Calls = append(turn.Calls, adktest.ToolCall{ID: fmt.Sprintf("c%d.%d", i, j), Name: name, Args: args})
		}
		w.turns = append(w.turns, turn)
	}
	return w
}

// act is one call of a search tool.
func (w treasury) act(r *rand.Rand) (name, args string) {
	// Of a name, the model knows all but the secret.
	known, _, _ := strings.Cut(pick(r, w.tools).name, "zq")
	guess := pick(r, []string{known, strings.Trim(known, "_"), strings.ToUpper(known) + "zq", known[:len(known)/2], "+" + known, strings.ReplaceAll(known, "_", "-")})
	query := pick(r, []string{guess, "select:" + guess, "select:" + guess + "," + known, strings.ReplaceAll(known, "_", " "), "issue", "a", "", "zz"})
	switch {
	case w.protocol == toolsearch.Regexp:
		return "tool_search", fmt.Sprintf(`{"regex_pattern":%q}`, pick(r, []string{".*", "^" + known, "(?i)" + known, "e", "[", "zz"}))
	case w.protocol == toolsearch.SearchLoad && chance(r, 50):
		return "load_tool", fmt.Sprintf(`{"tool_name":%q}`, guess)
	case w.protocol == toolsearch.SearchLoad:
		return "search_tools", fmt.Sprintf(`{"query":%q}`, query)
	case w.protocol == toolsearch.SearchCall && chance(r, 50):
		return "call_tool", fmt.Sprintf(`{"name":%q,"arguments":{"value":"v"}}`, guess)
	}
	return "tool_search", fmt.Sprintf(`{"query":%q,"max_results":%d}`, query, r.IntN(5))
}

// playTreasury returns all that the model read, and all that was stored.
func playTreasury[M adk.MessageType](t testing.TB, w treasury, allow func(toolsearch.FilterRequest) bool) string {
	book := &notebook{}
	s := on[M](t, w.streaming, w.protocol)
	s.cfg.DynamicTools, s.cfg.UseModelToolSearch = nil, w.native
	// There is always one tool that nobody denies.
	for _, tr := range append(w.tools, treasure{name: "always", desc: "Always there"}) {
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Simple(tr.name, tr.desc))
	}
	s.cfg.CatalogLimit, s.cfg.MaxResults = w.limit, w.results
	if w.limit > 0 {
		s.cfg.Backend = book
	}
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Tool.Name == "always" || allow(req), nil
	}
	p := s.begin(w.turns...)
	return p.text() + fmt.Sprint(book.written)
}
