// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Random conversations with call_tool: the model sees what it wrote, everybody else the tools that run.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// EINOLEAN_SEED repeats a run, and EINOLEAN_CONVERSATIONS sets how many conversations there are.
func TestCallTool_RandomConversations(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 60
	}
	if s := os.Getenv("EINOLEAN_CONVERSATIONS"); s != "" {
		var err error
		n, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	seeds := newRand(t)
	for i := range n {
		seed := seeds.Uint64()
		ok := t.Run(strconv.Itoa(i), func(t *testing.T) {
			if i%2 == 0 {
				testConversation[*schema.Message](t, rand.New(rand.NewPCG(seed, 0)))
			} else {
				testConversation[*schema.AgenticMessage](t, rand.New(rand.NewPCG(seed, 0)))
			}
		})
		if !ok {
			return
		}
	}
}

// randomDialog is a random conversation, over several runs of new agents.
type randomDialog[M adk.MessageType] struct {
	t         *testing.T
	r         *rand.Rand
	streaming bool
	before    bool // the recorder stands before toolsearch
	given     []givenAnswer
	history   []M // with true names
	older     []M // the same, as a version before true names stored it; nil if that is ambiguous
	ran       []ranCall
	wrapped   []string
	mu        sync.Mutex
}

// givenAnswer is an answer of the model, as it wrote it.
type givenAnswer struct {
	calls  []adktest.ToolCall
	isLost bool               // Extra of the message was dropped in a store
	shown  []adktest.ToolCall // after Extra was lost: as the first request showed them
}

type ranCall struct{ id, name string }

func testConversation[M adk.MessageType](t *testing.T, r *rand.Rand) {
	c := &randomDialog[M]{t: t, r: r, streaming: chance(r, 50), before: chance(r, 50), older: []M{}}
	for n := range 1 + r.IntN(3) {
		c.ask(fmt.Sprintf("Question %d.", n))
		c.store()
	}
	c.compareHistories()
}

// ask runs a new agent on the history and a new message.
func (c *randomDialog[M]) ask(text string) {
	user := adktest.User[M](text)
	c.history, c.older = append(c.history, user), appendKnown(c.older, user)
	m := &writingModel[M]{r: rand.New(rand.NewPCG(c.r.Uint64(), 0)), isAgentic: isAgentic[M]()}
	for range 1 + c.r.IntN(3) {
		m.turns = append(m.turns, randomAnswer(c.r))
	}
	first, isSequential := len(c.given), chance(c.r, 50)
	c.ran, c.wrapped = nil, nil
	agent := c.agent(m, isSequential)
	out := agent.Run(c.t.Context(), slices.Clone(c.history))
	require.NoError(c.t, out.Err)
	require.Equal(c.t, "done", out.Answer())
	for _, t := range m.turns {
		c.given = append(c.given, givenAnswer{calls: t.Calls})
	}
	for i, q := range m.requests {
		c.checkRequest(i, q, first+i)
	}
	c.checkEvents(out.Messages, m.turns)
	c.history = append(c.history, out.Messages...)
	older, ok := olderForm(out.Messages, m.turns)
	if c.older != nil && isSequential && ok {
		c.older = append(c.older, older...)
	} else {
		c.older = nil
	}
}

func appendKnown[M any](list []M, m M) []M {
	if list == nil {
		return nil
	}
	return append(list, m)
}

func isAgentic[M adk.MessageType]() bool {
	_, ok := any(*new(M)).(*schema.AgenticMessage)
	return ok
}

// agent is an agent whose tools and handlers write down the calls.
func (c *randomDialog[M]) agent(m *writingModel[M], isSequential bool) adktest.Agent[M] {
	s := newScene[M](c.t, c.streaming, toolsearch.SearchCall)
	s.cfg.DynamicTools, s.mine = c.hiddenTools(), []tool.BaseTool{c.tool(adktest.Invokable, "calculator", `{"type":"object"}`)}
	recorder := adktest.Handlers[M](&toolCallRecorder[M]{name: func(name string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wrapped = append(c.wrapped, name)
	}})
	if c.before {
		s.around = recorder
	} else {
		s.behind = recorder
	}
	agent, _ := s.agent()
	agent.Configure = func(cfg *adk.TypedChatModelAgentConfig[M]) {
		cfg.Model = m
		cfg.ToolsConfig.ExecuteSequentially = isSequential
	}
	return agent
}

