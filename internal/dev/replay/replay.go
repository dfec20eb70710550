// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package replay tells what a recorded conversation would have cost under a policy.
//
// A conversation is replayed message by message through the hooks of the middleware
// that makes the policy: each assistant message is a model call, each tool message
// what a tool returned. A call is billed with a prefix cache: leading messages that
// are those of the call before are read from the cache, everything else is written.
// Where the recorded agent quotes a result that nothing visible holds any more, it
// would have had to read it again: that is done and billed, as a call of its own.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/prices"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// Policy makes the handler that a conversation is replayed through.
type Policy struct {
	Name string
	New  NewHandler
}

// NewHandler returns the handler, nil for none. Each replay has its own store.
type NewHandler func(ctx context.Context, files *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error)

// Options say how to replay.
type Options struct {
	// Trigger is the number of tokens from which on policies clear. If zero, defaults
	// to 32,000.
	Trigger int64
	// ReadBacks is the share of cut results, from 0 to 1, that the agent reads back as
	// soon as it sees them. Which ones follows from their call ids.
	ReadBacks float64
}

const defaultTrigger = 32_000

// Bill is what a conversation costs.
type Bill struct {
	Calls   int   // model calls, the additional ones included
	Written int64 // prompt tokens that no cache held
	Cached  int64 // prompt tokens that were read from the cache
	Largest int64 // prompt tokens of the largest call

	Definitions int64 // of these tokens, those of tool definitions
	Lost        int   // results that were quoted when nothing visible held them
	ReadBacks   int   // results that were read back because they had been cut
	Edited      int   // results that were cut or replaced
	Unreadable  int   // of these, without a path that gives the tool's bytes
}

// Add adds another bill.
func (b *Bill) Add(o Bill) {
	b.Calls += o.Calls
	b.Written += o.Written
	b.Cached += o.Cached
	b.Largest = max(b.Largest, o.Largest)
	b.Definitions += o.Definitions
	b.Lost += o.Lost
	b.ReadBacks += o.ReadBacks
	b.Edited += o.Edited
	b.Unreadable += o.Unreadable
}

// Card holds the prices of a prompt token, written to a cache and read from it, relative to one
// of a request without a cache. Million is what a million of those cost, and Output a million
// tokens of answers, in dollars; 0 if that is not known.
type Card struct {
	Name    string  `json:"name"`
	Write   float64 `json:"write"`
	Cached  float64 `json:"cached"`
	Million float64 `json:"million,omitempty"`
	Output  float64 `json:"output,omitempty"`
}

// Cards are the prices of common providers: of one model each, and without a cache.
var Cards = []Card{
	priceCardFor("Anthropic", "claude-sonnet-4-5"),
	priceCardFor("OpenAI", "gpt-5"),
	priceCardFor("DeepSeek", "deepseek-flash"),
	priceCardFor("Qwen", "qwen3.7-max"),
	{Name: "uncached", Write: 1, Cached: 1},
}

func priceCardFor(name, model string) Card {
	p, _ := prices.Of(model) // a test finds a model that is missing
	return NewCard(name, p)
}

// NewCard is the card of prices.
func NewCard(name string, p prices.Price) Card {
	return Card{name, p.Write(), p.Hit(), p.Input, p.Output}
}

// CardOf is the card of a model; false if its prices are not known.
func CardOf(model string) (Card, bool) {
	_, ok := prices.Of(model)
	return priceCardFor(model, model), ok
}

// Cost is the price of a bill.
func (c Card) Cost(b Bill) float64 {
	return c.Write*float64(b.Written) + c.Cached*float64(b.Cached)
}

// Conversation is a recorded conversation that was looked through for quotations.
// It is safe for concurrent use.
type Conversation struct {
	msgs       []*schema.Message
	quotations map[int][]quotation // by assistant message
	calls      map[string]schema.ToolCall

	media map[string]bool // calls that returned images or files

	infos       []*schema.ToolInfo
	definitions [][]definition // by assistant message, none where there are no tools
}

// Read reads a conversation: a JSON array of messages.
func Read(data []byte) (*Conversation, error) {
	var msgs []*schema.Message
	if err := json.Unmarshal(data, &msgs); err != nil {
		return nil, fmt.Errorf("replay: a conversation is a JSON array of messages: %w", err)
	}
	return New(msgs), nil
}

