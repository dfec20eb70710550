// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// Invariants of both middlewares in one agent, over random conversations of several turns. The application stores the
// history between the turns: as the events showed it, or as the model has read it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	einofiles "github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

// actionKind is what a planned tool call does.
type actionKind int

const (
	actOwn    actionKind = iota // call a tool of the agent
	actHidden                   // call a hidden tool, as the protocol needs it
	actDirect                   // call a hidden tool by its name
	actSearch                   // search
	actLoad                     // load hidden tools by name
	actRead                     // read a stored result back
	actPass                     // pass a stored result to a tool of the agent
	actAsk                      // call a tool that interrupts the run
)

// action is a planned tool call.
type action struct {
	kind    actionKind
	id      string
	tool    string // or the query of a search
	result  int    // which one of the results it returns
	content string // a long argument; "" for none
	file    int    // actRead, actPass: of the files that notices name, counted from the end
	offset  int    // actRead
}

// turnPlan is what happens in a turn: one answer for each list of actions, and the final answer.
type turnPlan struct {
	question string
	texts    []string
	batches  [][]action
	answer   string
}

// chatPlan is a conversation before anybody has it.
type chatPlan struct {
	turns   []turnPlan
	results []string
	isOwn   map[string]bool // the id belongs to one call, of a tool of ours: what it returns is known
	asks    bool            // a tool interrupts a run
	// reusesIDs says that some calls have the id of an earlier one. If the result of such a call is a stream that is
	// truncated, the name of its file is random.
	reusesIDs bool
	ratio     float64 // of the provider's counts to ours; zero: it reports none
}

// hiddenNames are the names of the hidden tools.
func hiddenNames() (names []string) {
	for _, server := range []string{"github", "calendar", "warehouse", "weather"} {
		for _, verb := range []string{"create", "find", "update", "delete"} {
			for _, object := range []string{"issue", "meeting"} {
				names = append(names, server+"__"+verb+"_"+object)
			}
		}
	}
	return names
}

var ownNames = []string{"shell", "web", "files"}

// planChat invents a conversation.
func planChat(r *rand.Rand) (p chatPlan) {
	words := strings.Fields("the store keeps every result that a tool returned and shows its beginning " +
		"create an issue find a meeting update the weather 2026-03-04 status=200 id:4711 工具的结果")
	text := func(least, most int) string {
		var b strings.Builder
		for size := least + r.IntN(most+1); b.Len() < size; {
			b.WriteString(words[r.IntN(len(words))] + []string{" ", " ", " ", "\n"}[r.IntN(4)])
		}
		return b.String()
	}
	p.ratio, p.isOwn = []float64{0, .8, 1.4}[r.IntN(3)], map[string]bool{}
	calls, hidden := 0, hiddenNames()
	var ids []string
	act := func(used map[string]bool) action {
		calls++
		a := action{id: fmt.Sprint("call_", calls), tool: ownNames[r.IntN(len(ownNames))]}
		a.file, a.offset = r.IntN(3), 1+r.IntN(20)
		if len(ids) > 0 && r.IntN(15) == 0 && !used[ids[len(ids)/2]] {
			a.id, p.reusesIDs = ids[len(ids)/2], true // some models restart their numbering
		}
		used[a.id], ids = true, append(ids, a.id)
		a.kind = []actionKind{
			actOwn, actOwn, actOwn, actOwn, actOwn, actHidden, actHidden, actHidden, actDirect, actSearch, actSearch,
			actLoad, actRead, actRead, actPass, actAsk,
		}[r.IntN(16)]
		switch a.kind {
		case actHidden, actDirect, actLoad:
			a.tool = hidden[r.IntN(len(hidden))]
		case actSearch:
			a.tool = text(5, 40)
		case actAsk:
			a.tool, p.asks = "approve", true
		}
		if r.IntN(10) == 0 && len(p.results) > 0 {
			a.result = r.IntN(len(p.results))
		} else {
			a.result = len(p.results)
			p.results = append(p.results, resultText(r, text))
		}
		if r.IntN(8) == 0 {
			a.content = text(0, 3000)
		}
		_, isKnown := p.isOwn[a.id]
		p.isOwn[a.id] = !isKnown && slices.Contains([]actionKind{actOwn, actHidden, actPass, actAsk}, a.kind)
		return a
	}
	for range 2 + r.IntN(3) {
		t := turnPlan{question: text(20, 300), answer: text(1, 400)}
		for range r.IntN(5) {
			var batch []action
			used := map[string]bool{}
			for range 1 + max(0, r.IntN(5)-2) {
				batch = append(batch, act(used))
			}
			t.texts, t.batches = append(t.texts, text(0, 100)), append(t.batches, batch)
		}
		p.turns = append(p.turns, t)
	}
	return p
}