// conversationTools are the hidden tools, with their parameters.
var conversationTools = []struct {
	name, params string
	form         adktest.Form
}{
	{"weather__get_forecast", `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`, adktest.Invokable},
	{"files__write", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`, adktest.Streamable},
	{"files__list", `{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer"}}}`, adktest.Invokable},
	{"shot__take", `{"type":"object"}`, adktest.Enhanced},
	{"forms__fill", `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"},"input":{"type":"string"}}}`, adktest.EnhancedStreamable},
}

func (c *randomDialog[M]) hiddenTools() (list []tool.BaseTool) {
	for _, x := range conversationTools {
		list = append(list, c.tool(x.form, x.name, x.params))
	}
	return list
}

func (c *randomDialog[M]) tool(form adktest.Form, name, params string) tool.BaseTool {
	info, err := withSchema(c.t, params).Info(context.Background())
	require.NoError(c.t, err)
	named := *info
	named.Name = name
	return adktest.Tool(form, &named, func(ctx context.Context, args string) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ran = append(c.ran, ranCall{compose.GetToolCallID(ctx), name})
		return "RAN " + name + " with " + args, nil
	})
}

// checkRequest checks what a request shows of the answers before it.
func (c *randomDialog[M]) checkRequest(n int, q adktest.Wire[M], answers int) {
	t, at := c.t, 0
	var calls []adktest.ToolCall
	for _, m := range q.Messages {
		require.NotContains(t, fmt.Sprint(adktest.Extra(m)), "__einolean_toolsearch_calls__")
		if results := adktest.Results(m); len(results) > 0 {
			calls = requireSameNames(t, calls, results)
		}
		now := adktest.Calls(m)
		if len(now) == 0 {
			continue
		}
		require.Less(t, at, answers, "request %d", n)
		c.checkAnswer(&c.given[at], now)
		calls, at = now, at+1
	}
	require.Equal(t, answers, at, "request %d shows all answers", n)
}

// checkAnswer checks how a request shows an answer.
func (c *randomDialog[M]) checkAnswer(a *givenAnswer, now []adktest.ToolCall) {
	t := c.t
	require.Len(t, now, len(a.calls))
	for i, wrote := range a.calls {
		require.Equal(t, wrote.ID, now[i].ID)
		switch {
		case wrote.Name != "call_tool":
		case !a.isLost:
			require.Equal(t, wrote, now[i], "of %v", a.calls)
		case now[i].Name == "call_tool":
			require.True(t, now[i].Args == wrote.Args || json.Valid([]byte(now[i].Args)))
		default:
			require.Contains(t, []string{"own", "calculator", "tool_search"}, now[i].Name)
		}
	}
	if a.isLost && a.shown != nil {
		require.Equal(t, a.shown, now, "it is shown the same each time")
	}
	if a.isLost {
		a.shown = now
	}
}

// requireSameNames checks that each result has the name of its call, and returns the calls without results.
func requireSameNames(t *testing.T, calls, results []adktest.ToolCall) []adktest.ToolCall {
	calls = slices.Clone(calls)
	for _, r := range results {
		at := slices.IndexFunc(calls, func(c adktest.ToolCall) bool { return c.ID == r.ID && c.Name == r.Name })
		require.GreaterOrEqual(t, at, 0, "a result of %s %s for the calls %v", r.ID, r.Name, calls)
		calls = slices.Delete(calls, at, at+1)
	}
	return calls
}

// checkEvents checks that events, wrappers and tools agree on each call.
func (c *randomDialog[M]) checkEvents(msgs []M, turns []adktest.Turn) {
	t := c.t
	var names, ran []string
	answers, hasEmptyIDs := 0, false
	var calls []adktest.ToolCall
	for _, m := range msgs {
		if now := adktest.Calls(m); len(now) > 0 {
			require.Len(t, now, len(turns[answers].Calls))
			calls, answers = now, answers+1
			for _, x := range now {
				names = append(names, x.Name)
				hasEmptyIDs = hasEmptyIDs || x.ID == ""
			}
		}
		if results := adktest.Results(m); len(results) > 0 {
			calls = requireSameNames(t, calls, results)
			for _, r := range results {
				if rest, ok := strings.CutPrefix(r.Args, "RAN "); ok {
					require.True(t, strings.HasPrefix(rest, r.Name+" with "), "%s: %s", r.Name, r.Args)
					ran = append(ran, r.Name)
				}
			}
		}
	}
	require.Equal(t, len(turns), answers)
	slices.Sort(names)
	slices.Sort(c.wrapped)
	require.Equal(t, names, c.wrapped, "each call is counted once, under one name")
	if !hasEmptyIDs {
		var byTools []string
		for _, x := range c.ran {
			byTools = append(byTools, x.name)
		}
		slices.Sort(ran)
		slices.Sort(byTools)
		require.Equal(t, byTools, ran)
	}
}

// store drops Extra of some messages, and puts the history through JSON.
func (c *randomDialog[M]) store() {
	answer := 0
	for i, m := range c.history {
		if len(adktest.Calls(m)) == 0 {
			continue
		}
		if chance(c.r, 25) && !c.given[answer].isLost {
			c.history[i], c.given[answer].isLost = adktest.WithExtra(m, nil), true
		}
		answer++
	}
	if chance(c.r, 50) {
		for i, m := range c.history {
			text, err := json.Marshal(m)
			require.NoError(c.t, err)
			c.history[i] = *new(M)
			require.NoError(c.t, json.Unmarshal(text, &c.history[i]))
		}
	}
}

// compareHistories checks that the next request is the same for a history that an older version stored.
func (c *randomDialog[M]) compareHistories() {
	if c.older == nil || slices.ContainsFunc(c.given, func(a givenAnswer) bool { return a.isLost }) {
		return
	}
	next := func(history []M) []string {
		m := &writingModel[M]{r: rand.New(rand.NewPCG(1, 0)), isAgentic: isAgentic[M]()}
		out := c.agent(m, true).Run(c.t.Context(), append(slices.Clone(history), adktest.User[M]("And now?")))
		require.NoError(c.t, out.Err)
		return m.requests[0].MessagesDump
	}
	require.Equal(c.t, next(c.older), next(c.history))
}

// olderForm returns messages as a version stored them that did not rename calls of call_tool; false if it had none, as its
// runs ended at names that are nearly right.
func olderForm[M adk.MessageType](msgs []M, turns []adktest.Turn) (older []M, ok bool) {
	answers := 0
	type pair struct{ now, wrote adktest.ToolCall }
	var open []pair
	for _, m := range msgs {
		calls, results := adktest.Calls(m), adktest.Results(m)
		switch {
		case len(calls) > 0:
			open = nil
			written := slices.Clone(calls)
			for i, wrote := range turns[answers].Calls {
				if wrote.Name == "call_tool" {
					written[i] = wrote
				} else if wrote.Name != calls[i].Name {
					return nil, false
				}
				open = append(open, pair{calls[i], written[i]})
			}
			older = append(older, withCalls(m, written))
			answers++
		case len(results) > 0:
			at := slices.IndexFunc(open, func(p pair) bool { return p.now.ID == results[0].ID && p.now.Name == results[0].Name })
			older = append(older, withResultName(m, open[at].wrote.Name))
			open = slices.Delete(open, at, at+1)
		default:
			older = append(older, m)
		}
	}
	return older, true
}

// withCalls returns an answer with other calls, and without our record of them.
func withCalls[M adk.MessageType](m M, calls []adktest.ToolCall) M {
	extra := maps.Clone(adktest.Extra(m))
	delete(extra, "__einolean_toolsearch_calls__")
	next := adktest.WithExtra(m, extra)
	switch m := any(next).(type) {
	case *schema.Message:
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i, c := range calls {
			m.ToolCalls[i].Function = schema.FunctionCall{Name: c.Name, Arguments: c.Args}
		}
	case *schema.AgenticMessage:
		m.ContentBlocks = slices.Clone(m.ContentBlocks)
		n := 0
		for i, b := range m.ContentBlocks {
			if b.FunctionToolCall != nil {
				block := *b
				block.FunctionToolCall = &schema.FunctionToolCall{CallID: calls[n].ID, Name: calls[n].Name, Arguments: calls[n].Args}
				m.ContentBlocks[i] = &block
				n++
			}
		}
	}
	return next
}

// withResultName returns a result that bears another name.
func withResultName[M adk.MessageType](m M, name string) M {
	next := adktest.WithExtra(m, adktest.Extra(m))
	switch m := any(next).(type) {
	case *schema.Message:
		m.ToolName = name
	case *schema.AgenticMessage:
		m.ContentBlocks = slices.Clone(m.ContentBlocks)
		for i, b := range m.ContentBlocks {
			if b.FunctionToolResult != nil {
				block, result := *b, *b.FunctionToolResult
				result.Name = name
				block.FunctionToolResult = &result
				m.ContentBlocks[i] = &block
			}
		}
	}
	return next
}

// writingModel answers with the turns, and then "done". It streams calls in pieces that take turns.
type writingModel[M adk.MessageType] struct {
	r         *rand.Rand
	isAgentic bool
	turns     []adktest.Turn
	requests  []adktest.Wire[M]
}

func (w *writingModel[M]) next(input []M) adktest.Turn {
	q := adktest.Wire[M]{Messages: slices.Clone(input)}
	for _, m := range input {
		q.MessagesDump = append(q.MessagesDump, adktest.Dump(m))
	}
	n := len(w.requests)
	w.requests = append(w.requests, q)
	if n < len(w.turns) {
		return w.turns[n]
	}
	return adktest.Say("done")
}

func (w *writingModel[M]) Generate(_ context.Context, input []M, _ ...model.Option) (M, error) {
	return adktest.Whole[M](w.next(input))
}

func (w *writingModel[M]) Stream(_ context.Context, input []M, _ ...model.Option) (*schema.StreamReader[M], error) {
	turn := w.next(input)
	if len(turn.Calls) == 0 || chance(w.r, 20) {
		return adktest.InChunks[M](turn)
	}
	var chunks []M
	if turn.Text != "" {
		chunks = append(chunks, w.text(turn.Text))
	}
	queues, heads := make([][]M, len(turn.Calls)), make([]M, len(turn.Calls))
	for i, c := range turn.Calls {
		head, rest := c, c.Args
		head.Args = ""
		heads[i] = w.piece(i, head)
		for rest != "" {
			n := 1 + w.r.IntN(len(rest))
			queues[i] = append(queues[i], w.piece(i, adktest.ToolCall{Args: rest[:n]}))
			rest = rest[n:]
		}
	}
	if chance(w.r, 30) && !slices.ContainsFunc(turn.Calls, hasTrailingText) {
		chunks = append(chunks, heads...)
		for queues = dropEmpty(queues); len(queues) > 0; queues = dropEmpty(queues) {
			i := w.r.IntN(len(queues))
			chunks, queues[i] = append(chunks, queues[i][0]), queues[i][1:]
		}
	} else {
		for i := range queues {
			chunks = append(append(chunks, heads[i]), queues[i]...)
		}
	}
	if m, ok := any(w.text("")).(*schema.Message); ok && chance(w.r, 50) {
		m.ResponseMeta = &schema.ResponseMeta{FinishReason: "tool_calls"}
		chunks = append(chunks, any(m).(M))
	}
	return schema.StreamReaderFromArray(chunks), nil
}

func dropEmpty[T any](queues [][]T) [][]T {
	return slices.DeleteFunc(queues, func(q []T) bool { return len(q) == 0 })
}

// hasTrailingText reports whether text follows the arguments of a call. The stream of such a call takes no turns with
// others: once another call follows, a whole one counts as complete.
func hasTrailingText(c adktest.ToolCall) bool {
	var value json.RawMessage
	d := json.NewDecoder(strings.NewReader(c.Args))
	return d.Decode(&value) == nil && d.InputOffset() < int64(len(c.Args))
}

func (w *writingModel[M]) text(text string) M {
	m := adktest.Assistant[M](text)
	if a, ok := any(m).(*schema.AgenticMessage); ok {
		a.ContentBlocks[0].StreamingMeta = &schema.StreamingMeta{Index: 0}
	}
	return m
}

func (w *writingModel[M]) piece(i int, c adktest.ToolCall) M {
	m := adktest.Assistant[M]("", c)
	switch m := any(m).(type) {
	case *schema.Message:
		m.ToolCalls[0].Index = &i
	case *schema.AgenticMessage:
		m.ContentBlocks[0].StreamingMeta = &schema.StreamingMeta{Index: i + 1}
	}
	return m
}

// randomAnswer is an answer with calls, whose ids may repeat or be missing.
func randomAnswer(r *rand.Rand) adktest.Turn {
	var t adktest.Turn
	if chance(r, 30) {
		t.Text = "Let me see."
	}
	ids := r.IntN(10)
	for i := range 1 + r.IntN(4) {
		id := fmt.Sprintf("call_%d_%d", r.IntN(1000), i)
		switch ids {
		case 0:
			id = ""
		case 1:
			id = "same"
		case 2:
			id = fmt.Sprintf("c%d", i) // again in each answer
		}
		t.Calls = append(t.Calls, randomCall(r, id))
	}
	return t
}

func randomCall(r *rand.Rand, id string) adktest.ToolCall {
	switch n := r.IntN(10); {
	case n < 7:
		return adktest.ToolCall{ID: id, Name: "call_tool", Args: randomEnvelope(r)}
	case n == 7:
		return adktest.ToolCall{ID: directID(r), Name: randomName(r), Args: randomArguments(r)}
	case n == 8:
		return adktest.ToolCall{ID: id, Name: "tool_search", Args: `{"query":"` + pick(r, []string{"files", "select:shot__take", "weather"}) + `"}`}
	}
	return adktest.ToolCall{ID: directID(r), Name: pick(r, []string{"own", "calculator"}), Args: `{"value":"x"}`}
}

// directID is the id of a direct call. No call of call_tool has it: of equal calls with equal ids, it is not known which
// one came through call_tool.
func directID(r *rand.Rand) string { return fmt.Sprintf("direct_%d", r.IntN(1_000_000)) }

// randomName is the name of a tool, in one of the ways in which models write it.
func randomName(r *rand.Rand) string {
	name := pick(r, conversationTools).name
	switch r.IntN(12) {
	case 0:
		return strings.ReplaceAll(name, "_", "-")
	case 1:
		return strings.ReplaceAll(name, "__", ".")
	case 2:
		return strings.ToUpper(name)
	case 3:
		return pick(r, []string{"functions.", "default_api.", "tools."}) + name
	case 4:
		return name[:len(name)-1]
	case 5:
		return pick(r, []string{"own", "calculator", "tool_search", "Calculator", "nothing", "<|x|>"})
	}
	return name
}

func randomArguments(r *rand.Rand) string {
	return pick(r, []string{
		`{"city":"Oslo"}`, `{"days":2, "city":"Oslo","x":12345678901234567890}`, `{"path":"/srv","content":"\u00e9 <b> \"q\"\n"}`, `{ "path" : "/srv" }`,
		`{}`, `{"path":"/srv","depth":2}`, `{"city":null}`, `{"name":"Ada","arguments":{"a":[1,{"b":null}]}}`, `{"arguments":{"city":"Oslo"}}`,
		`{"input":"é"}`, `{"path":"/a","path":"/b","content":"{\"x\":1}"}`, `{"city":"}{"}`, `{"value":"x"}`,
	})
}

// randomEnvelope is the arguments of call_tool, in one of the ways in which models write them.
func randomEnvelope(r *rand.Rand) string {
	name, args := randomName(r), randomArguments(r)
	nameKey, argsKey := pick(r, []string{"name", "name", "Name", "tool_name", "tool"}), pick(r, []string{"arguments", "arguments", "Parameters", "args", "tool_input"})
	if chance(r, 20) {
		args = asText(args)
	}
	space := pick(r, []string{"", "", " ", "\n  "})
	members := []string{asText(nameKey) + space + ":" + asText(name), asText(argsKey) + ":" + space + args}
	switch r.IntN(20) {
	case 0:
		slices.Reverse(members)
	case 1:
		members = members[:1]
	case 2:
		members = members[1:]
	case 3:
		members = append(members, `"name":"files__list"`)
	case 4:
		members = append(members, `"arguments":{"path":"/other"}`)
	case 5:
		members = append(members, `"path":"/beside"`)
	case 6:
		members = []string{members[0], `"path":"/beside"`}
	case 7:
		members = []string{`"name":"call_tool"`, `"arguments":{` + strings.Join(members, ",") + `}`}
	case 8:
		members[0] = `"name":["files__list","shot__take"]`
	case 9:
		members[0] = strings.Replace(members[0], "e", `\u0065`, 1)
	}
	text := "{" + space + strings.Join(members, space+","+space) + space + "}"
	switch r.IntN(24) {
	case 0:
		return strings.ToValidUTF8(text[:r.IntN(len(text))], "") // other bytes do not survive JSON
	case 1:
		return asText(text)
	case 2:
		return "[" + text + "]"
	case 3:
		return "[" + text + "," + text + "]"
	case 4:
		return text + text
	case 5:
		return strings.Replace(text, ":", "", 1)
	case 6:
		return pick(r, []string{"", "null", "files__list", "7", " ", "[]"})
	case 7:
		return text + "\n "
	}
	return text
}

func asText(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