// New looks through a conversation. The messages must not change afterwards. Calls
// without an id, and ids that repeat, get ids of their own in a copy.
func New(msgs []*schema.Message) *Conversation {
	msgs = withUniqueIDs(msgs)
	c := &Conversation{
		msgs: msgs, quotations: findQuotations(msgs),
		calls: make(map[string]schema.ToolCall), media: make(map[string]bool),
	}
	for _, m := range msgs {
		c.media[m.ToolCallID] = c.media[m.ToolCallID] || m.Role == schema.Tool && media(m) > 0
		for _, tc := range m.ToolCalls {
			c.calls[tc.ID] = tc
		}
	}
	return c
}

// withUniqueIDs gives each call an id of its own, and its result the same.
func withUniqueIDs(msgs []*schema.Message) (out []*schema.Message) {
	open, n := make(map[string][]string), 0
	for _, m := range msgs {
		if m == nil {
			continue
		}
		with := *m
		if len(m.ToolCalls) > 0 {
			with.ToolCalls = append([]schema.ToolCall(nil), m.ToolCalls...)
			clear(open)
			for i := range with.ToolCalls {
				id := with.ToolCalls[i].ID
				with.ToolCalls[i].ID = fmt.Sprintf("call_%d", n)
				open[id] = append(open[id], with.ToolCalls[i].ID)
				n++
			}
		}
		if ids := open[m.ToolCallID]; m.Role == schema.Tool && len(ids) > 0 {
			with.ToolCallID, open[m.ToolCallID] = ids[0], ids[1:]
		}
		out = append(out, &with)
	}
	return out
}

// Calls is how many model calls the conversation has.
func (c *Conversation) Calls() (n int) {
	for _, m := range c.msgs {
		if m.Role == schema.Assistant {
			n++
		}
	}
	return n
}

// Messages are those of the conversation, with the ids that a replay uses.
func (c *Conversation) Messages() []*schema.Message { return c.msgs }

// WithTools is the conversation with tools that every request lists.
func (c *Conversation) WithTools(infos []*schema.ToolInfo) *Conversation {
	with := *c
	with.infos, with.definitions = infos, nil
	all := definitionsOf(infos)
	for range c.Calls() {
		with.definitions = append(with.definitions, all)
	}
	return &with
}

// Tools are those that its requests list.
func (c *Conversation) Tools() []*schema.ToolInfo { return c.infos }

// Hide tells how the conversation would have gone with hidden tools: a recorded call of a tool
// that the model does not see is preceded by a search for the words of its name and, where that
// does not find it, by a call that the middleware answers with the tool's schema. Tools answer
// what they answered.
func (c *Conversation) Hide(ctx context.Context, h Hiding) (*Conversation, error) {
	if h.New == nil || len(c.infos) == 0 {
		return c, nil
	}
	r := hiddenToolsModel{conversation: c, attempts: map[string]int{}}
	hidden, other := r.tools()
	handler, err := h.New(ctx, hidden)
	if err != nil {
		return nil, fmt.Errorf("replay: %s: %w", h.Name, err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "replay", Description: "replays", Model: &r, Handlers: []adk.ChatModelAgentMiddleware{handler}, MaxIterations: 1 << 20,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: other}},
	})
	if err != nil {
		return nil, fmt.Errorf("replay: %s: %w", h.Name, err)
	}
	if err := r.runConversation(ctx, adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})); err != nil {
		return nil, fmt.Errorf("replay: %s: %w", h.Name, err)
	}
	out := New(r.withRecordedResults())
	out.infos, out.definitions = c.infos, r.definitions
	return out, nil
}

// Run replays the conversation.
func (c *Conversation) Run(ctx context.Context, p Policy, o Options) (Bill, error) {
	r, err := newReplay(ctx, c, p, o)
	if err != nil {
		return Bill{}, fmt.Errorf("replay: %s: %w", p.Name, err)
	}
	for i, m := range c.msgs {
		switch m.Role {
		case schema.Assistant:
			err = r.addAnswer(i, m)
		case schema.Tool:
			err = r.addResult(m)
		default:
			r.add(m)
		}
		if err != nil {
			return Bill{}, fmt.Errorf("replay: %s: message %d: %w", p.Name, i, err)
		}
	}
	r.checkEdited()
	return r.bill, nil
}