// resultText invents what a tool returns.
func resultText(r *rand.Rand, text func(least, most int) string) string {
	most := []int{50, 600, 4000, 9000}[r.IntN(4)]
	out := text(0, most)
	if r.IntN(6) == 0 {
		indented, err := json.MarshalIndent(map[string]any{"id": r.IntN(1000), "text": out, "list": []int{1, 2, 3}}, "", "  ")
		if err != nil {
			panic(err)
		}
		out = string(indented)
	}
	for len(out) > 0 && !utf8.RuneStart(out[len(out)/2]) {
		out += " " // a tool that streams splits it there
	}
	return out
}

// chatSettings are how the agent of a conversation is configured.
type chatSettings[M adk.MessageType] struct {
	search         toolsearch.Config // without tools and store
	reduce         reduction.TypedConfig[M]
	isReduceFirst  bool
	addsMessage    bool // a handler before both adds a message
	wrapsTools     bool // a handler behind both adds a line to results
	instruction    string
	streaming      bool
	forms          [2]adktest.Form // of the agent's tools, and of the hidden ones
	storesCatalog  bool
	oneMiddleware  bool // for all turns, rather than new ones
	loadsByRequest bool // the list of tools may change with a request that loads nothing
	loadsBySearch  bool // tools are loaded by searches alone, and each tool is shown from then on
}

// randomChatSettings invents a configuration. Thresholds are so low that a conversation of 10,000 tokens reaches them.
func randomChatSettings[M adk.MessageType](r *rand.Rand, p *chatPlan) (s chatSettings[M]) {
	pick := func(of ...int64) int64 { return of[r.IntN(len(of))] }
	s.search = *toolsearch.Recommended(nil)
	s.search.MinTokensToHide = int(pick(0, 0, 0, 3000, 100_000))
	if r.IntN(2) == 0 {
		s.search = toolsearch.Config{Protocol: toolsearch.Protocol(r.IntN(4)), MinTokensToHide: s.search.MinTokensToHide}
		s.search.CatalogLimit, s.search.MaxResults = int(pick(0, 5, 50)), int(pick(0, 3))
		s.search.AllowUnloadedCalls = r.IntN(4) == 0
		if s.search.Protocol != toolsearch.SearchCall {
			s.search.UnloadAfter, s.search.MaxToolsPerRequest = int(pick(0, 0, 3)), int(pick(0, 0, 12))
		}
		if s.search.Protocol != toolsearch.Regexp {
			s.search.NewIndex, s.search.Prefetch = []index.Func{nil, index.BM25}[r.IntN(2)], int(pick(0, 0, 2))
			s.search.MinConfidence = []float64{0, .05}[r.IntN(2)]
		}
		if r.IntN(3) == 0 {
			s.search.AlwaysVisible = []string{"weather__find*"}
		}
	}
	s.reduce = randomReduction[M](r)
	// Of the tools of earlier requests, only those are known that a search has loaded. All else is for a counter that does
	// not count tools.
	isLoading := s.search.Protocol != toolsearch.SearchCall
	if s.loadsBySearch = isLoading && r.IntN(2) == 0; s.loadsBySearch {
		s.search.UnloadAfter, s.search.MaxToolsPerRequest, s.search.Prefetch, s.search.AlwaysVisible = 0, 0, 0, nil
	} else if isLoading || len(s.search.AlwaysVisible) > 0 {
		s.reduce.TokenCounter = countMessages[M]
	}
	s.loadsByRequest = isLoading && s.search.Prefetch > 0 || s.search.UnloadAfter > 0 || s.search.MaxToolsPerRequest > 0
	s.isReduceFirst, s.addsMessage, s.wrapsTools = r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	s.instruction = []string{"", "You are an agent of several tools."}[r.IntN(2)]
	s.streaming, s.storesCatalog, s.oneMiddleware = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	for i := range s.forms {
		// docs/results.md: a truncated stream of several parts may differ between events and state.Messages.
		form := []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced}[r.IntN(3)]
		if p.reusesIDs && form == adktest.Streamable || !storesChunksAlike[M](form, s.streaming && !p.asks) {
			form = adktest.Invokable // a checkpoint joins the chunks of results, too
		}
		s.forms[i] = form
	}
	return s
}

