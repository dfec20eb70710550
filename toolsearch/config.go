// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The configuration: its fields, defaults and validation.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/native"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/search"
	"github.com/einolean/einolean/toolsearch/internal/visibility"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Config configures the middleware. The first two fields are Eino's. The zero value of every other
// field keeps Eino's behavior, except AllowUnloadedCalls and ExactToolNames: if they are false, calls
// of unloaded tools do not run, and unknown names are corrected. docs/differences.md lists all
// differences. New copies what it needs, so later changes to a Config or its slices have no effect. An
// agent takes one instance; a second one is an error at the start of a run.
type Config struct {
	// DynamicTools are the tools to hide until the model finds them. Names must be
	// unique, and differ from the names of the agent's own tools and of the search
	// tools. Required, unless Source, SearchableTools or DeferMarkedTools is set.
	DynamicTools []tool.BaseTool

	// UseModelToolSearch leaves the search to the provider. With neither Model nor
	// Native it does what Eino does: the dynamic tools go out as deferred tools and
	// tool_search as the model's own search tool. Set Model or Native for a provider
	// that really has tool search: each has its own form.
	UseModelToolSearch bool

	// Source provides tools that are not known when New is called, that differ between
	// users, or that change during a run. They are hidden like DynamicTools and follow
	// them. It is asked when a run starts and before every model call, and the tools it
	// returns are offered in that call. If it takes longer than two seconds, the run keeps
	// the tools it had, and offers the new ones in a later call. A tool of a Source with the
	// name of another tool of the agent is left out, and OnEvent gets an event. A call to a
	// removed tool gets an answer. If nil, there are none.
	Source toolset.Source

	// SearchableTools names tools of the agent itself (ToolsConfig.Tools, or tools that
	// an earlier handler added) to hide in the same way. A trailing * matches any rest. A
	// name that the agent does not have is an error at the start of a run. If empty, none
	// are hidden.
	SearchableTools []string

	// DeferMarkedTools also hides each of the agent's own tools whose
	// ToolInfo.Extra["defer_loading"] is true. Tools that a later handler adds stay
	// visible, and OnEvent gets one event per run (einolean.KindToolsNotHidden).
	DeferMarkedTools bool

	// AlwaysVisible names hidden tools to show in full from the first model call on, after
	// the agent's own. A trailing * matches any rest. Tools whose
	// ToolInfo.Extra["defer_loading"] is false are shown too. A name that no tool has is not
	// an error: a Source may provide it later. Filter applies to these tools in all its
	// phases; UnloadAfter does not. If empty, none are shown.
	AlwaysVisible []string

	// MinTokensToHide hides the tools only if their definitions take more than this many tokens
	// together, at four bytes each; AlwaysVisible tools do not count. Up to that many, the run has
	// no search tool, and shows every tool as if AlwaysVisible named it; Filter is asked in
	// PhaseSearch, PhaseLoad and PhaseActive. A run whose tools become more hides them from then
	// on, and one that hides them goes on. While the Source reports missing servers (an error that
	// wraps a *toolset.Missing), a run that begins hides them. The first run that hides nothing is
	// reported once (einolean.KindNothingHidden): to OnEvent, or without it to slog.Default. If zero,
	// tools are always hidden.
	MinTokensToHide int

	// Prefetch is the maximum number of tools to load for each user message before the model is called:
	// the tools that match the message, unless no match is confident enough. With SearchCall nothing is
	// loaded; instead, a message of at most 8 KB after the user's describes the tools, and the prompt
	// cache holds. It saves model calls; with other protocols it saves tokens only with CatalogLimit,
	// since loading tools invalidates the provider's prompt cache from the tools on. Which tools are
	// chosen depends only on the messages and the tools: the first 64 user messages and the first 1,000
	// words of each count, for at most 50 tools in all; messages that handlers added do not. It needs an
	// index that reports a confidence, such as index.Keyword and index.BM25. With MinConfidence, messages
	// of only function words and words of any conversation load nothing. [Recommended] sets 1. If zero,
	// none are loaded.
	Prefetch int

	// Protocol chooses the tools with which the model searches. If zero, defaults to Keyword.
	Protocol Protocol

	// NewIndex ranks tools. New calls it if there are DynamicTools. Runs call it for tools that
	// are not known then (Source, SearchableTools, DeferMarkedTools), once for each set of them.
	// Its error is that of New or of the run. With a Source it is no error: index.Keyword answers,
	// and each search emits einolean.KindIndexFailed. If nil, defaults to index.Keyword.
	NewIndex index.Func

	// MaxResults is how many tools a search returns if the model gives no number. If
	// zero, defaults to 5.
	MaxResults int

	// MinConfidence, from 0 to 1, is the confidence that at least one result of a search must reach. If
	// none does, the answer says that no tool matches and names the nearest ones, which the model can
	// load with "select:". If the index reports no confidence, that of index.BM25 is used, which takes
	// less than a megabyte for a thousand tools; tools missing from that index are never rejected. With index.BM25 on
	// held-out requests, 0.05 rejects 76 % of the English searches that no tool serves and 61 % of the
	// Chinese ones over English tools, and holds back 4 % of the right answers in both; by set, 35 to 96 %
	// and 0 to 22 % (docs/benchmarks.md). If zero, no results are rejected.
	MinConfidence float64

	// MinRelativeScore, from 0 to 1, leaves out results whose score is below this share of the best
	// one's: each loaded tool costs its schema in every later request. If the model gives a number of
	// results, it gets that many. If zero, all results are returned. Regexp has no scores: setting this
	// field, MinConfidence or NewIndex with it is an error.
	MinRelativeScore float64

	// Filter decides who may see, find, load and call which tool. If nil, everybody may.
	Filter Filter

	// Model is the agent's chat model. With UseModelToolSearch, the form on the wire follows
	// from its type. Model alone always means that this package searches, in the provider's
	// form; for the provider's own search set Native to Hosted as well. It is inspected,
	// never called. If nil, Native decides.
	Model any

	// Native is the adapter, and with it the form of the provider's tool search: Hosted for
	// the provider's own search with any Model, or one of the others if Model is wrapped or
	// unknown. A Model of a known type that does not support Native is refused with
	// ErrNativeUnsupported. Setting it without UseModelToolSearch is an error. If empty, it
	// follows from Model; if that is nil too, the behavior is Eino's.
	Native Adapter

	// ExactToolNames leaves calls of unknown names to Eino: the agent's ToolAliases or
	// UnknownToolsHandler handle them, otherwise the run ends with an error. Set it if the agent has
	// either. If false, a name that differs from that of exactly one tool only in case, in separators or
	// by the prefix "functions.", "default_api." or "tools." is corrected before any handler sees the
	// call. Any other unknown name, also an alias, becomes a search for that name, whose answer has the
	// nearest names.
	ExactToolNames bool

	// AllowUnloadedCalls runs a call to a tool that was never loaded, as Eino does. If false,
	// such a call does not run, and the model gets the tool's schema instead. With SearchCall nothing is
	// loaded: a call runs if its arguments fit the schema.
	AllowUnloadedCalls bool

	// UnloadAfter is the number of model calls without use after which a loaded tool
	// is hidden again. If zero, it stays. Setting it with SearchCall, which loads nothing, is an error.
	UnloadAfter int

	// MaxToolsPerRequest is how many tools the provider takes in one request: 128 with OpenAI, Kimi and
	// GLM, 512 with Gemini. If more would be visible, the loaded ones that were used longest
	// ago are hidden again, and a search or a call loads them once more; the agent's own tools
	// and AlwaysVisible stay. If zero, it follows from Model, and without Model there is no
	// limit. SearchCall and native tool search show few tools anyway.
	MaxToolsPerRequest int

	// CatalogLimit is the largest number of names in the list of hidden tools that the model
	// reads. Further names are counted by server, and listed in Backend if that is set. If zero,
	// all names are shown.
	CatalogLimit int

	// Backend stores the full list of names when CatalogLimit shortens it, so that the model
	// can read it with a file tool that reads the same store. A model call waits 30 seconds
	// for it. If it fails or takes longer, the list names no file, OnEvent gets an event
	// (einolean.KindStoreFailed), and the run does not ask it again. If nil, the list is not
	// stored.
	Backend store.Backend

	// OnEvent receives events about changes: the catalog, searches, tools loaded and
	// unloaded, calls that do not run or that the Filter denies, and failures of the index
	// and the Backend. A tool call emits at most two. A model call emits at
	// most one for loaded tools, one for unloaded tools and one for a restarted session, and
	// further ones for changes of the catalog, for what Prefetch found, and for failures. It is called synchronously, by several goroutines at once if tools run in
	// parallel, and may keep the event. A panic in it is recovered. If nil, nothing is measured,
	// and only warnings are reported: to slog.Default, at most one of a kind a minute;
	// einolean.Tee() keeps those out as well.
	OnEvent func(context.Context, einolean.Event)
}

