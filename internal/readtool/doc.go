// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package readtool is the tool with which a model reads stored results back.
//
// A result that was too long for the conversation is in a store, and the model knows
// its path. The model can read it page by page (by lines, or by bytes where a line is
// longer than a page), read its end, search it with a regular expression, or have its
// passages ranked for a few words. Every answer is bounded in lines and bytes, and
// gives the exact arguments for the next page.
//
// # Exactness
//
// A page says which bytes of the content it holds, and holds exactly those, as
// they were stored: following the pages from the first to the last yields the
// content byte for byte. A page neither begins nor ends inside a character; bytes
// that are not UTF-8 are passed on as they are, and what sends the answer to a
// model may replace them, which the page says. The content stands between two
// equal lines that do not occur in it, so nothing in it can be taken for the
// frame.
//
// # What it costs
//
// From a store that is a [leanctx.RangeReader] a page reads what it shows, and
// finding a line, a pattern or a passage streams through the content; lines of up to
// 8 MiB are searched as a whole. From one that is only a [leanctx.Reader] every answer
// reads the whole content into memory, as there is no other exact way to read it.
//
// # What a model cannot do
//
// It cannot make the tool fail: whatever the arguments are, the answer says what
// to do instead. The only error is that of a context that has ended. It cannot
// read what Options.Allowed does not allow, and never sees the text of a store's
// error.
//
// The flow: arguments → request; store → source; request and source → a page of
// lines, bytes, matches or passages → the text of the answer.
package readtool