func randomReduction[M adk.MessageType](r *rand.Rand) (cfg reduction.TypedConfig[M]) {
	pick := func(of ...int64) int64 { return of[r.IntN(len(of))] }
	cfg.MaxTokensForClear = pick(1500, 3000, 5000, 8000)
	if r.IntN(3) == 0 {
		threshold := cfg.MaxTokensForClear
		cfg = *reduction.RecommendedTyped[M](nil)
		cfg.MaxTokensForClear, cfg.ClearAtLeastTokens, cfg.MaxLengthForTrunc = threshold, threshold/8, 3000
	} else {
		cfg.MaxLengthForTrunc, cfg.ClearRetentionSuffixLimit = int(pick(500, 1500, 5000, 50_000)), r.IntN(3)
		cfg.DedupeResults, cfg.CompactJSON = r.IntN(2) == 0, r.IntN(2) == 0
		cfg.ResolveReferences, cfg.ProvideReadTool = r.IntN(2) == 0, r.IntN(4) > 0
		cfg.ClearAtLeastTokens, cfg.MinSavingBytes = pick(0, 0, 500), int(pick(0, 500))
		cfg.MaxArgumentBytes = int(pick(0, 400))
		cfg.MaxTokensAtTurnStart = pick(0, 0, cfg.MaxTokensForClear/2, cfg.MaxTokensForClear*2)
		if r.IntN(3) == 0 {
			cfg.ClearTargetTokens = cfg.MaxTokensForClear / 2
		}
		if r.IntN(2) == 0 {
			cfg.Preview = reduction.PreviewByKind
		}
		if r.IntN(6) == 0 {
			cfg.ClearExcludeTools = []string{"web"}
		}
	}
	if window := pick(0, 0, 0, 6000, 12_000); window >= cfg.MaxTokensForClear {
		cfg.WindowTokens = window
	}
	if r.IntN(2) == 0 {
		cfg.TokenCounter = countForTest[M]
	}
	return cfg
}

// countForTest is a TokenCounter, and what the provider counts.
func countForTest[M adk.MessageType](_ context.Context, msgs []M, tools []*schema.ToolInfo) (n int64, err error) {
	for _, m := range msgs {
		n += int64(tokens.Of(adktest.Text(m)) + 10)
		for _, c := range adktest.Calls(m) {
			n += int64(tokens.Of(c.Name) + tokens.Of(c.Args))
		}
	}
	for _, info := range tools {
		n += int64(tokens.Of(info.Name)+tokens.Of(info.Desc)) + 30
	}
	return n, nil
}

// countMessages is a TokenCounter that does not count tools.
func countMessages[M adk.MessageType](ctx context.Context, msgs []M, _ []*schema.ToolInfo) (int64, error) {
	return countForTest(ctx, msgs, nil)
}

// chat is a conversation that an application serves.
type chat[M adk.MessageType] struct {
	t            testing.TB
	plan         *chatPlan
	settings     chatSettings[M]
	store        *store.Memory
	storesEdited bool

	history  []M
	edited   []M // the messages of the agent's state after the last model call
	requests []sentRequest[M]
	turn     int
	step     int // of the turn

	mu        sync.Mutex
	originals map[string][]string // what tools returned, by the id of the call
	arguments map[string][]string // long arguments, by the id of the call
	handlers  []handler[M]        // with oneMiddleware
	schemas   map[*schema.ToolInfo]string
}

// sentRequest is a request as the model got it.
type sentRequest[M adk.MessageType] struct {
	messages     []M
	json         []string // of the messages, as far as a provider gets it
	tools        []string // their definitions
	names        []string // of the tools
	beginsTurn   bool
	tokens       int64 // all of them
	messageSizes []int64
	toolSize     int64
}

// newChat begins a conversation.
func newChat[M adk.MessageType](t testing.TB, p *chatPlan, s chatSettings[M], storesEdited bool) *chat[M] {
	return &chat[M]{
		t: t, plan: p, settings: s, store: store.NewMemory(0), storesEdited: storesEdited,
		originals: map[string][]string{}, arguments: map[string][]string{}, schemas: map[*schema.ToolInfo]string{},
	}
}