// replay is one conversation under one policy.
type replay struct {
	ctx          context.Context
	conversation *Conversation
	handler      adk.ChatModelAgentMiddleware
	store        *store.Memory
	reader       tool.InvokableTool
	options      Options

	state       *adk.ChatModelAgentState
	lastRequest []sentMessage              // the request before
	tools       []definition               // of the request before
	turn        int                        // assistant messages so far
	calls       map[string]schema.ToolCall // that the recorded agent did not make
	results     map[string]string          // what tools returned, by call
	paths       map[string]string          // where that is, by call
	resultIndex map[string]int             // at which message it came, by call
	compacted   map[string]string
	readBacks   []string // cut results to read back
	bill        Bill
}

// sentMessage is a message as it went out: a handler may change what it was handed.
type sentMessage struct {
	schema.Message
	tokens int64
	isSent bool
}

// readTool is the name under which results are read back.
const readTool = "read_file"

func newReplay(ctx context.Context, c *Conversation, p Policy, o Options) (*replay, error) {
	if o.Trigger == 0 {
		o.Trigger = defaultTrigger
	}
	r := &replay{
		ctx: ctx, conversation: c, store: store.NewMemory(1 << 40), options: o, state: &adk.ChatModelAgentState{},
		calls: make(map[string]schema.ToolCall), results: make(map[string]string), paths: make(map[string]string),
		resultIndex: make(map[string]int), compacted: make(map[string]string),
	}
	var err error
	if r.reader, err = reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: r.store}); err != nil {
		return nil, err
	}
	if r.handler, err = p.New(ctx, r.store, o.Trigger); err != nil || r.handler == nil {
		return r, err
	}
	r.ctx, err = einorun.Begin(ctx, r.handler, &einorun.RunContext{Tools: []tool.BaseTool{r.reader}})
	return r, err
}

// addAnswer is a model call: what the agent said next was its answer, once it had seen
// what it quotes.
func (r *replay) addAnswer(i int, m *schema.Message) error {
	defer func() { r.turn++ }()
	if err := r.request(); err != nil {
		return err
	}
	for _, id := range r.readBacks {
		r.bill.ReadBacks++
		if err := r.readBack(id, ""); err != nil {
			return err
		}
	}
	r.readBacks = nil
	for _, u := range r.conversation.quotations[i] {
		if r.isVisible(u) {
			continue
		}
		r.bill.Lost++
		if err := r.readBack(u.call, u.quote); err != nil {
			return err
		}
	}
	r.add(m)
	return nil
}

// add adds a copy of a message.
func (r *replay) add(m *schema.Message) {
	with := *m
	with.ToolCalls = append([]schema.ToolCall(nil), m.ToolCalls...)
	r.state.Messages = append(r.state.Messages, &with)
}

// addResult is what a tool returned.
func (r *replay) addResult(m *schema.Message) error {
	r.results[m.ToolCallID], r.resultIndex[m.ToolCallID] = textOf(m), len(r.state.Messages)
	got, err := r.wrapResult(m)
	if err != nil {
		return err
	}
	r.add(got)
	if short, ok := jsontext.Compact(m.Content); ok && got.Content == short {
		return nil
	}
	if got != m && isSampled(m.ToolCallID, m.Content, r.options.ReadBacks) {
		r.readBacks = append(r.readBacks, m.ToolCallID)
	}
	return nil
}

// isSampled draws a share of calls.
func isSampled(id, content string, share float64) bool {
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, id, len(content))
	return float64(h.Sum32()%1000) < share*1000
}

// wrapResult lets the handler see what a tool returns.
func (r *replay) wrapResult(m *schema.Message) (*schema.Message, error) {
	if r.handler == nil || len(m.UserInputMultiContent) > 0 {
		return m, nil
	}
	tc, ok := r.calls[m.ToolCallID]
	if !ok {
		tc = r.conversation.calls[m.ToolCallID]
	}
	name, args := tc.Function.Name, tc.Function.Arguments
	if m.ToolName != "" {
		name = m.ToolName
	}
	returns := func(context.Context, string, ...tool.Option) (string, error) { return m.Content, nil }
	run, err := r.handler.WrapInvokableToolCall(r.ctx, returns, &adk.ToolContext{Name: name, CallID: m.ToolCallID})
	if err != nil {
		return nil, err
	}
	out, err := run(r.ctx, args)
	if err != nil || out == m.Content {
		return m, err
	}
	cut := *m
	cut.Content = out
	return &cut, nil
}

