// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package bm25 ranks documents that describe tools by BM25F, with word lists: synonyms,
// phrases and translations.
//
// # Tokens
//
// It scores words rather than substrings. A token is the stem of a word in one case,
// without accents, in NFKC. Scripts without spaces give their characters and each two
// neighbours; camelCase names give their parts and the whole.
//
// # Score
//
// A word o of the query that is not a stop word adds to the score of a document d
//
//	max over the words v that stand for o of  weight(v, o) * min(1, idf(o)/idf(v)) * s(v, d)
//
// where s is BM25F over name, description, server, and the names, descriptions and
// values of parameters. A word stands for itself with weight 1, and with less for
// another form, a synonym, a related word, a translation between Chinese and English,
// a word with a common beginning or end, the two words that it joins, and, if no
// document has o, a correction of its spelling. A word never stands for its opposite,
// such as delete for undelete. A phrase with a meaning of its own ("set up") adds that
// meaning, and its words count little; an identifier of a parameter (due_date) counts
// as one word. Chinese politeness is ignored. Words in quotation marks, unless these hold
// the whole query, and addresses are probably values, and count less. The score of a document is
//
//	sum over o * (1 + 0.6 * share of its name in the query + 0.4 if the query names its server) *
//	  sqrt(share of the query that it answers)
//
// with both shares weighted by idf. So it grows with the number and the rarity of the
// words that a document answers: one word in the name adds about 5 to 15, one in the
// description 2 to 8, a related word or a guess up to about 3. A common word alone can
// give an unrelated document 5 to 10, so scores of different queries compare only
// roughly. A lower limit of 2 drops guesses and hardly any right answer; 3 drops a
// quarter of the answers to queries that no document answers, and one right answer in
// a hundred; 4 drops more of both.
//
// # Order
//
// A query of several clauses is also scored clause by clause, and answers to clauses
// that are still unanswered come first, and so do, a little, those to words that are.
// Among nearly equal scores, so do documents of the servers with the fewest answers. If
// one of the first answers requires an id, the document of its server that finds it is
// among the first five. Among the first five, an answer that does what the request asks for (reads,
// creates, updates or deletes; package operations) stands before one that does something else and has a
// similar score, one whose name has the direction of the request (to_roman) before one that is the same but for
// the opposite direction, and a deprecated tool behind others with similar scores and behind its replacement.
//
// Package analysis makes words of text and knows what stands for them, and package
// postings where documents have them; this package parses queries and scores documents. The
// word lists are in analysis/lists, one file for each kind. An index without them knows only stop words.
package bm25