// play runs the next turn: in a new agent, and in another one after each interruption.
func (c *chat[M]) play() {
	ctx, p := context.Background(), c.plan.turns[c.turn]
	input := append(slices.Clone(c.history), adktest.User[M](p.question))
	checkpoints := &adktest.Store{}
	c.step = 0
	runner, err := c.agent(checkpoints).Runner(ctx)
	require.NoError(c.t, err)
	out := adktest.Collect(runner.Run(ctx, input, adk.WithCheckPointID("x")))
	events := out.Messages
	for out.Interrupted != nil {
		runner, err = c.agent(checkpoints).Runner(ctx)
		require.NoError(c.t, err)
		it, err := runner.Resume(ctx, "x")
		require.NoError(c.t, err)
		out = adktest.Collect(it)
		events = append(events, out.Messages...)
	}
	require.NoError(c.t, out.Err)
	require.Equal(c.t, p.answer, out.Answer())
	if c.history = append(input, events...); c.storesEdited {
		c.history = c.edited
		if c.settings.instruction != "" {
			c.history = c.history[1:] // the agent puts it there again
		}
	}
	text, err := json.Marshal(c.history)
	require.NoError(c.t, err)
	c.history = nil
	require.NoError(c.t, json.Unmarshal(text, &c.history))
	c.turn++
}

// agent is an agent as another replica has it.
func (c *chat[M]) agent(checkpoints *adktest.Store) adktest.Agent[M] {
	s := &c.settings
	ask := func(ctx context.Context, args string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "may I?")
		}
		return c.result(ctx, args)
	}
	own := []tool.BaseTool{adktest.Tool(adktest.Invokable, c.info("approve", "asks a person"), ask)}
	for _, name := range ownNames {
		own = append(own, adktest.Tool(s.forms[0], c.info(name, "does something with "+name), c.result))
	}
	if c.handlers == nil || !s.oneMiddleware {
		c.handlers = c.newHandlers()
	}
	return adktest.Agent[M]{
		Model: &adktest.Model[M]{Respond: c.respond}, Tools: own, Handlers: c.handlers, Streaming: s.streaming,
		Store:     checkpoints,
		Configure: func(cfg *adk.TypedChatModelAgentConfig[M]) { cfg.Instruction = s.instruction },
	}
}

func (c *chat[M]) newHandlers() (list []handler[M]) {
	s := c.settings
	for _, name := range hiddenNames() {
		desc := "can " + strings.ReplaceAll(strings.ReplaceAll(name, "__", ": "), "_", " a ")
		s.search.DynamicTools = append(s.search.DynamicTools, adktest.Tool(s.forms[1], c.info(name, desc), c.result))
	}
	if s.storesCatalog {
		s.search.Backend = c.store
	}
	s.search.OnEvent = einolean.Tee()
	s.reduce.Backend = c.store
	s.reduce.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindStoreFailed {
			c.t.Error(e.Err)
		}
	}
	middlewares := adktest.Handlers(searchOf[M](c.t, s.search), reductionOf(c.t, s.reduce))
	if s.isReduceFirst {
		slices.Reverse(middlewares)
	}
	if s.addsMessage {
		list = append(list, &addsContext[M]{})
	}
	list = append(list, middlewares...)
	if s.wrapsTools {
		list = append(list, &addsLine[M]{})
	}
	return append(list, &notesState[M]{note: func(msgs []M) { c.edited = msgs }})
}

func (c *chat[M]) info(name, desc string) *schema.ToolInfo {
	params := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"n":       {Type: schema.Integer, Desc: "which one", Required: true},
		"content": {Type: schema.String, Desc: "any text, such as what another tool has returned"},
	})
	return &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: params}
}

