// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Conversations of several turns whose history an application stores: as the events showed it, or as the model has
// read it.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/store"
)

// plannedTurn is what happens in a turn of the user's.
type plannedTurn[M adk.MessageType] struct {
	question string
	rounds   []plannedRound[M]
	answer   string
}

// plannedRound is an answer with calls, and their results.
type plannedRound[M adk.MessageType] struct {
	call, results []M
	page          int // before it, the model reads a page of the file that so many notices from the end name; negative: none
	pageID        string
}

// storedForm is what an application stores of a turn.
type storedForm int

const (
	events  storedForm = iota // the messages that the events showed
	edited                    // the messages as the model has read them
	answers                   // the user's messages, and the final answers
)

// application stores the history of a conversation between its turns.
type application[M adk.MessageType] struct {
	stores storedForm
	config func(reduction.Backend) *reduction.TypedConfig[M]
	store  *store.Memory
	ratio  float64 // of the provider's counts to the estimate; zero: it reports none

	history  []M
	requests [][]M  // of all turns
	first    []int  // which of them begins a turn
	changed  []bool // the first request of a turn has changed the history that was stored
}

// turn makes the model calls of a turn, with a middleware of its own, as another replica has it.
func (a *application[M]) turn(t *testing.T, p plannedTurn[M]) {
	mw := typed(t, a.config(a.store))
	ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{Tools: []tool.BaseTool{readTool(t, a.store)}})
	require.NoError(t, err)

	stored := append(slices.Clone(a.history), adktest.User[M](p.question))
	state := &adk.TypedChatModelAgentState[M]{Messages: copyAll(stored)}
	a.first = append(a.first, len(a.requests))
	call := func(answer M) {
		given := state.Messages
		_, state, err = mw.BeforeModelRewriteState(ctx, state, nil)
		require.NoError(t, err)
		if len(a.changed) < len(a.first) {
			a.changed = append(a.changed, dump(t, given) != dump(t, state.Messages))
		}
		a.requests = append(a.requests, slices.Clone(state.Messages))
		if a.ratio > 0 {
			answer = adktest.Reporting(answer, int(a.ratio*float64(bytesOf(state.Messages))))
		}
		next := *state
		next.Messages = append(slices.Clone(state.Messages), answer)
		state, stored = &next, append(stored, answer)
	}
	returns := func(results ...M) {
		next := *state
		next.Messages = append(slices.Clone(state.Messages), results...)
		state, stored = &next, append(stored, results...)
	}
	reader := readTool(t, a.store)
	for _, r := range p.rounds {
		if paths := a.pathsRead(); r.page >= 0 && r.page < len(paths) {
			args := fmt.Sprintf(`{"file_path":%q,"limit":20}`, paths[len(paths)-1-r.page])
			call(adktest.Assistant[M]("", adktest.ToolCall{ID: r.pageID, Name: "read_file", Args: args}))
			page, err := reader.InvokableRun(ctx, args)
			require.NoError(t, err)
			returns(adktest.Result[M](r.pageID, "read_file", page))
		}
		call(r.call[0])
		returns(r.results...)
	}
	call(adktest.Assistant[M](p.answer))
	switch a.stores {
	case events:
		a.history = stored
	case edited:
		a.history = state.Messages
	case answers:
		a.history = append(a.history, adktest.User[M](p.question), adktest.Assistant[M](p.answer))
	}
	a.history = throughJSON(t, a.history)
}

// pathsRead are the paths that notices in the last request name.
func (a *application[M]) pathsRead() (paths []string) {
	if len(a.requests) == 0 {
		return nil
	}
	for _, m := range a.requests[len(a.requests)-1] {
		for _, result := range adktest.Results(m) {
			if n := notice.Parse(result.Args); n.Path != "" {
				paths = append(paths, n.Path)
			}
		}
	}
	return paths
}

