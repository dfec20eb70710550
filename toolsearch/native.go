// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the contracts of the providers' own tool search.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// ErrNativeUnsupported is the error of New for a Model that has no tool search of its
// own. The message names those that have.
var ErrNativeUnsupported = errors.New("the model has no native tool search")

// Contract is what an adapter and its provider expect of a native tool search: where the
// hidden tools go, who searches, and what a result looks like.
type Contract string

const (
	// ClaudeHosted is eino-ext's claude adapter with Anthropic's own search: all hidden
	// tools go out with defer_loading, and the provider finds and loads them. Message.Extra
	// must be kept with the history. Set a cache breakpoint on a tool of the agent's own
	// rather than automatic cache control, which would mark a deferred tool.
	ClaudeHosted Contract = "claude hosted"
	// ClaudeClient is eino-ext's claude adapter with this package's search: found tools are
	// returned as references, and each only once in a conversation.
	ClaudeClient Contract = "claude client"
	// OpenAIHosted is eino-ext's agenticopenai adapter (Responses API) with OpenAI's own
	// search over all hidden tools.
	OpenAIHosted Contract = "openai hosted"
	// OpenAIClient is eino-ext's agenticopenai adapter (Responses API) with this package's
	// search: definitions travel in the search's output.
	OpenAIClient Contract = "openai client"
	// AgenticClaudeClient is eino-ext's agenticclaude adapter with this package's search:
	// all hidden tools go out with defer_loading in every call, and results refer to them.
	AgenticClaudeClient Contract = "agentic claude client"
)

// contract is a Contract as rules.
type contract struct {
	name Contract
	err  error // the model cannot search; matters only if there is something to hide

	native        bool // results and tools travel in the provider's form
	deferAll      bool // all hidden tools go out as deferred ones
	searchTool    bool // the search tool goes out as the model's own search tool
	clientRuns    bool // this package answers searches
	providerLoads bool // tools are loaded where we cannot see it
	newOnly       bool // a tool may be returned only once in a conversation
	emptyAsText   bool // a search that found nothing is answered with text
	noteOnEmpty   bool // ... or with an empty list, and a message that says what to do
	acceptsNative bool // the history may hold results in the provider's form
	noReminder    bool
	neverLoads    bool // the tool list never changes
}

// supports reports whether the model can do what the contract wants.
func (c contract) supports() error {
	if c.err != nil {
		return fmt.Errorf("toolsearch: %w", c.err)
	}
	return nil
}

// contracts are the rules by name; "" with UseModelToolSearch is what Eino does.
var contracts = map[Contract]contract{
	"":                  {native: true, deferAll: true, searchTool: true, clientRuns: true, providerLoads: true, acceptsNative: true},
	ClaudeHosted:        {native: true, deferAll: true, providerLoads: true},
	ClaudeClient:        {native: true, searchTool: true, clientRuns: true, newOnly: true, emptyAsText: true, acceptsNative: true},
	OpenAIHosted:        {native: true, deferAll: true, providerLoads: true},
	OpenAIClient:        {native: true, searchTool: true, clientRuns: true, noteOnEmpty: true, acceptsNative: true},
	AgenticClaudeClient: {native: true, deferAll: true, searchTool: true, clientRuns: true, emptyAsText: true, acceptsNative: true},
}

// agenticContracts are those whose adapters speak *schema.AgenticMessage.
var agenticContracts = []Contract{OpenAIHosted, OpenAIClient, AgenticClaudeClient}

// contractOfModel maps the type that an eino-ext adapter reports to the contract in which
// this package searches, so that its ranking, Filter and gate hold.
var contractOfModel = map[string]Contract{
	"Claude":                  ClaudeClient,
	"AgenticClaude":           AgenticClaudeClient,
	"AgenticOpenAI/Responses": OpenAIClient,
}