// result is what a tool returns.
func (c *chat[M]) result(ctx context.Context, args string) (string, error) {
	var in struct{ N int }
	if err := json.Unmarshal([]byte(args), &in); err != nil || in.N >= len(c.plan.results) {
		return "", fmt.Errorf("wrong arguments %q: %w", args, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, text := compose.GetToolCallID(ctx), c.plan.results[in.N]
	c.originals[id] = append(c.originals[id], text)
	return text, nil
}

// respond records a request, and answers as planned.
func (c *chat[M]) respond(_ int, w adktest.Wire[M]) adktest.Turn {
	c.record(w)
	p := c.plan.turns[c.turn]
	answer := adktest.Say(p.answer)
	if c.step < len(p.batches) {
		answer = adktest.Turn{Text: p.texts[c.step]}
		for _, a := range p.batches[c.step] {
			answer.Calls = append(answer.Calls, c.call(a, w))
		}
	}
	c.step++
	if c.plan.ratio > 0 {
		answer.Usage = &schema.TokenUsage{PromptTokens: int(c.plan.ratio * float64(c.requests[len(c.requests)-1].tokens))}
	}
	return answer
}

func (c *chat[M]) record(w adktest.Wire[M]) {
	r := sentRequest[M]{messages: w.Messages, names: w.ToolNames, beginsTurn: c.step == 0}
	for _, m := range w.Messages {
		text, err := json.Marshal(m)
		require.NoError(c.t, err)
		r.json = append(r.json, notSent.ReplaceAllString(string(text), ""))
		size, _ := countForTest(context.Background(), []M{m}, nil)
		r.messageSizes = append(r.messageSizes, size)
		r.tokens += size
	}
	for _, info := range w.Tools {
		r.tools = append(r.tools, c.schemaOf(info))
	}
	r.toolSize, _ = countForTest[M](context.Background(), nil, w.Tools)
	r.tokens += r.toolSize
	c.requests = append(c.requests, r)
}

// notSent is what no adapter sends: positions in streams, the id that Eino gives a message, and marks of reduction.
var notSent = regexp.MustCompile(`"index":\d+,|,"streaming_meta":\{[^}]*\}|` +
	`,"extra":\{("(_eino_msg_id|_reduction_mw_processed|__einolean_reduction__|__einolean_reduction_factor__)":` +
	`("[^"]*"|true|[0-9.e-]*),?)*\}`)

// schemaOf is the definition of a tool, as text.
func (c *chat[M]) schemaOf(info *schema.ToolInfo) string {
	text, isKnown := c.schemas[info]
	if !isKnown {
		params, err := info.ParamsOneOf.ToJSONSchema()
		require.NoError(c.t, err)
		text = info.Name + " " + info.Desc + " " + arguments(params)
		c.schemas[info] = text
	}
	return text
}

// call is a planned call, as the model of a request makes it.
func (c *chat[M]) call(a action, w adktest.Wire[M]) adktest.ToolCall {
	args := map[string]any{"n": a.result}
	if a.content != "" {
		args["content"] = a.content
		c.arguments[a.id] = append(c.arguments[a.id], a.content)
	}
	name, protocol := a.tool, c.settings.search.Protocol
	var files []string
	if a.kind == actRead || a.kind == actPass {
		for _, m := range w.Messages {
			for _, r := range adktest.Results(m) {
				if path := pathOf.FindString(r.Args); path != "" && strings.Contains(r.Args, "persisted-output") {
					files = append(files, path)
				}
			}
		}
	}
	has := func(tool string) bool { return slices.Contains(w.ToolNames, tool) }
	isSearch := a.kind == actSearch || a.kind == actLoad
	switch hasFile := a.file < len(files); {
	case (a.kind == actHidden || a.kind == actDirect) && c.settings.loadsBySearch && !has(name):
		return c.call(action{kind: actLoad, id: a.id, tool: a.tool}, w)
	case isSearch && !has("tool_search") && !has("search_tools"):
		name = "shell" // all tools are shown: there is nothing to search
	case a.kind == actHidden && protocol == toolsearch.SearchCall && !has(name) && has("call_tool"):
		name, args = "call_tool", map[string]any{"name": name, "arguments": args}
	case a.kind == actSearch && protocol == toolsearch.Regexp:
		name, args = "tool_search", map[string]any{"regex_pattern": strings.Fields(a.tool)[0]}
	case a.kind == actSearch && protocol == toolsearch.SearchLoad:
		name, args = "search_tools", map[string]any{"query": a.tool}
	case a.kind == actSearch:
		name, args = "tool_search", map[string]any{"query": a.tool}
	case a.kind == actLoad && protocol == toolsearch.Regexp:
		name, args = "tool_search", map[string]any{"regex_pattern": a.tool}
	case a.kind == actLoad && protocol == toolsearch.SearchLoad:
		name, args = "load_tool", map[string]any{"tool_name": a.tool}
	case a.kind == actLoad:
		name, args = "tool_search", map[string]any{"query": "select:" + a.tool}
	case a.kind == actRead && hasFile && has("read_file"):
		name, args = "read_file", map[string]any{"file_path": files[len(files)-1-a.file], "offset": a.offset, "limit": 20}
	case a.kind == actPass && hasFile:
		args["content"] = files[len(files)-1-a.file]
	}
	return adktest.ToolCall{ID: a.id, Name: name, Args: arguments(args)}
}

// addsContext adds a message to each history that lacks it.
type addsContext[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (*addsContext[M]) BeforeModelRewriteState(
	ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M],
) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if slices.ContainsFunc(s.Messages, func(m M) bool { return adktest.Extra(m)["_context"] != nil }) {
		return ctx, s, nil
	}
	at := 0
	if len(s.Messages) > 0 && adktest.Role(s.Messages[0]) == "system" {
		at = 1
	}
	next := *s
	added := adktest.WithExtra(adktest.User[M]("The user works in Berlin."), map[string]any{"_context": true})
	next.Messages = slices.Insert(slices.Clone(s.Messages), at, added)
	return ctx, &next, nil
}

const addedLine = "\n(checked)"

// addsLine adds a line to what the agent's own tools return, if that is a string.
type addsLine[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (*addsLine[M]) WrapInvokableToolCall(
	_ context.Context, next adk.InvokableToolCallEndpoint, call *adk.ToolContext,
) (adk.InvokableToolCallEndpoint, error) {
	if !slices.Contains(ownNames, call.Name) {
		return next, nil
	}
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		text, err := next(ctx, args, opts...)
		if err == nil {
			text += addedLine
		}
		return text, err
	}, nil
}

// notesState hands the messages of the agent's state on, after each model call.
type notesState[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	note func(msgs []M)
}

func (n *notesState[M]) AfterModelRewriteState(
	ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M],
) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	n.note(slices.Clone(s.Messages))
	return ctx, s, nil
}

