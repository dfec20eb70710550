// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package readtool is the tool with which a model reads stored results back.
//
// A result that was too long for the conversation lies in a store, and the model
// knows its path. It can read the result page by page (by lines, or by bytes
// where a line is longer than a page), from its end, find a regular expression in
// it, or have passages ranked for a few words. Every answer is bounded by lines
// and bytes, and names the exact arguments of the next page.
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
// From a store that is a [backend.RangeReader] a page takes what it shows, and
// finding a line, a pattern or a passage streams through the content; a pattern is
// looked for in lines of up to 8 MiB as a whole. From one that is only a [backend.Reader] every answer takes the whole
// content into memory, as there is no other exact way to read it.
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