// request makes the request of a model call, and bills it.
func (r *replay) request() error {
	if r.handler != nil {
		_, state, err := r.handler.BeforeModelRewriteState(r.ctx, r.state, &adk.ModelContext{})
		if err != nil {
			return err
		}
		r.state = &adk.ChatModelAgentState{Messages: state.Messages}
	}
	same, all := r.billDefinitions(), definedTokens(r.tools)
	for i, m := range r.state.Messages {
		if i == len(r.lastRequest) {
			r.lastRequest = append(r.lastRequest, sentMessage{})
		}
		was := &r.lastRequest[i]
		if !was.isSent || !equal(&was.Message, m) {
			*was = sentMessage{Message: *m, tokens: Tokens(m), isSent: true}
			r.notePath(m)
			same = false
		}
		if same {
			r.bill.Cached += was.tokens
		} else {
			r.bill.Written += was.tokens
		}
		all += was.tokens
	}
	clear(r.lastRequest[len(r.state.Messages):])
	r.lastRequest = r.lastRequest[:len(r.state.Messages)]
	r.bill.Calls++
	r.bill.Largest = max(r.bill.Largest, all)
	return nil
}

// billDefinitions bills the tools, which come first, and reports whether they are as before.
func (r *replay) billDefinitions() (same bool) {
	if r.conversation.definitions == nil {
		return true
	}
	before := r.tools
	r.tools = r.conversation.definitions[min(r.turn, len(r.conversation.definitions)-1)]
	same = true
	for i, d := range r.tools {
		if same = same && i < len(before) && before[i] == d; same {
			r.bill.Cached += d.tokens
		} else {
			r.bill.Written += d.tokens
		}
		r.bill.Definitions += d.tokens
	}
	return same && len(r.tools) == len(before)
}

func definedTokens(all []definition) (n int64) {
	for _, d := range all {
		n += d.tokens
	}
	return n
}

// equal reports whether a model sees the same in two messages.
func equal(a, b *schema.Message) bool {
	if a.Role != b.Role || a.Content != b.Content || a.ReasoningContent != b.ReasoningContent || len(a.ToolCalls) != len(b.ToolCalls) {
		return false
	}
	if len(a.UserInputMultiContent)+len(b.UserInputMultiContent) > 0 && !reflect.DeepEqual(a.UserInputMultiContent, b.UserInputMultiContent) {
		return false
	}
	if len(a.AssistantGenMultiContent)+len(b.AssistantGenMultiContent) > 0 && !reflect.DeepEqual(a.AssistantGenMultiContent, b.AssistantGenMultiContent) {
		return false
	}
	for i := range a.ToolCalls {
		if a.ToolCalls[i].Function != b.ToolCalls[i].Function {
			return false
		}
	}
	return true
}

// mediaTokens is what one image or file is counted as, for every policy alike: about
// what providers bill for an image of a million pixels.
const mediaTokens = 1000

// Tokens estimates a message.
func Tokens(m *schema.Message) int64 {
	const around = 4
	n := around + tokens.Of(textOf(m)) + tokens.Of(m.ReasoningContent) + mediaTokens*media(m)
	for _, tc := range m.ToolCalls {
		n += around + tokens.Of(tc.Function.Name) + tokens.Of(tc.Function.Arguments)
	}
	return int64(n)
}

