// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package keyword ranks short documents that describe tools: a name, a
// description, parameters. It knows nothing of agents, models or messages.
//
// # The specified score
//
// [Index] gives every document, for each term of a query, the highest of
//
//	10  a part of its name is the term
//	 5  a part of its name contains the term
//	 3  its name contains the term
//	 2  its description contains the term
//
// and adds these up over the terms; a term that occurs twice counts twice. Letter
// case is ignored. Parts of a name are what is left of it after cutting at
// underscores and at the humps of camelCase. A document that lacks a required
// term is left out, and so is one that scores 0. Results are ordered by score,
// highest first, and then by name.
//
// The score is defined on substrings, and substrings are what makes it slow when
// it is computed from the definition. A term has no white space in it, so wherever
// it occurs, it occurs inside one white-space-delimited word. The index therefore
// keeps each distinct word once, finds the words that contain a term through their
// 1-, 2- and 3-byte pieces, and reads off who uses those words. The answers are
// those of the definition, on every input, valid UTF-8 or not.
//
// # Rules for both scorers
//
// An index is built once, never changes afterwards, keeps no reference to the
// slices it was built from, and may be used by any number of goroutines. The same
// documents and the same query give the same answer, bit by bit.
package keyword