// Protocol is a set of search tools that the model sees, with their answers.
type Protocol int

const (
	// Keyword is tool_search(query, max_results): words, +required words, or
	// select:name,name. Found tools are loaded. Known from Eino v0.9 and Claude Code.
	Keyword Protocol = iota
	// Regexp is tool_search(regex_pattern), an RE2 pattern on tool names; all matches are
	// loaded, but at most 100 a search. Known from Eino v0.8.0.Beta.
	Regexp
	// SearchLoad is search_tools(query), which shows candidates, and load_tool(tool_name
	// or tool_names), which loads them. Known from Mastra.
	SearchLoad
	// SearchCall is tool_search(query), which shows schemas, and call_tool(name,
	// arguments), which runs one. The tool list on the wire never changes, so the
	// provider's prompt cache holds. Known from FastMCP and Qwen Code.
	//
	// Arguments are checked against the tool's JSON schema first, as far as bounded time
	// allows; the tool gets them as the model wrote them. Only the model sees call_tool: the
	// agent and its other middlewares, events, tool callbacks, checkpoints and stored messages
	// have a call of the tool itself. Rules for the tool's name, theirs or in ReturnDirectly,
	// apply. Calls that cannot run keep the name call_tool and are answered: broken JSON, an
	// unknown tool, arguments that do not fit. WrapModel code of handlers after this one and
	// model callbacks see what the model sees. docs/tools.md has the details.
	SearchCall

	protocolCount
)