// throughJSON is a history as a database returns it.
func throughJSON[M adk.MessageType](t *testing.T, msgs []M) (out []M) {
	data, err := json.Marshal(msgs)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func bytesOf[M adk.MessageType](msgs []M) (n int) {
	for _, m := range msgs {
		n += tokens.Of(adktest.Text(m)) + 10
		for _, c := range adktest.Calls(m) {
			n += tokens.Of(c.Args)
		}
	}
	return n
}

// planned invents the turns of a conversation.
func planned[M adk.MessageType](r *rand.Rand) (turns []plannedTurn[M]) {
	words := strings.Fields("the store keeps every result that a tool returned and shows its beginning " +
		"2026-03-04 status=200 id:4711 工具的结果")
	text := func(most int) string {
		var b strings.Builder
		for size := r.IntN(most + 1); b.Len() < size; {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return b.String()
	}
	calls, pages := 0, []string{text(3000)}
	for range 2 + r.IntN(5) {
		p := plannedTurn[M]{question: text(300), answer: text(400)}
		for range r.IntN(6) {
			var round plannedRound[M]
			var made []adktest.ToolCall
			for range 1 + r.IntN(3) {
				calls++
				c := adktest.ToolCall{
					ID: fmt.Sprint("call_", calls), Name: []string{"shell", "web", "files"}[r.IntN(3)],
					Args: fmt.Sprintf(`{"n":%d}`, calls),
				}
				if r.IntN(12) == 0 {
					c.ID = fmt.Sprint("call_", 1+r.IntN(calls)) // some models restart their numbering
				}
				if r.IntN(8) == 0 {
					c.Args = fmt.Sprintf(`{"content":%q}`, text(3000))
				}
				result := text([]int{50, 600, 4000, 9000}[r.IntN(4)])
				isRepeated := r.IntN(10) == 0
				if isRepeated {
					result = pages[r.IntN(len(pages))]
				}
				made = append(made, c)
				parts := []part{{text: result}}
				// The text of a result with an image is no other's: whether such results count as repeated may differ.
				if hasImage := r.IntN(8) == 0 && !isRepeated; !hasImage {
					pages = append(pages, result)
				} else {
					parts = append(parts, part{medium: "image", data: strings.Repeat(fmt.Sprint(calls), 500)})
				}
				round.results = append(round.results, shapeOf[M]().result(c.ID, c.Name, parts...))
			}
			round.call = []M{adktest.Assistant[M](text(200), made...)}
			if round.page = r.IntN(3) - 1; round.page >= 0 {
				calls++
				round.pageID = fmt.Sprint("call_", calls)
			}
			p.rounds = append(p.rounds, round)
		}
		turns = append(turns, p)
	}
	return turns
}

// randomSettings invents a configuration.
func randomSettings[M adk.MessageType](r *rand.Rand) func(reduction.Backend) *reduction.TypedConfig[M] {
	var cfg reduction.TypedConfig[M]
	cfg.MaxTokensForClear = []int64{300, 1000, 2500, 6000}[r.IntN(4)]
	cfg.ClearRetentionSuffixLimit = r.IntN(3)
	cfg.DedupeResults = r.IntN(2) == 0
	pick := func(of ...int64) int64 { return of[r.IntN(len(of))] }
	cfg.ClearAtLeastTokens = pick(0, 0, 500)
	cfg.MaxTokensAtTurnStart = pick(0, 0, cfg.MaxTokensForClear/2, cfg.MaxTokensForClear*2)
	cfg.WindowTokens = pick(0, 0, 0, 4000, 8000)
	cfg.ClearMedia = r.IntN(2) == 0
	cfg.ResolveReferences = r.IntN(2) == 0
	if target := pick(0, 0, cfg.MaxTokensForClear/2); cfg.MaxTokensAtTurnStart == 0 || target <= cfg.MaxTokensAtTurnStart {
		cfg.ClearTargetTokens = target
	}
	cfg.MinSavingBytes = int(pick(0, 500))
	cfg.MaxArgumentBytes = int(pick(0, 400))
	cfg.ProvideReadTool = r.IntN(2) == 0
	if cfg.WindowTokens > 0 && cfg.MaxTokensForClear > cfg.WindowTokens {
		cfg.WindowTokens = 0
	}
	if r.IntN(6) == 0 {
		cfg.TokenCounter = countBytes[M]
	}
	if r.IntN(6) == 0 {
		cfg.ClearExcludeTools = []string{"web"}
	}
	if r.IntN(6) == 0 {
		cfg.ClearMessageRewriter = summarizeRounds[M]
	}
	return func(b reduction.Backend) *reduction.TypedConfig[M] {
		c := cfg
		c.Backend = b
		return &c
	}
}

// countBytes is a TokenCounter.
func countBytes[M adk.MessageType](_ context.Context, msgs []M, _ []*schema.ToolInfo) (int64, error) {
	return int64(bytesOf(msgs)), nil
}

// summarizeRounds is a ClearMessageRewriter that removes the messages with marks, if there are several results.
func summarizeRounds[M adk.MessageType](_ context.Context, call M, results []M) ([]M, error) {
	if len(results) < 2 {
		return append([]M{call}, results...), nil
	}
	return []M{adktest.Assistant[M](fmt.Sprintf("%d results were read.", len(results)))}, nil
}

// What an application stores makes no difference to what the model reads.
func TestRepeatPasses_EventsAndEditedMessagesGiveSameRequests(t *testing.T) {
	adktest.EachType(t, testRepeatPassesEventsAndEditedMessagesGiveSameRequests[*schema.Message],
		testRepeatPassesEventsAndEditedMessagesGiveSameRequests[*schema.AgenticMessage])
}

func testRepeatPassesEventsAndEditedMessagesGiveSameRequests[M adk.MessageType](t *testing.T) {
	start := seedFrom(t)
	edits := 0
	for n := range conversations() {
		seed := start + n
		r := rand.New(rand.NewPCG(seed, 1))
		turns, config, ratio := planned[M](r), randomSettings[M](r), []float64{0, .8, 1.4}[r.IntN(3)]
		edits += requireSameRequests(t, seed, turns, config, ratio)
	}
	require.NotZero(t, edits)
}

// requireSameRequests has two applications, of which one stores events and one edited messages, make the turns of a
// conversation. It returns how many requests were edited.
func requireSameRequests[M adk.MessageType](
	t *testing.T, seed uint64, turns []plannedTurn[M],
	config func(reduction.Backend) *reduction.TypedConfig[M], ratio float64,
) (edits int) {
	a := &application[M]{config: config, store: store.NewMemory(0), ratio: ratio, stores: events}
	b := &application[M]{config: config, store: store.NewMemory(0), ratio: ratio, stores: edited}
	for _, p := range turns {
		a.turn(t, p)
		b.turn(t, p)
	}
	for i := range a.requests {
		require.Equal(t, dump(t, b.requests[i]), dump(t, a.requests[i]), "seed %d, request %d", seed, i)
		if strings.Contains(dump(t, a.requests[i]), "persisted-output") {
			edits++
		}
	}
	for i, first := range a.first {
		if i == 0 || b.changed[i] { // by a pass of this request
			continue
		}
		last := a.requests[first-1]
		require.Equal(t, dump(t, last), dump(t, a.requests[first][:len(last)]), "seed %d: turn %d breaks the prefix", seed, i)
	}
	return edits
}

// A ClearMessageRewriter may remove messages, and with them the marks that show that a history has been edited.
func TestRepeatPasses_RewriterThatRemovesMessages(t *testing.T) {
	adktest.EachType(t, testRepeatPassesRewriterThatRemovesMessages[*schema.Message],
		testRepeatPassesRewriterThatRemovesMessages[*schema.AgenticMessage])
}

func testRepeatPassesRewriterThatRemovesMessages[M adk.MessageType](t *testing.T) {
	start := seedFrom(t)
	for n := range max(1, conversations()/4) {
		seed := start + n
		r := rand.New(rand.NewPCG(seed, 1))
		turns, base, ratio := planned[M](r), randomSettings[M](r), []float64{0, .8, 1.4}[r.IntN(3)]
		counts := r.IntN(2) == 0
		requireSameRequests(t, seed, turns, func(b reduction.Backend) *reduction.TypedConfig[M] {
			cfg := base(b)
			cfg.ClearMessageRewriter = summarizeRounds[M]
			if counts {
				cfg.TokenCounter = countBytes[M]
			}
			return cfg
		}, ratio)
	}
}

func dump[M adk.MessageType](t *testing.T, msgs []M) string {
	data, err := json.MarshalIndent(msgs, "", " ")
	require.NoError(t, err)
	return string(data)
}

// conversations is how many conversations a property test invents: EINOLEAN_CONVERSATIONS, or 200.
func conversations() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_CONVERSATIONS"), 10, 64); err == nil {
		return n
	}
	return uint64(race.Cases(200))
}

