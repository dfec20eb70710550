// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package keyword ranks short documents that describe tools: a name, a
// description, parameters. It knows nothing of agents, models or messages.
//
// # The specified score
//
// For each term of a query, [Index] gives a document the highest of
//
//	10  a part of its name equals the term
//	 5  a part of its name contains the term
//	 3  its name contains the term
//	 2  its description contains the term
//
// and adds these up over the terms; a term that occurs twice counts twice. Letter
// case is ignored. The parts of a name are the pieces between underscores and
// between the words of camelCase. A document that lacks a required term is left
// out, and so is one that scores 0. Results are ordered by score, highest first,
// and then by name.
//
// The score is defined on substrings, which is slow to compute from the definition.
// A term has no white space, so wherever it occurs, it occurs inside one
// white-space-delimited word. The index therefore keeps each distinct word once,
// finds the words that contain a term through their pieces of one, two and three
// bytes, and looks up which documents use these words. The answers are those of the
// definition on every input, valid UTF-8 or not.
//
// # Other packages
//
// Package bm25 scores the words of a text rather than its substrings, and package
// names corrects the names of documents.
//
// # Rules for both scorers
//
// An index is built once, never changes afterwards, keeps no reference to the
// slices it was built from, and is safe for concurrent use. The same documents and
// the same query give the same answer, bit by bit.
package keyword
