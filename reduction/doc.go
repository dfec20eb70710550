// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package reduction keeps tool output from filling up an agent's context, without
// losing a byte of it. It is a middleware for CloudWeGo Eino's agents and a drop-in
// replacement for Eino's own package of the same name: change the import path.
//
// It works in two phases. Truncation looks at a result when a tool returns: one
// that is longer than MaxLengthForTrunc is stored, and the model sees its start,
// its end and where the rest is. Clearing looks at the conversation before a
// model call: when it has grown to MaxTokensForClear, the results of old rounds
// are stored, oldest first, and a line says where they are. A read tool brings
// back what is needed again.
//
//	tool returns a result                             before a model call
//	        |                                                 |
//	too long? -- no --> as it is               too many tokens? -- no --> as it is
//	        | yes                                             | yes
//	        v                                                 v
//	store all of it (in a stream: as it comes)    round by round, but not the last:
//	        |                                      store the result, unless it is
//	        v                                                 |
//	start + notice with path + end                 notice with path
//	        |                                                 |
//	        +------------> model <-- read tool <-- Backend <--+
//
// What holds, whatever tools, models and stores do:
//
//   - Nothing is lost. A path is shown only after everything was stored under it,
//     and no content is written over another one. Reading the path gives back the
//     exact bytes that the tool returned.
//   - It shrinks. What takes the place of a result is shorter, and within the
//     limit; otherwise the result stays.
//   - It is stable. A notice is never touched again, so that the prompt cache
//     holds. One that Eino's package wrote is understood.
//   - Calls keep their results, ids and order. Images, sounds, films, files and
//     search results stay where they are.
//   - What was read back is never stored again, and never cut.
//   - A store that fails, hangs, panics or keeps only a part loses the saving: a
//     result stays in the conversation; of a stream its head and its tail do, and
//     the notice says so.
//   - Messages, results and maps that are handed in are never changed, and one
//     middleware serves any number of runs at once.
//
// # Stores
//
// Every file system of Eino is a [Backend], since all that is needed is Write.
// [NewDirBackend] and [NewMemoryBackend] are ready-made and can do everything a
// Backend may be able to do:
//
//   - take a stream ([Creator]): a tool may stream any amount and only a few
//     hundred kilobytes are held. With a Backend that takes only whole content,
//     a stream that goes over the limit is held in memory until its end;
//   - be read ([Reader], [RangeReader]): what is there already is compared before
//     anything is written, so that processes which share a store, and models which
//     use call ids twice, cannot write over each other's results. Where a Backend
//     cannot be read, this is known only of what this process wrote and of what the
//     conversation shows, and a notice is believed if its path fits its call;
//   - forget ([Cleaner]): only its owner calls that.
//
// # Reading back
//
// Set ProvideReadTool, or give the agent the tool of [NewReadTool], or one of its
// own that ReadFileToolName names. A page of that tool is never cut when it returns:
// that would only be answered by reading again, so a read tool should bound its own
// answers, as the one here does. When it is old it is cleared like any other result,
// without a copy: the notice names the file that it was read from, where the same call
// finds it again.
//
// # Tokens
//
// The default estimate reads the bytes of each text once in a run and says about how
// many tokens o200k makes of them, within a tenth for code, prose, JSON, logs, sums
// and Chinese; it counts what Eino leaves out: schemas of tools and, at a fixed price,
// media. From the second answer on it is corrected by what the provider reports. A
// model call below the threshold costs microseconds and no memory.
//
// Differences from Eino's package are listed in docs/differences.md.
package reduction
