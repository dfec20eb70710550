// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package einolean is the root of einolean: lean context for agents built on CloudWeGo
// Eino. The middlewares are packages of their own; this one holds what they share, and
// says which package is for what.
//
// To make an agent leaner, put these into its Handlers:
//
//   - [github.com/einolean/einolean/toolsearch] hides tools until the model searches for
//     them. Start with toolsearch.New.
//   - [github.com/einolean/einolean/toolsearch/toolset] has sets of tools, and the sources of
//     those that come and go; [github.com/einolean/einolean/toolsearch/index] ranks tools.
//   - [github.com/einolean/einolean/reduction] truncates long results, clears old ones, and keeps
//     every original in a store, from which the model can read it back. Start with
//     reduction.New and store.NewDir.
//   - [github.com/einolean/einolean/store] has the stores, and what yours must do.
//   - [github.com/einolean/einolean/toolsearch/skills] hides skills in the same way.
//   - [github.com/einolean/einolean/programs] lets the model write programs that call tools.
//   - [github.com/einolean/einolean/toolerror] turns the errors of tools into answers.
//
// To see what they do:
//
//   - [github.com/einolean/einolean/window] records what is in the window of each model call,
//     and [github.com/einolean/einolean/window/inspect] shows it as a page or in a terminal.
//   - [Slog], [JSONL] and [Tee] receive the [Event] of both middlewares.
//   - [github.com/einolean/einolean/einoleantest] runs agents on scripted and recorded models
//     in tests, and [github.com/einolean/einolean/toolsearch/toolsearcheval] measures how well
//     searches find your tools.
//
// Modules of their own, because they bring dependencies: toolsearch/mcptools (the tools of
// MCP servers), programs/javascript (programs that call tools), reduction/jq (JSON queries
// for the read tool), reduction/blobbackend (stores in the cloud), window/windowotel
// (OpenTelemetry), adapters/claude (repairs of the Claude adapter), cmd/einolean (the command).
//
// An event's receiver is one function for both middlewares:
//
//	searchConfig, reduceConfig := toolsearch.Recommended(tools), reduction.Recommended(results)
//	searchConfig.OnEvent = einolean.Slog(slog.Default())
//	reduceConfig.OnEvent = searchConfig.OnEvent
//
// Events report changes and totals, never unchanged things. A run has at most four for
// each model call, two for each tool call, one for each user message for which tools are
// prefetched, one for each result that is replaced for the first time, one for each change
// of the catalog, and one for tools that could not be hidden. A wrong configuration is
// one or more [FieldError].
package einolean