// chooseContract finds the rules for a configuration, or says what is wrong with it.
func chooseContract(cfg *Config, agentic, hides bool, wrong *problems) contract {
	if !cfg.UseModelToolSearch {
		if cfg.Native != "" {
			wrong.add("Native is %q, but UseModelToolSearch is false", cfg.Native)
		}
		return contract{clientRuns: true, neverLoads: cfg.Protocol == SearchCall}
	}
	if cfg.Protocol != Keyword {
		wrong.add("UseModelToolSearch goes with the Keyword protocol only, not with %v", cfg.Protocol)
	}
	name := cfg.Native
	if name == "" && !isNil(cfg.Model) {
		typ, _ := components.GetType(cfg.Model)
		if name = contractOfModel[typ]; name == "" {
			err := unsupported(cfg.Model, typ)
			if hides {
				wrong.add("%w", err)
			}
			return contract{err: err, clientRuns: true}
		}
	}
	c, ok := contracts[name]
	if !ok {
		wrong.add("Native %q is unknown: use ClaudeHosted, ClaudeClient, OpenAIHosted, OpenAIClient or AgenticClaudeClient", name)
		return c
	}
	if name != "" && slices.Contains(agenticContracts, name) != agentic {
		wrong.add("the contract %q does not fit the message type of this agent: %s", name, fit(agentic))
	}
	c.name = name
	return c
}

func fit(agentic bool) string {
	if agentic {
		return "for *schema.AgenticMessage use OpenAIHosted, OpenAIClient or AgenticClaudeClient"
	}
	return "for *schema.Message use ClaudeHosted or ClaudeClient"
}

func unsupported(model any, typ string) error {
	if typ == "" {
		typ = "of unknown type"
	}
	can := make([]string, 0, len(contractOfModel))
	for t := range contractOfModel {
		can = append(can, t)
	}
	slices.Sort(can)
	return fmt.Errorf("%w: Model is %T (%s); models that have: %s; for a wrapped model set Native, and for any other leave UseModelToolSearch false",
		ErrNativeUnsupported, model, typ, strings.Join(can, ", "))
}

// nativeTool is the search tool in native mode: its results are the provider's.
type nativeTool struct{ t *metaTool }

func (n nativeTool) groupOf() *group { return n.t.group }

// Info describes the tool.
func (n nativeTool) Info(ctx context.Context) (*schema.ToolInfo, error) { return n.t.Info(ctx) }

// InvokableRun answers a search with the infos of the found tools.
func (n nativeTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, a := n.t.run(ctx), decodeArguments(argumentText(args))
	f, err := r.find(ctx, queriesOf(a), a.number(limitKeys...), r.loadable)
	if err != nil {
		return nil, err
	}
	c := r.group.contract
	if c.newOnly {
		f.found = r.reserve(ctx, f.found)
	}
	if len(f.found) == 0 && (c.emptyAsText || c.name == "" && f.hint() != "") {
		return textResult(r.nothingNew(f)), nil
	}
	infos := make([]*schema.ToolInfo, len(f.found))
	for i, x := range f.found {
		own := *x.entry.safe
		infos[i] = &own
	}
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// reserve keeps those tools that no result in the conversation has returned, and no other
// search of this turn is about to return.
func (r *run) reserve(ctx context.Context, list []found) []found {
	loaded := r.loadedFunc(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	var fresh []found
	for _, x := range list {
		name := x.entry.info.Name
		if loaded != nil && loaded(name) || r.reserved[name] {
			continue
		}
		if r.reserved == nil {
			r.reserved = map[string]bool{}
		}
		r.reserved[name] = true
		fresh = append(fresh, x)
	}
	return fresh
}

// emptyNote says what to do after a search that found nothing, where the provider's form of
// a result has no room for it.
func (r *run) emptyNote(ctx context.Context, c *call) string {
	a := decodeArguments(c.args)
	f, err := r.find(ctx, queriesOf(a), a.number(limitKeys...), r.loadable)
	if text := f.hint(); err == nil && text != "" {
		return text
	}
	return say("no-match", hint{})
}

// nothingNew words a search that has nothing to return in the provider's form.
func (r *run) nothingNew(f finding) string {
	if len(f.loaded) > 0 && f.hint() == "" {
		return say("already-loaded", hint{Words: f.loaded})
	}
	return f.hint()
}