// seedFrom is where the seeds of a property test start: EINOLEAN_SEED repeats one.
func seedFrom(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return seed
}

// The comparison of [TestRepeatPasses_EventsAndEditedMessagesGiveSameRequests] would notice if a run decided otherwise
// than the runs before it.
func TestRepeatPasses_OtherDecisionsShow(t *testing.T) {
	for name, change := range map[string]func(*reduction.Config){
		"threshold":     func(c *reduction.Config) { c.MaxTokensForClear += c.MaxTokensForClear / 10 },
		"retention":     func(c *reduction.Config) { c.ClearRetentionSuffixLimit = max(1, c.ClearRetentionSuffixLimit) + 1 },
		"turn's start":  func(c *reduction.Config) { c.MaxTokensAtTurnStart, c.ClearTargetTokens = c.MaxTokensForClear/4, 0 },
		"least saving":  func(c *reduction.Config) { c.ClearAtLeastTokens += 1000 },
		"repeats":       func(c *reduction.Config) { c.DedupeResults = !c.DedupeResults },
		"media":         func(c *reduction.Config) { c.ClearMedia, c.WindowTokens = !c.ClearMedia, 0 },
		"small results": func(c *reduction.Config) { c.MinSavingBytes = 3000 },
		"counts": func(c *reduction.Config) {
			c.TokenCounter = func(_ context.Context, msgs []*schema.Message, _ []*schema.ToolInfo) (int64, error) {
				return int64(bytesOf(msgs)) / 2, nil
			}
		},
	} {
		start, noticed := seedFrom(t), false
		for n := uint64(0); !noticed; n++ {
			require.Less(t, n, uint64(200), "%s: nobody notices", name)
			r := rand.New(rand.NewPCG(start+n, 1))
			turns, config := planned[*schema.Message](r), randomSettings[*schema.Message](r)
			other := func(b reduction.Backend) *reduction.Config {
				c := config(b)
				change(c)
				return c
			}
			// The last turn is one of a run that decides otherwise.
			one := &application[*schema.Message]{config: config, store: store.NewMemory(0)}
			two := &application[*schema.Message]{config: config, store: store.NewMemory(0)}
			for i, p := range turns {
				one.turn(t, p)
				if i == len(turns)-1 {
					two.config = other
				}
				two.turn(t, p)
			}
			last := one.first[len(one.first)-1]
			noticed = dump(t, one.requests[last]) != dump(t, two.requests[last])
		}
	}
}

