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
// # BM25F
//
// [BM25] scores the words of a request, not its substrings. A word is a stem in one
// case, without accents, in NFKC; scripts without spaces are cut into characters and
// pairs of neighbours; camelCase names give their parts and themselves. A word o of the
// request, unless it is a stop word, adds to a document d
//
//	max over the words v that stand for o of  weight(v, o) * min(1, idf(o)/idf(v)) * s(v, d)
//
// where s is BM25F over name, description, names, descriptions and values of parameters,
// and server. A word stands for itself with weight 1, and for less where it is another
// form, a synonym, something related, a translation between Chinese and English, a
// beginning or end, two words written as one or the other way round, and, where no
// document has o, a typing error. Never does it stand for its opposite, such as delete for
// undelete. A phrase that means something else than its words ("set up") adds what it
// means, and its words count little; so does an identifier of a parameter (due_date), as
// one word. What Chinese requests say for politeness is left out. Words in quotation marks and addresses count less: they
// are values. The score of a document is
//
//	sum over o * (1 + 0.6 * share of its name that is said) * sqrt(share of the request that it answers)
//
// both shares by rarity. So a score grows with the number and the rarity of the words that
// a document answers: one word that stands in its name is worth about 5 to 15, in its
// description 2 to 8, one that is only related, or a guess, up to about 3. A common word
// alone can make 5 to 10 of a document that does something else, so scores of different
// requests compare only roughly: a lower limit of 2 drops guesses and hardly an answer, one
// of 3 a quarter of the answers to what no document does and one right answer in a hundred,
// one of 4 more of both. A request for several things is also scored piece by piece, and
// answers to pieces that nothing answers yet come first; so do, among nearly equal
// scores, servers with fewest answers. What the package knows about words is in lists/,
// one file for each kind of knowledge.
//
// # Rules for both scorers
//
// An index is built once, never changes afterwards, keeps no reference to the
// slices it was built from, and may be used by any number of goroutines. The same
// documents and the same query give the same answer, bit by bit.
package keyword
