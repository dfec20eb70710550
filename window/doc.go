// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package window records what is in a model's context window, call by call: every part,
// why it is there, what was left out and where it is stored, how large the window would
// have been without einolean, and what changes cost in the provider's cache.
//
// A [Collector] has a handler that comes last in an agent's Handlers:
//
//	recorder := window.New(window.Config{})
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		Name:     "assistant",
//		Model:    chatModel,
//		Handlers: []adk.ChatModelAgentMiddleware{search, reduce, recorder.Handler()},
//	})
//
// To record searches with their scores as well, set OnEvent of both middlewares to
// [Collector.Event].
//
// Package inspect draws the page and the terminal view of a [Conversation].
// [Collector.WriteJSON] writes it for other programs, and Config.Log each call as it
// ends: "einolean view --follow" shows such a file while the agent runs.
//
// The collector changes nothing: it sees the request after all other handlers, and
// the answer as it passes. Chunks of a stream are passed on first, and never copied or
// read ahead. A stream that is closed before its end leaves its call unfinished.
//
// # What the figures mean
//
// Tokens are estimated from the text. If the provider reports its own count, the record
// has both, and the count calibrates the estimates of later calls. Without is computed:
// the tokens sent, minus the tools, messages and answers that only einolean needs, plus
// the definitions of hidden tools and the text removed from results. A call that only
// searched or read content back would not have been made.
//
// Texts are recorded only as far as Config.Texts says, and stay in memory until
// Config.MaxBytes is reached.
package window