// check checks the requests of a conversation.
func (c *chat[M]) check() error {
	for i := range c.requests {
		if i > 0 {
			if err := c.checkContinues(&c.requests[i-1], &c.requests[i]); err != nil {
				return fmt.Errorf("request %d: %w", i, err)
			}
		}
	}
	return c.checkNothingLost()
}

// checkContinues checks that a request has the beginning of the one before it: the same tools, the same system message,
// the same messages. There are these exceptions:
//
//   - Protocols that load tools change the list of tools when the model has loaded one, or with Prefetch when the user
//     asks for one. UnloadAfter and MaxToolsPerRequest remove some, and one that is loaded again may be in another place
//     in the next turn.
//   - If the request has reached the threshold, results and arguments in it that were not cleared before may be.
func (c *chat[M]) checkContinues(before, next *sentRequest[M]) error {
	mayLoad := c.settings.search.Protocol != toolsearch.SearchCall && (!next.beginsTurn || c.settings.loadsByRequest)
	if !mayLoad && !slices.Equal(before.tools, next.tools) {
		return fmt.Errorf("the tools are others:\n%q\n%q", before.names, next.names)
	}
	if len(next.json) < len(before.json) {
		return errors.New("messages are missing")
	}
	first := -1
	for i := range before.json {
		if before.json[i] == next.json[i] {
			continue
		}
		if err := checkCleared(before.messages[i], next.messages[i]); err != nil {
			return fmt.Errorf("message %d: %w: %s", i, err, difference(before.json[i], next.json[i]))
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	if size, threshold := c.uncleared(before, next), c.threshold(next); size < threshold {
		return fmt.Errorf("message %d was cleared in a request of %d tokens, below the threshold of %d", first, size, threshold)
	}
	return nil
}

// checkCleared checks that a message differs from what it was in that results or arguments were cleared.
func checkCleared[M adk.MessageType](was, is M) error {
	calls, oldCalls := adktest.Calls(is), adktest.Calls(was)
	results, oldResults := adktest.Results(is), adktest.Results(was)
	if adktest.Role(was) != adktest.Role(is) || len(calls) != len(oldCalls) || len(results) != len(oldResults) {
		return errors.New("it is another message")
	}
	if len(results) == 0 && (len(calls) == 0 || adktest.Text(was) != adktest.Text(is)) {
		return errors.New("its text has changed")
	}
	for i, now := range calls {
		old := oldCalls[i]
		if now.ID != old.ID || now.Name != old.Name || now.Args != old.Args && !strings.Contains(now.Args, "/clear/") {
			return errors.New("a call has changed")
		}
	}
	for i, now := range results {
		old := oldResults[i]
		switch {
		case now.ID != old.ID || now.Name != old.Name:
			return errors.New("a result is another's")
		case now.Args == old.Args:
		case isClearNotice(old.Args):
			return errors.New("a cleared result has changed")
		case !strings.Contains(now.Args, "<persisted-output>"):
			return errors.New("a result has changed, and was not cleared")
		}
	}
	return nil
}

// isClearNotice reports whether a text stands in place of a cleared result.
func isClearNotice(text string) bool {
	return strings.HasPrefix(text, "<persisted-output>Old ")
}

// uncleared is the size of a request before anything in it was cleared that the request before had.
func (c *chat[M]) uncleared(before, next *sentRequest[M]) int64 {
	size := next.toolSize
	for i := range next.json {
		switch {
		case i < len(before.json):
			size += before.messageSizes[i]
		default:
			size += next.messageSizes[i]
			if c.settings.reduce.WindowTokens > 0 { // which may have shortened results before anybody saw them
				for _, r := range adktest.Results(next.messages[i]) {
					for _, original := range c.originals[r.ID] {
						size += int64(tokens.Of(original))
					}
				}
			}
		}
	}
	if c.settings.reduce.TokenCounter == nil { // ours is an estimate of the estimate, which counts whole definitions
		size -= next.toolSize
		for _, definition := range next.tools {
			size += int64(tokens.Of(definition))
		}
		size = int64(1.3 * max(1, c.plan.ratio) * float64(size))
	}
	return size
}

// threshold is the size from which on a request may be shorter.
func (c *chat[M]) threshold(r *sentRequest[M]) int64 {
	cfg := &c.settings.reduce
	threshold := cfg.MaxTokensForClear
	switch start := cfg.MaxTokensAtTurnStart; {
	case start == 0:
	case r.beginsTurn:
		threshold = start
	}
	if cfg.WindowTokens > 0 {
		threshold = min(threshold, cfg.WindowTokens)
	}
	return threshold
}

// checkNothingLost checks that notices lead to what tools have returned, and references to what arguments were.
func (c *chat[M]) checkNothingLost() error {
	known := map[string]bool{}
	check := func(id, text string, originals []string) error {
		path := pathOf.FindString(text)
		if path == "" || !c.plan.isOwn[id] || len(originals) == 0 || known[id+text] {
			return nil
		}
		known[id+text] = true
		got, err := c.store.Read(context.Background(), &einofiles.ReadRequest{FilePath: path})
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if !slices.ContainsFunc(originals, func(s string) bool { return isSameContent(s, got.Content) }) {
			return fmt.Errorf("%s: %s is %.200q, and the call had %.400q", id, path, got.Content, originals)
		}
		return nil
	}
	for _, r := range c.requests {
		for _, m := range r.messages {
			for _, result := range adktest.Results(m) {
				if strings.Contains(result.Args, "<persisted-output>") {
					if err := check(result.ID, result.Args, c.originals[result.ID]); err != nil {
						return err
					}
				}
			}
			for _, call := range adktest.Calls(m) {
				if strings.Contains(call.Args, "persisted-output") {
					if err := check(call.ID, call.Args, c.arguments[call.ID]); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// isSameContent reports whether stored content is what a tool has returned or what an argument was, perhaps as JSON.
func isSameContent(original, stored string) bool {
	stored = strings.TrimSuffix(stored, addedLine)
	if original == stored {
		return true
	}
	var text string
	if json.Unmarshal([]byte(stored), &text) == nil && text == original {
		return true
	}
	var one, other any
	isJSON := json.Unmarshal([]byte(original), &one) == nil && json.Unmarshal([]byte(stored), &other) == nil
	return isJSON && arguments(one) == arguments(other)
}

// difference shows where two texts begin to differ.
func difference(one, other string) string {
	at := 0
	for at < len(one) && at < len(other) && one[at] == other[at] {
		at++
	}
	from := max(0, at-200)
	return fmt.Sprintf("at byte %d\n%.500s\n%.500s", at, one[from:], other[from:])
}

// sortTools sorts the tools of each request.
func (c *chat[M]) sortTools() {
	for i := range c.requests {
		slices.Sort(c.requests[i].tools)
	}
}

// checkSameRequests checks that two applications have sent the same.
func checkSameRequests[M adk.MessageType](a, b *chat[M]) error {
	for i := range min(len(a.requests), len(b.requests)) {
		one, other := &a.requests[i], &b.requests[i]
		if !slices.Equal(one.tools, other.tools) {
			return fmt.Errorf("request %d: the tools are others:\n%q\n%q", i, one.names, other.names)
		}
		for n := range min(len(one.json), len(other.json)) {
			if one.json[n] != other.json[n] {
				return fmt.Errorf("request %d, message %d: %s", i, n, difference(one.json[n], other.json[n]))
			}
		}
		if len(one.json) != len(other.json) {
			return fmt.Errorf("request %d has %d messages, and %d", i, len(one.json), len(other.json))
		}
	}
	if len(a.requests) != len(b.requests) {
		return errors.New("one has more requests")
	}
	return nil
}

// Over random conversations:
//
//   - A request continues the one before it, also at the start of a turn. [chat.checkContinues] lists the exceptions.
//   - An application that stores events and one that stores edited messages send the same requests. There is one
//     exception: of the tools of earlier requests, only those are known that a search has loaded. A size that counts
//     others may differ.
//   - The order of the two middlewares changes nothing but the order of tools. If only hidden tools return parts, the
//     read tool does so behind toolsearch alone, which has shown their forms.
//   - Nothing is cleared before what is sent reaches the threshold, and what was cleared stays cleared.
//   - Notices lead to what tools returned.
//
// EINOLEAN_SEED repeats a run, and EINOLEAN_CONVERSATIONS sets how many conversations there are.
func TestBothMiddlewares_InvariantsOverRandomConversations(t *testing.T) {
	adktest.EachType(t, testInvariants[message], testInvariants[agenticMessage])
}

func testInvariants[M adk.MessageType](t *testing.T) {
	start, cleared := seedForTest(t), 0
	for n := range chatsPerTest() {
		seed := start + n
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			plan := planChat(r)
			settings := randomChatSettings[M](r, &plan)
			a, b := newChat(t, &plan, settings, false), newChat(t, &plan, settings, true)
			for range plan.turns {
				a.play()
				b.play()
			}
			require.NoError(t, b.check(), "edited messages")
			require.NoError(t, a.check(), "events")
			require.NoError(t, checkSameRequests(a, b))

			if settings.forms[0] == settings.forms[1] {
				settings.isReduceFirst = !settings.isReduceFirst
				other := newChat(t, &plan, settings, true)
				for range plan.turns {
					other.play()
				}
				b.sortTools()
				other.sortTools()
				require.NoError(t, checkSameRequests(b, other), "the other order")
			}
			for _, request := range a.requests {
				cleared += strings.Count(strings.Join(request.json, "\n"), "/tmp/clear/")
			}
		})
		if !ok {
			return
		}
	}
	if chatsPerTest() > 30 {
		require.NotZero(t, cleared)
	}
}

// The checks notice a conversation that breaks one rule.
func TestBothMiddlewares_BrokenInvariantsShow(t *testing.T) {
	for name, c := range map[string]struct {
		last  func(*chat[message]) // before the last turn
		after func(*chat[message]) // after it
		sent  bool                 // another application's requests differ
	}{
		"the last turn has another threshold": {sent: true, last: func(c *chat[message]) {
			c.settings.reduce.MaxTokensForClear *= 2
		}},
		"the last turn has another list of names": {last: func(c *chat[message]) { c.settings.search.CatalogLimit = 7 }},
		"the last turn has another system message": {last: func(c *chat[message]) {
			c.settings.instruction = "You are another agent."
		}},
		"the last turn has another handler": {last: func(c *chat[message]) {
			c.settings.addsMessage = !c.settings.addsMessage
		}},
		"the last turn has other tools": {last: func(c *chat[message]) { c.settings.reduce.ProvideReadTool = false }},
		"results are cleared too early": {after: func(c *chat[message]) {
			c.settings.reduce.MaxTokensForClear *= 3
			c.settings.reduce.MaxTokensAtTurnStart *= 3
			c.settings.reduce.WindowTokens *= 3
		}},
		"a cleared result returns": {after: func(c *chat[message]) {
			last := c.requests[len(c.requests)-1]
			last.messages, last.json = slices.Clone(last.messages), slices.Clone(last.json)
			for _, r := range c.requests {
				for i := range r.json {
					if isClearNotice(adktest.Text(last.messages[i])) {
						last.messages[i], last.json[i] = r.messages[i], r.json[i]
					}
				}
			}
			c.requests = append(c.requests, last)
		}},
		"originals are lost": {after: func(c *chat[message]) { c.store = store.NewMemory(0) }},
	} {
		start, isNoticed := seedForTest(t), false
		for n := uint64(0); !isNoticed; n++ {
			require.Less(t, n, uint64(200), "%s: nobody notices", name)
			r := rand.New(rand.NewPCG(start+n, 1))
			plan := planChat(r)
			settings := randomChatSettings[message](r, &plan)
			settings.isReduceFirst = false
			one, two := newChat(t, &plan, settings, false), newChat(t, &plan, settings, false)
			for i := range plan.turns {
				if i == len(plan.turns)-1 && c.last != nil {
					two.settings.oneMiddleware = false
					c.last(two)
				}
				two.play()
				if c.sent {
					one.play()
				}
			}
			if c.after != nil {
				c.after(two)
			}
			if isNoticed = two.check() != nil; c.sent {
				isNoticed = checkSameRequests(one, two) != nil
			}
		}
	}
}

// chatsPerTest is how many conversations a test invents: EINOLEAN_CONVERSATIONS, or 60.
func chatsPerTest() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_CONVERSATIONS"), 10, 64); err == nil {
		return n
	}
	return uint64(race.Cases(60))
}

// seedForTest is where the seeds of a property test start: EINOLEAN_SEED repeats one.
func seedForTest(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	return seed
}
