// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package reduction keeps tool output from filling up an agent's context, without
// losing a byte of it. It is a middleware for CloudWeGo Eino's agents and a drop-in
// replacement for Eino's own package of the same name: change the import path.
//
//	config := reduction.Recommended(results)
//	config.WindowTokens = 120_000 // the model's window, less its answer
//	reduce, err := reduction.New(ctx, config)
//
// It works in two phases. Truncation checks each result when a tool returns: one longer
// than MaxLengthForTrunc is stored, and the model sees its start, its end and where the
// rest is. Clearing checks the conversation before a model call: once it has grown to
// MaxTokensForClear, the results of old rounds are stored, oldest first, and a line
// says where they are. The model reads back what it needs again through a read tool.
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
// Guarantees, whatever tools, models and stores do:
//
//   - Nothing is lost. A path is shown only after all content is stored under it, and
//     stored content is never overwritten. Reading the path gives back the exact bytes
//     that the tool returned; with CompactJSON, JSON that was cleared but not truncated has
//     the same value in fewer bytes.
//   - It shrinks. A replacement is shorter than the result, and within the limit;
//     otherwise the result stays.
//   - It is stable. A notice never changes, so the prompt cache holds. Notices of
//     Eino's package are recognized.
//   - Calls keep their results, ids and order. Images, audio, video, files and
//     search results stay where they are, unless ClearMedia, WindowTokens or Overflow is set.
//   - Content that was read back is not stored again, and not truncated when it returns, unless a
//     TruncHandler of the read tool does so. Pages become shorter only to fit WindowTokens, or the
//     limit that a refusal has shown.
//   - No tool receives a notice as an argument. With ResolveReferences, it receives the stored content;
//     otherwise the call does not run, and the model is told to pass the content itself.
//   - If a store fails, panics, stores only a part or makes no progress for StoreTimeout, the result
//     stays in the prompt, and a warning is logged. Only a stream that was already truncated keeps no
//     more than its start and end; its notice says so.
//   - The caller's messages, results and maps are never changed, and one middleware
//     serves any number of runs at once.
//
// # Stores
//
// Every file system of Eino is a [Backend], since Write is the only required method.
// [store.NewDir] and [store.NewMemory] are ready-made and have all optional
// abilities:
//
//   - take a stream ([store.Creator]): a tool may stream any amount, and only a few hundred
//     kilobytes are held. With a Backend that takes only whole content, a stream above
//     the limit is held in memory until its end;
//   - be read ([store.Reader], [store.RangeReader]): existing content is compared before anything
//     is written, so processes that share a store, and models that reuse call ids,
//     cannot overwrite each other's results. In a Backend that cannot be read, every
//     name ends in a hash of the content, and a notice is believed if its path fits
//     its call;
//   - delete unused files ([store.Cleaner]): only the store's owner calls that.
//
// # Reading back
//
// Set ProvideReadTool, or give the agent the tool of [NewReadTool], or another one that
// ReadFileToolName names. A page of that tool is not truncated when it returns, unless the tool
// has a TruncHandler: the model would only read it again. So a read tool should bound its own answers, as the
// one here does. An old page is cleared like any other result, but not stored: the
// notice names the file that it came from, where the same call finds it again.
//
// # Tokens
//
// The default estimate is within a tenth of o200k for code, prose, JSON, logs, hashes and
// Chinese, and counts what Eino leaves out: tool schemas and, at a fixed price, media. From
// the second answer on, the provider's own count corrects it.
//
// Lengths, and then a sample, tell whether a conversation is far from the threshold: no text
// is read. Near it each text is read once, at four nanoseconds a byte, and remembered for
// the process, so the next run on the same history does not read it again. With 1,000
// messages of 4 KB the first model call of a run takes less than half of the time that
// Eino's package takes, and a further one below the threshold microseconds and no memory.
//
// Differences from Eino's package are listed in docs/differences.md.
package reduction