// textOf is what a message says, without its media.
func textOf(m *schema.Message) string {
	if len(m.UserInputMultiContent)+len(m.AssistantGenMultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	b.WriteString(m.Content)
	for i := range m.UserInputMultiContent {
		b.WriteString(m.UserInputMultiContent[i].Text)
	}
	for i := range m.AssistantGenMultiContent {
		b.WriteString(m.AssistantGenMultiContent[i].Text)
	}
	return b.String()
}

// media counts the images and files of a message.
func media(m *schema.Message) (n int) {
	for i := range m.UserInputMultiContent {
		if m.UserInputMultiContent[i].Type != schema.ChatMessagePartTypeText {
			n++
		}
	}
	for i := range m.AssistantGenMultiContent {
		if p := &m.AssistantGenMultiContent[i]; p.Type != schema.ChatMessagePartTypeText && p.Type != schema.ChatMessagePartTypeReasoning {
			n++
		}
	}
	return n
}

// isVisible reports whether the request holds a quotation, also where its result became shorter
// JSON. The result itself is looked at first.
func (r *replay) isVisible(u quotation) bool {
	if at, ok := r.resultIndex[u.call]; ok && at < len(r.state.Messages) && r.shows(r.state.Messages[at], u.quote) {
		return true
	}
	for _, m := range r.state.Messages {
		if r.shows(m, u.quote) {
			return true
		}
	}
	return false
}

func (r *replay) shows(m *schema.Message, quote string) bool {
	text := textOf(m)
	if strings.Contains(text, quote) {
		return true
	}
	if m.Role == schema.Tool && jsontext.MayCompact(text) && strings.Contains(r.withoutLayout(text), layoutRemover.Replace(quote)) {
		return true
	}
	for _, tc := range m.ToolCalls {
		if strings.Contains(tc.Function.Arguments, quote) {
			return true
		}
	}
	return false
}

// layoutRemover takes what compacting changes out of a text.
var layoutRemover = strings.NewReplacer(" ", "", "\n", "", "\t", "", "\r", "", "\\", "")

// withoutLayout is a text without that. Each is made once.
func (r *replay) withoutLayout(text string) string {
	out, ok := r.compacted[text]
	if !ok {
		out = layoutRemover.Replace(text)
		r.compacted[text] = out
	}
	return out
}

// storedPath matches the default path of a stored result.
var storedPath = regexp.MustCompile(
	`/[/` + backend.ComponentClass + `]*(?:` + backend.TruncDir + `|` + backend.ClearDir + `)/[` + backend.ComponentClass + `]+`)

// notePath notes where a message says that an edited result is.
func (r *replay) notePath(m *schema.Message) {
	if whole, ok := r.results[m.ToolCallID]; m.Role == schema.Tool && ok && textOf(m) != whole {
		r.paths[m.ToolCallID] = strings.TrimRight(storedPath.FindString(textOf(m)), ".")
	}
}

// readBack is a round in which the agent reads a result again, from where a quotation
// stands: in the store or, where it was not told of any place, with the same tool.
func (r *replay) readBack(id, quote string) error {
	call := schema.ToolCall{ID: fmt.Sprintf("again_%d", len(r.calls)), Type: "function", Function: r.conversation.calls[id].Function}
	content := r.results[id]
	if path := r.paths[id]; path != "" {
		line := 1 + strings.Count(content[:max(0, strings.Index(content, quote))], "\n")
		call.Function = schema.FunctionCall{Name: readTool, Arguments: fmt.Sprintf(`{"file_path":%q,"offset":%d,"limit":200}`, path, line)}
		page, err := r.reader.InvokableRun(r.ctx, call.Function.Arguments)
		if err != nil {
			return err
		}
		content = page
	}
	r.calls[call.ID] = call
	r.add(schema.AssistantMessage("", []schema.ToolCall{call}))
	got, err := r.wrapResult(schema.ToolMessage(content, call.ID, schema.WithToolName(call.Function.Name)))
	if err != nil {
		return err
	}
	r.add(got)
	return r.request()
}

// checkEdited looks whether each edited result can be read where its message says.
func (r *replay) checkEdited() {
	for _, m := range r.state.Messages {
		whole, ok := r.results[m.ToolCallID]
		if m.Role != schema.Tool || !ok || textOf(m) == whole || strings.HasPrefix(m.ToolCallID, "again_") {
			continue
		}
		if text, ok := jsontext.Compact(whole); ok && text == textOf(m) {
			continue // it has the same value
		}
		r.bill.Edited++
		got, err := readAll(r.ctx, r.store, r.paths[m.ToolCallID])
		if short, ok := jsontext.Compact(whole); ok && got == short {
			continue // it was cleared later
		}
		if err != nil || got != whole && !r.conversation.media[m.ToolCallID] { // a file of a medium is no text
			r.bill.Unreadable++
		}
	}
}