// protocols has the protocol of each constant.
var protocols = [protocolCount]*protocol.Protocol{
	Keyword:    protocol.Keyword,
	Regexp:     protocol.Regexp,
	SearchLoad: protocol.SearchLoad,
	SearchCall: protocol.SearchCall,
}

// String returns the protocol's name.
func (p Protocol) String() string {
	if p < 0 || p >= protocolCount {
		return "unknown"
	}
	return protocols[p].Name
}

// protocolNames returns the names of all protocols, in a sentence.
func protocolNames() string {
	names := make([]string, len(protocols))
	for i, p := range protocols {
		names[i] = p.Name
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// ErrNativeUnsupported is the error for a Model without its own tool search, or without the
// one that Native names, with UseModelToolSearch. New returns it. If only DeferMarkedTools
// hides tools, the first run that has any returns it.
var ErrNativeUnsupported = native.ErrUnsupported

// Adapter names the expectations of an adapter and its provider for native tool search:
// where the hidden tools go, who searches, and what a result looks like. A history may
// come from any adapter: messages that this one does not accept are rewritten, on a copy.
//
// If the provider searches (the hosted ones), it also loads, unseen: calls are not held
// back as unloaded, and UnloadAfter has no effect. Filter always applies.
type Adapter string

const (
	// Hosted is the provider's own search: ClaudeHosted or OpenAIHosted, by the type of
	// Model. It needs Model; New refuses a Model without hosted search with
	// ErrNativeUnsupported.
	Hosted Adapter = native.Hosted
	// ClaudeHosted is eino-ext's claude adapter with Anthropic's own search: all hidden
	// tools go out with defer_loading, and the provider finds and loads them. Message.Extra
	// must be kept with the history, as it is in memory or in gob; after JSON the model
	// searches again. Set a cache breakpoint on a tool of the agent's own rather than
	// automatic cache control, which would mark a deferred tool. Up to v0.1.25, the adapter
	// omits a type that the provider requires, and cannot stream: see
	// adapters/claude.
	ClaudeHosted Adapter = native.ClaudeHosted
	// ClaudeClient is eino-ext's claude adapter with this package's search: found tools are
	// returned as references, and each only once in a conversation.
	ClaudeClient Adapter = native.ClaudeClient
	// OpenAIHosted is eino-ext's agenticopenai adapter (Responses API) with OpenAI's own
	// search over all hidden tools. The model still sees their names and descriptions,
	// so this saves only their parameters.
	OpenAIHosted Adapter = native.OpenAIHosted
	// OpenAIClient is eino-ext's agenticopenai adapter (Responses API) with this package's
	// search: definitions travel in the search's output.
	OpenAIClient Adapter = native.OpenAIClient
	// AgenticClaudeClient is eino-ext's agenticclaude adapter with this package's search:
	// all hidden tools go out with defer_loading in every call, and results refer to them.
	AgenticClaudeClient Adapter = native.AgenticClaudeClient
)

// Portable wraps a model without tool search of its own so that it can take over a
// conversation from one that has: as the failover model of an agent in native mode, or in
// an agent that no longer has this middleware.
//
//	ModelFailoverConfig: &adk.ModelFailoverConfig[*schema.Message]{
//		GetFailoverModel: func(context.Context, *adk.FailoverContext[*schema.Message]) (model.BaseModel[*schema.Message], []*schema.Message, error) {
//			return toolsearch.Portable(otherModel), nil, nil
//		},
//	}
//
// Portable changes nothing that it is given; the model gets copies in which
//
//   - results of a search in the provider's form are text ({"matches":["name"]}), calls of
//     the search tool are ordinary calls, and records of a provider's own search are gone;
//   - the search tool is an ordinary tool, followed by the tools that the conversation's
//     results loaded, so the model can keep searching and calling;
//   - if there is no search tool (ClaudeHosted, OpenAIHosted), all deferred tools are
//     ordinary tools, which may be many.
//
// Calls without arguments get an empty object, and tools without parameters an empty
// schema, since adapters differ in how they send none.
//
// A request without any of these reaches the model as it is. Other options, answers and
// errors pass through; so does the model's type, and whether it runs callbacks by itself.
// The wrapper is as safe for concurrent use as the model, which must not be nil.
func Portable[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] {
	return native.Portable(m)
}

const (
	defaultMaxResults  = 5
	maxResultsLimit    = 1 << 20 // no agent has more tools, and four times as many does not overflow
	maxPrefetchedTools = 50      // tools in a conversation
)

// Recommended returns the Config that we recommend for tools. The caller owns it.
// It differs from the zero Config:
//
//   - index.BM25 reads requests in plain sentences, with typing errors and in Chinese. It
//     costs less than a megabyte for a thousand tools, and a fraction of a millisecond a search.
//   - CatalogLimit 50 shows the model at most 50 names, and counts the rest by server. The
//     model has to search for the others.
//   - MinTokensToHide 3,000 shows all tools, and no search tool, if their definitions take no
//     more tokens than that: about fourteen tools of MCP servers.
//   - MinConfidence 0.05 makes searches that no tool serves say so, rather than load
//     something else: 35 to 96 % of them, by set, on held-out requests. It also holds back 0
//     to 22 % of the right answers: the tool is then named, and costs one more call.
//   - MinRelativeScore 0.25 loads 12 to 23 % fewer tools, by language, and keeps 99 % of the
//     right ones among the first five.
//   - Protocol SearchCall never changes the list of tools, so that a provider's prompt cache
//     holds. The model runs what it finds with call_tool; everybody else sees the tool itself.
//     With UseModelToolSearch, set Protocol to Keyword.
//   - Prefetch 1 describes the tool that a user's message most probably asks for: the model
//     can run it without a search.
//
// With 449 tools, 60 tasks of a scripted model send 529,423 tokens rather than 1,025,101 with
// the zero Config and 6,246,039 with every tool listed, and all answers are right.
// docs/benchmarks.md has the tables. For found tools to join the list of tools
// instead, set Protocol to Keyword and Prefetch to 0. What Recommended sets may change in a minor version.
func Recommended(tools []tool.BaseTool) *Config {
	return &Config{
		DynamicTools: tools, Protocol: SearchCall, NewIndex: index.BM25, CatalogLimit: 50, MinTokensToHide: 3000,
		MinConfidence: 0.05, MinRelativeScore: 0.25, Prefetch: 1,
	}
}

// settings is a validated Config with its defaults, and the infos of its tools. It is immutable.
type settings struct {
	cfg              Config       // without DynamicTools
	dynamicTools     *catalog.Set // of Config.DynamicTools
	protocol         *protocol.Protocol
	searchTools      []string // names of the protocol's tools
	rules            native.Rules
	unsupportedModel error // the model has no tool search: the error of a run that hides tools

	searchLimits     search.Limits
	visibilityLimits visibility.Limits
	promptParams     protocol.DescriptionData // of the search tools

	aliases aliases // that were called so far

	reportedNothingHidden atomic.Bool // emitNothingHidden has reported
}

// aliases are names by which Eino reached tools that have other names. Only Eino knows the ToolAliases of an agent, and it
// ends a run in which a slot has the alias of a listed tool.
type aliases struct{ tools sync.Map }

func (a *aliases) add(alias, tool string) { a.tools.Store(alias, tool) }

// tool returns the name of the hidden tool of an alias; "" for a tool of the agent's own.
func (a *aliases) tool(alias string) (name string, known bool) {
	v, known := a.tools.Load(alias)
	name, _ = v.(string)
	return name, known
}

// hides reports whether the instance hides a tool of the agent's own.
func (s *settings) hides(info *schema.ToolInfo) bool {
	return toolnames.Match(s.cfg.SearchableTools, info.Name) || s.cfg.DeferMarkedTools && isMarkedHidden(info)
}

// hiddenOwnTools returns the agent's own tools that the instance hides; nil if it hides none.
func (s *settings) hiddenOwnTools(tools []tool.BaseTool, own []*schema.ToolInfo) (*catalog.Set, error) {
	if len(s.cfg.SearchableTools) == 0 && !s.cfg.DeferMarkedTools {
		return nil, nil
	}
	var entries []*catalog.Tool
	isPattern := func(name string) bool { return strings.HasSuffix(name, "*") }
	unknown := slices.DeleteFunc(slices.Clone(s.cfg.SearchableTools), isPattern)
	for i, info := range own {
		if info == nil {
			continue
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == info.Name })
		if !s.hides(info) {
			continue
		}
		e, err := catalog.NewTool(tools[i], info)
		if err != nil {
			return nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		entries = append(entries, e)
	}
	if len(unknown) > 0 {
		for i, name := range unknown {
			unknown[i] = strconv.Quote(name)
		}
		return nil, fieldError("SearchableTools", "the agent does not have the tools %s (handlers that add tools must come before this one)", strings.Join(unknown, ", "))
	}
	return catalog.New(entries), nil
}

// newSettings checks a Config for an agent of the message type.
func newSettings(ctx context.Context, config *Config, agentic bool) (*settings, error) {
	if config == nil {
		return nil, fieldError("", "the configuration is nil: pass a &toolsearch.Config{DynamicTools: ...}")
	}
	s := &settings{cfg: *config}
	s.cfg.DynamicTools = nil // the set takes their place
	s.cfg.SearchableTools = append([]string(nil), config.SearchableTools...)
	s.cfg.AlwaysVisible = append([]string(nil), config.AlwaysVisible...)
	if s.cfg.MaxResults == 0 {
		s.cfg.MaxResults = defaultMaxResults
	}
	s.cfg.MaxResults, s.cfg.Prefetch = min(s.cfg.MaxResults, maxResultsLimit), min(s.cfg.Prefetch, maxPrefetchedTools)
	var errs problems
	if s.cfg.MaxToolsPerRequest == 0 && config.Model != nil {
		s.cfg.MaxToolsPerRequest = native.MaxToolsPerRequest(config.Model)
	}
	if p := s.cfg.Protocol; p >= 0 && p < protocolCount {
		s.protocol = protocols[p]
	} else {
		s.protocol = &protocol.Protocol{} // for checks of the other fields
		errs.add("Protocol", "%d is unknown: use %s", int(p), protocolNames())
	}
	s.searchTools = s.protocol.ToolNames()
	s.checkFields(&errs)
	s.readTools(ctx, config.DynamicTools, &errs)
	switch s.rules = native.NoNative; {
	case s.cfg.UseModelToolSearch:
		hidesTools := len(config.DynamicTools)+len(config.SearchableTools) > 0 || s.cfg.Source != nil
		s.chooseNativeRules(agentic, hidesTools, &errs)
	case s.cfg.Native != "":
		errs.add("Native", "it is %q, but UseModelToolSearch is false", s.cfg.Native)
	}
	c := &s.cfg
	s.searchLimits = search.Limits{MaxResults: c.MaxResults, MinConfidence: c.MinConfidence, MinRelativeScore: c.MinRelativeScore}
	s.visibilityLimits = visibility.Limits{UnloadAfter: c.UnloadAfter, MaxToolsPerRequest: c.MaxToolsPerRequest}
	if s.rules.Native {
		s.visibilityLimits.MaxToolsPerRequest = 0
	}
	s.promptParams = protocol.DescriptionData{
		Limit: c.MaxResults, Total: search.MaxResults(c.MaxResults), Native: s.rules.Native, Calls: s.protocol.CallTool != nil,
		Unloads: c.UnloadAfter > 0, Ungated: c.AllowUnloadedCalls, Partial: c.CatalogLimit > 0 || c.Filter != nil,
	}
	return s, errors.Join(errs...)
}

// chooseNativeRules chooses the rules for Config.UseModelToolSearch. hidesTools is false if only a run shows whether
// there is anything to hide.
func (s *settings) chooseNativeRules(agentic, hidesTools bool, errs *problems) {
	if !s.protocol.SupportsNative {
		errs.add("UseModelToolSearch", "it goes with the Keyword protocol only, not with %v", s.cfg.Protocol)
	}
	rules, err := native.Choose(string(s.cfg.Native), s.cfg.Model, agentic)
	switch s.rules = rules; {
	case err == nil:
	case !errors.Is(err, ErrNativeUnsupported):
		errs.add("Native", "%w", err)
	case hidesTools:
		errs.add("Model", "%w", err)
	default:
		s.unsupportedModel = err
	}
}

// checkFields checks all fields but the tools and the model.
func (s *settings) checkFields(errs *problems) {
	c := &s.cfg
	for _, f := range []struct {
		name  string
		value int
	}{
		{"MaxResults", c.MaxResults}, {"UnloadAfter", c.UnloadAfter}, {"MaxToolsPerRequest", c.MaxToolsPerRequest},
		{"CatalogLimit", c.CatalogLimit}, {"MinTokensToHide", c.MinTokensToHide}, {"Prefetch", c.Prefetch},
	} {
		if f.value < 0 {
			errs.add(f.name, "%d is negative", f.value)
		}
	}
	if !(c.MinConfidence >= 0 && c.MinConfidence <= 1) {
		errs.add("MinConfidence", "%v is not from 0 to 1", c.MinConfidence)
	}
	if !(c.MinRelativeScore >= 0 && c.MinRelativeScore <= 1) {
		errs.add("MinRelativeScore", "%v is not from 0 to 1", c.MinRelativeScore)
	}
	if s.protocol.MatchesNames {
		checkMatchesNames(c, errs)
	}
	if s.protocol.FixedToolList && c.UnloadAfter > 0 {
		errs.add("UnloadAfter", "it is %d, but the %v protocol never loads a tool", c.UnloadAfter, c.Protocol)
	}
	if safe.IsNil(c.Backend) {
		c.Backend = nil
	}
	if safe.IsNil(c.Source) {
		c.Source = nil
	}
	checkSearchable(c, errs)
	if i := slices.Index(c.AlwaysVisible, ""); i >= 0 {
		errs.add(fieldAt("AlwaysVisible", i), "the name is empty")
	}
}

// checkMatchesNames rejects fields of the index, for a protocol that uses none.
func checkMatchesNames(c *Config, errs *problems) {
	if c.MinConfidence > 0 {
		errs.add("MinConfidence", "it is %v, but the %v protocol matches names and is always sure", c.MinConfidence, c.Protocol)
	}
	if c.MinRelativeScore > 0 {
		errs.add("MinRelativeScore", "it is %v, but the %v protocol matches names and scores nothing", c.MinRelativeScore, c.Protocol)
	}
	if c.NewIndex != nil {
		errs.add("NewIndex", "it is set, but the %v protocol matches names and ranks nothing", c.Protocol)
	}
}

// checkSearchable checks Config.SearchableTools.
func checkSearchable(c *Config, errs *problems) {
	seen := map[string]bool{}
	for i, name := range c.SearchableTools {
		switch {
		case name == "":
			errs.add(fieldAt("SearchableTools", i), "the name is empty")
		case seen[name]:
			errs.add(fieldAt("SearchableTools", i), "%q is there twice", name)
		case toolnames.IsSearchTool(name):
			errs.add(fieldAt("SearchableTools", i), "%q is the name of a search tool", name)
		}
		seen[name] = true
	}
}

// readTools reads the infos of Config.DynamicTools.
func (s *settings) readTools(ctx context.Context, tools []tool.BaseTool, errs *problems) {
	if len(tools) == 0 && s.cfg.Source == nil && len(s.cfg.SearchableTools) == 0 && !s.cfg.DeferMarkedTools {
		errs.add("DynamicTools", "there are none: give it the tools to hide, or set Source, SearchableTools or DeferMarkedTools")
	}
	places := make(map[string]int, len(tools))
	entries := make([]*catalog.Tool, 0, len(tools))
	all := make([]catalog.Tool, len(tools))
	for i, t := range tools {
		info, err := catalog.ReadInfo(ctx, t)
		if err != nil {
			errs.add(fieldAt("DynamicTools", i), "%w", err)
			continue
		}
		if j, isTwice := places[info.Name]; isTwice {
			errs.add(fieldAt("DynamicTools", i), "it has the name of DynamicTools[%d], %q", j, info.Name)
			continue
		}
		if toolnames.IsSearchTool(info.Name) {
			errs.add(fieldAt("DynamicTools", i), "it has the name of the search tool %q", info.Name)
			continue
		}
		places[info.Name] = i
		if err := all[i].Fill(t, info); err != nil {
			errs.add(fieldAt("DynamicTools", i), "%w", err)
			continue
		}
		entries = append(entries, &all[i])
	}
	s.dynamicTools = catalog.New(entries)
}

// problems collects the errors in a configuration.
type problems []error

// add adds an error in a field; "" is the configuration as a whole.
func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, &einolean.FieldError{Package: "toolsearch", Field: field, Err: fmt.Errorf(format, args...)})
}

// fieldError returns an error in one field.
func fieldError(field, format string, args ...any) error {
	var errs problems
	errs.add(field, format, args...)
	return errors.Join(errs...)
}

func fieldAt(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// isMarkedHidden reports whether a tool's Extra asks to hide it.
func isMarkedHidden(info *schema.ToolInfo) bool {
	defers, _ := info.Extra["defer_loading"].(bool)
	return defers
}

// isMarkedVisible reports whether a tool's Extra asks to show it always.
func isMarkedVisible(info *schema.ToolInfo) bool {
	defers, isSet := info.Extra["defer_loading"].(bool)
	return isSet && !defers
}
