// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolsearch hides the tools of a CloudWeGo Eino agent that the model does not
// need yet behind a search tool. It replaces
// github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch: change the import path,
// keep the code.
//
//	search, err := toolsearch.New(ctx, toolsearch.Recommended(tools))
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		Model:    chatModel,
//		Handlers: []adk.ChatModelAgentMiddleware{search},
//	})
//
// # What the model sees
//
// Before the first model call a message lists the names of the hidden tools between
// <available-deferred-tools> tags. With the zero Config, the only tool added to the agent's
// own is tool_search:
//
//	model: tool_search {"query": "+github create issue"}
//	tool:  {"matches": ["github__create_issue", "github__update_issue"]}
//
// The next model call shows those two tools in full, after the agent's own. They stay, in
// the order in which they were found: the list only grows at its end. In a later run they
// are there again if the history holds the search or a call of the tool.
//
// A search that finds nothing, an unknown name and wrong arguments get an answer that says
// what to do. A call to a tool that was never loaded does not run: the model gets its
// schema, and may then call it. With [SearchCall], which loads nothing, a call runs if its
// arguments fit the schema. [Config.Protocol] offers three other ways of searching, and
// [Config.UseModelToolSearch] the provider's own.
//
// # How it works
//
//	New ──► catalog: infos read once, rejected if ambiguous; an Index over them
//	           │
//	BeforeAgent: the agent gets tool_search, and slots for hidden tools
//	           │
//	BeforeModelRewriteState ◄── history: what was found, what was called
//	           │                   ▲
//	           ▼                   │
//	  visible tools ──► model ──► tool_search ──► Index ──► Filter ──► answer
//
// The messages say which tools are loaded, so one instance serves concurrent runs, and a
// run survives checkpoints, restarts and a change of machine. The middleware changes
// nothing that it is given. Only a misconfiguration, a canceled context or an error of a
// user's own tool ends a run.
//
// # Tools that come and go
//
// [Config.Source], of package toolset, provides tools that differ between users or change
// during a run. It is asked before every model call, and the tools it returns are offered in
// that call.
//
//	config := toolsearch.Recommended(nil)
//	config.Source = servers // such as those of mcptools.Open
//	search, err := toolsearch.New(ctx, config)
//
// # Slots
//
// Eino fixes an agent's list of tools when a run starts. A slot is a placeholder in that list for a
// hidden tool. Up to 512 hidden tools have one slot each. Larger sets, and tools that join during a
// run, share up to 97 slots; a shared slot becomes a tool when the model calls it. If one answer calls
// more different tools than there are shared slots for their kind of result, the model is told to
// repeat the other calls. For tools that return text, these are 48 with a Source. Without one, they
// are 32 if all tools return it at once, and up to 48 if others stream it. Handlers that wrap
// listed tools with a fixed Info must come before this one.
//
// # Differences from Eino
//
// docs/differences.md lists them all, and a test keeps the list complete.
package toolsearch