// An application that stores the events of twelve turns, with three results of 2,000 tokens in each, gets what one
// gets that stores the messages which the model has read. The user can ask about the turn before.
func TestRecommended_TwelveTurnsCostTheSameInBothForms(t *testing.T) {
	adktest.EachType(t, testRecommendedTwelveTurns[*schema.Message], testRecommendedTwelveTurns[*schema.AgenticMessage])
}

func testRecommendedTwelveTurns[M adk.MessageType](t *testing.T) {
	var turns []plannedTurn[M]
	fact := func(turn, n int) string {
		return fmt.Sprintf("The code of turn %d, result %d, is %d.", turn, n, 7919*turn+n)
	}
	for i := range 12 {
		p := plannedTurn[M]{question: fmt.Sprintf("What is new in turn %d?", i), answer: strings.Repeat("This is what is new. ", 20)}
		result := func(n int) string {
			return strings.Repeat(fmt.Sprintf("line %d of result %d: all is well\n", i, n), 80) + fact(i, n) +
				strings.Repeat(fmt.Sprintf("\nline %d of result %d: nothing else", i, n), 80)
		}
		calls := func(numbers ...int) plannedRound[M] {
			round := plannedRound[M]{page: -1}
			var made []adktest.ToolCall
			for _, n := range numbers {
				id := fmt.Sprintf("call_%d_%d", i, n)
				made = append(made, adktest.ToolCall{ID: id, Name: "look", Args: fmt.Sprintf(`{"n":%d}`, n)})
				round.results = append(round.results, adktest.Result[M](id, "look", result(n)))
			}
			round.call = []M{adktest.Assistant[M]("", made...)}
			return round
		}
		p.rounds = []plannedRound[M]{calls(1, 2), calls(3)} // two calls at once, then one
		turns = append(turns, p)
	}
	apps := map[storedForm]*application[M]{}
	for name, stores := range map[string]storedForm{"events": events, "edited": edited, "answers": answers} {
		a := &application[M]{config: reduction.RecommendedTyped[M], store: store.NewMemory(0), stores: stores}
		for _, p := range turns {
			a.turn(t, p)
		}
		apps[stores] = a
		sent, cached := a.billed(t)
		breaks, answered := 0, 0
		for i, first := range a.first {
			if i == 0 {
				continue
			}
			last := a.requests[first-1]
			if dump(t, last) != dump(t, a.requests[first][:min(len(last), len(a.requests[first]))]) {
				breaks++
			}
			text := dump(t, a.requests[first])
			if strings.Contains(text, fact(i-1, 1)) && strings.Contains(text, fact(i-1, 2)) && strings.Contains(text, fact(i-1, 3)) {
				answered++
			}
		}
		t.Logf("%s: %d requests, %d tokens, %.0f %% of them as before; the first request of a turn: %d broken prefixes; "+
			"%d of 11 show the results of the turn before", name, len(a.requests), sent, 100*float64(cached)/float64(sent), breaks, answered)
		if stores != answers {
			require.Zero(t, breaks)
			require.Equal(t, 11, answered)
		}
	}
	require.Equal(t, len(apps[edited].requests), len(apps[events].requests))
	for i := range apps[edited].requests {
		require.Equal(t, dump(t, apps[edited].requests[i]), dump(t, apps[events].requests[i]), "request %d", i)
	}
}

// billed returns the tokens of all requests, and those of the messages with which the request before began as well.
func (a *application[M]) billed(t *testing.T) (sent, cached int) {
	for i, request := range a.requests {
		same := i > 0
		for n, m := range request {
			size := bytesOf([]M{m})
			sent += size
			same = same && n < len(a.requests[i-1]) && dump(t, []M{m}) == dump(t, a.requests[i-1][n:n+1])
			if same {
				cached += size
			}
		}
	}
	return sent, cached
}
