// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package mcptools makes the tools of MCP servers the tools of an Eino agent, from the file
// that Claude Desktop, Cursor or VS Code already has. A key of that file that disables a server
// or restricts its tools is obeyed, or the server does not start:
//
//	config, err := mcptools.ReadConfig("mcp.json")
//	servers, err := mcptools.Open(ctx, config, mcptools.Options{})
//	defer servers.Close()
//	err = servers.Wait(ctx) // optional: until all are up, or ctx is done
//	searchConfig := toolsearch.Recommended(nil)
//	searchConfig.Source = servers
//	search, err := toolsearch.New(ctx, searchConfig)
//
// Servers run as child processes (stdio) or are reached over streamable HTTP or SSE. Each
// tool has its server's name and two underscores in front of its own. A name that a model's
// provider would refuse is changed: see HintsOf for the server's own.
//
// # Servers that change and fail
//
// A server's list of tools is read again when the server says that it changed, after each
// call of a tool that may have changed it, when it expires, and after every reconnect.
// Tools waits for a list that is being read, so a tool that a call just made available is
// there in the next model call. A server that dies is reconnected with growing pauses, and
// its tools stay meanwhile. A call whose connection broke is repeated only if that is
// harmless: if the server never received it, or declares the tool read-only or idempotent.
//
// The model reads every failure as an answer: errors of tools, errors of the protocol, a
// call that takes too long, a server that is gone. In a program it is the failure of the call.
// Only the end of the run's context is an error. Flaws in a tool's schema are repaired; a tool
// that cannot be read is left out and reported to OnEvent and in Status; the others stay.
// Without OnEvent, warnings are logged to slog.Default.
//
// # Users
//
// With Options.User, each user has separate sessions. A call runs in the session of the
// user of its context, whichever user's list the tool came from.
//
// # What a server is trusted with
//
// Names, descriptions, schemas, results and hints come from the server, and the model reads
// them. Connect only to servers that you would run as a program. A stdio server gets the
// few environment variables that programs need, and those of its Env. An HTTP server gets
// its headers; nothing is ever sent to another host, whatever a redirect says.
package mcptools
