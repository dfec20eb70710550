// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/keyword/operations"
)

// maxTerms is the most terms of a query. The rest of it is ignored.
const maxTerms = 256

// queryParser parses one text after another, and keeps its memory.
type queryParser struct {
	*postings.Finder
	x     *postings.View
	l     *analysis.Lexicon
	typos int // number of words checked for typing errors

	source
	parts
	phrasing
	cursor
	output
	segmenter analysis.Segmenter
	letters   []byte // of a phrase
}

// source is the text, and how it is read.
type source struct {
	text     string
	language analysis.Language // the text's
	reading  reading
	spans    []span
	keepAll  bool // keep stop words, because there is nothing else
}

// parts are the clauses of the text.
type parts struct {
	ends      []int     // of the clauses
	clause    int       // the current one
	inParts   [][]int   // terms of the clauses, also of empty ones
	clauses   [][]int   // as long as the query
	foreignIn []float64 // the importance of a foreign word in each of them
}

// phrasing is the words of the text, and the phrases among them.
type phrasing struct {
	words   []stemmedWord
	phrases map[int]phraseMatch // by their start
	ignored map[int]bool        // starts of words that a phrase ignores
	prose   bool                // most words begin with a small letter
}

// cursor is where in the text the parser is.
type cursor struct {
	word        analysis.Run // the current one
	before      analysis.Run // the previous one, if it is a word that counts
	acrossWords bool         // the current two characters belong to different words
	requiredEnd int          // end of the field that is marked as required
}

// output is what was parsed so far.
type output struct {
	parsed parsedQuery
	seen   map[string]int // text of a term -> its position
	tokens []uint32       // of the requirements, as long as the query
}

type stemmedWord struct {
	analysis.Run
	stem string
}

// phraseMatch is a phrase in a query. Other words may precede its last one.
type phraseMatch struct {
	*analysis.Phrase
	first []stemmedWord
	last  stemmedWord
}

// newQueryParser returns a parser of queries to the index of f.
func newQueryParser(f *postings.Finder) queryParser {
	return queryParser{
		Finder:   f,
		phrasing: phrasing{phrases: make(map[int]phraseMatch), ignored: make(map[int]bool)},
		output:   output{seen: make(map[string]int)},
	}
}

// forget drops the text.
func (q *queryParser) forget() {
	clear(q.phrases)
	clear(q.ignored)
	clear(q.seen)
	clear(q.words)
	terms := q.parsed.terms
	for i := range terms {
		terms[i] = term{expansions: terms[i].expansions[:0]}
	}
	q.segmenter.Forget()
	q.text, q.language, q.keepAll, q.typos = "", "", false, 0
	q.word, q.before, q.words = analysis.Run{}, analysis.Run{}, q.words[:0]
	q.Finder.Forget()
	q.reset()
}

// reset drops what was parsed.
func (q *queryParser) reset() {
	q.parsed = parsedQuery{terms: q.parsed.terms[:0], required: q.parsed.required[:0], named: q.parsed.named[:0]}
	q.tokens = q.tokens[:0]
}

func (q *queryParser) isRequired(word analysis.Run) bool { return word.Start < q.requiredEnd }

// addTerm adds a term with its written form in the query, and calls fill for it, or finds
// it if the query has it already. It returns its position, or -1 if there are maxTerms.
func (q *queryParser) addTerm(text, written string, weight float64, fill func(*term)) int {
	at, ok := q.seen[text]
	if !ok {
		if len(q.parsed.terms) == maxTerms {
			return -1
		}
		at = len(q.parsed.terms)
		q.seen[text] = at
		w := term{text: text, source: written, weight: weight, significance: significant}
		if terms := q.parsed.terms; at < cap(terms) { // the memory of one of an earlier query
			w.expansions = terms[:at+1][at].expansions[:0]
		}
		q.parsed.terms = append(q.parsed.terms, w)
		fill(&q.parsed.terms[at])
	}
	w := &q.parsed.terms[at]
	w.weight = max(w.weight, weight)
	w.required = w.required || q.isRequired(q.word)
	if clause := &q.inParts[q.clause]; len(q.ends) > 1 && !slices.Contains(*clause, at) {
		*clause = append(*clause, at) // a single clause is the whole
	}
	return at
}

func (q *queryParser) addAll(w *term, tokens []string, weight float64, relation string) {
	for _, token := range tokens {
		if id, ok := q.x.Find(token); ok {
			w.expansions = append(w.expansions, expansion{token: id, weight: weight, relation: relation})
		}
	}
}

// The limits for a query. The rest of it is ignored.
const (
	maxQueryBytes = 32 << 10
	maxRequired   = 32 // further requirements are ordinary terms
	maxNamed      = 64 // fields that are looked up as names
)

// parse parses text. The parser owns the result.
func (q *queryParser) parse(text string) *parsedQuery {
	q.text = analysis.Normalize(names.Clip(text, maxQueryBytes))
	q.readLanguage()
	q.spans, q.ends = appendValueSpans(q.spans[:0], q.text), appendClauseEnds(q.ends[:0], q.text)
	q.findPhrases()
	q.parseRuns()
	if len(q.parsed.terms) == 0 {
		q.keepAll = true
		q.parseRuns()
	}
	q.findClauses()
	q.findNamed(text)
	q.parsed.caution = q.caution()
	q.parsed.needsWords = q.x.Language() == analysis.English
	q.parsed.operation = operations.OfRequest(q.eachClause)
	return &q.parsed
}

// readLanguage finds out in which language the text is, and how it is read.
func (q *queryParser) readLanguage() {
	other := q.x.Language()
	language := analysis.LanguageOfNormalized(q.text, other)
	if other == "" && q.x.Unspaced == 0 {
		other = analysis.English // names, and hardly a word besides
	}
	q.language, q.reading = language, plain
	switch {
	case language == "" || other == "":
	case language == other:
		if language.IsUnspaced() {
			q.reading = unspaced
		}
	case language == analysis.Chinese && other == analysis.English:
		q.reading = fromChinese
	case language == analysis.English && other == analysis.Chinese:
		q.reading = intoChinese
	default:
		q.reading = unread
	}
}

// caution is what is added to the logarithm of the odds of an answer, for how the query was read. Words that
// needed no translation need no caution.
func (q *queryParser) caution() float64 {
	switch {
	case q.reading == fromChinese:
		return translationCaution * q.shareUnspaced()
	case q.reading == intoChinese:
		return translationCaution
	case q.reading == unspaced && q.language == analysis.Japanese:
		return inflection
	}
	return 0
}

// shareUnspaced returns the share of the query that is written without spaces.
func (q *queryParser) shareUnspaced() float64 {
	unspaced, all := 0.0, 0.0
	for i := range q.parsed.terms {
		w := &q.parsed.terms[i]
		importance := float64(w.importance * w.weight)
		all += importance
		if analysis.StartsUnspaced(w.source) {
			unspaced += importance
		}
	}
	return unspaced / max(all, 1e-9)
}

// eachClause visits the texts between the ends of clauses.
func (q *queryParser) eachClause(visit func(text string)) {
	start := 0
	for _, end := range q.ends {
		visit(q.text[start:end])
		start = end
	}
}

// findClauses collects the clauses that have terms.
func (q *queryParser) findClauses() {
	clauses, foreign := q.clauses[:0], q.foreignIn[:0]
	for i, terms := range q.inParts {
		if len(terms) > 0 {
			clauses, foreign = append(clauses, terms), append(foreign, q.foreignIn[i])
		}
	}
	q.clauses = clauses
	if len(clauses) > 1 {
		q.parsed.clauses, q.parsed.foreignIn = clauses, foreign
	}
}

// findNamed finds the documents whose names are white-space-delimited fields of text. A
// name of one word does not count, since the word may mean something else.
func (q *queryParser) findNamed(text string) {
	looked := 0
	for field := range strings.FieldsSeq(names.Clip(text, maxQueryBytes)) {
		if looked++; looked > maxNamed {
			break
		}
		doc, ok := q.x.LookupOrdinal(strings.Trim(field, "+\"'`.,;:()[]!?"))
		if !ok {
			continue
		}
		if _, tokens := q.x.NameOf(doc); len(tokens) > 1 {
			q.parsed.named = append(q.parsed.named, doc)
		}
	}
}

func (q *queryParser) parseRuns() {
	clear(q.seen)
	q.reset()
	q.inParts, q.foreignIn = postings.Grown(q.inParts, len(q.ends)), postings.Grown(q.foreignIn, len(q.ends))
	for i := range q.inParts {
		q.inParts[i], q.foreignIn[i] = q.inParts[i][:0], 0
	}
	q.clause, q.before, q.requiredEnd = 0, analysis.Run{}, 0
	span := 0
	analysis.EachRun(q.text, func(word analysis.Run) {
		for word.Start >= q.ends[q.clause] {
			q.clause++
		}
		for span < len(q.spans) && q.spans[span].end <= word.Start {
			span++
		}
		weight := 1.0
		if span < len(q.spans) && q.spans[span].start <= word.Start {
			weight = q.spans[span].weight
		}
		q.word = word
		q.markRequired(word)
		if word.Unspaced {
			q.parseUnspaced(word, weight)
			q.before = analysis.Run{}
		} else {
			q.parseWord(word, weight)
		}
	})
}

// markRequired marks the field of a word as required if a '+' precedes it. Before a
// digit, the '+' is part of a number.
func (q *queryParser) markRequired(word analysis.Run) {
	mark := word.Start
	for mark > 0 && q.text[mark-1] == '+' {
		mark--
	}
	first, _ := utf8.DecodeRuneInString(word.Text)
	if mark == word.Start || !startsField(q.text, mark) || first >= '0' && first <= '9' {
		return
	}
	q.requiredEnd = word.Start + fieldLength(q.text[word.Start:])
}

// parseWord adds the parts of a word, and the whole of it.
func (q *queryParser) parseWord(word analysis.Run, weight float64) {
	if len(word.Text) > analysis.MaxWordBytes {
		q.before = analysis.Run{}
		return
	}
	q.parsePhrase(word, weight)
	q.parseIdentifier(word, weight)
	if q.ignored[word.Start] {
		weight *= ignoredWeight
	}
	parts, counting := 0, 0
	analysis.EachPart(word.Text, func(part string) {
		parts++
		if q.addStem(part, weight, q.isRequired(word)) {
			counting++
		}
	})
	if counting == 0 {
		q.before = analysis.Run{}
		return
	}
	if parts > 1 {
		q.addStem(word.Text, weight, false)
		if stem, ok := q.FindStem(word.Text, ""); ok {
			analysis.EachPart(word.Text, func(part string) { q.standForHalf(stem, part) })
		}
	}
	q.join(word)
	q.before = word
}

// parseIdentifier adds the identifier that starts with a word, if a parameter has it.
func (q *queryParser) parseIdentifier(word analysis.Run, weight float64) {
	if word.Start > 0 && q.text[word.Start-1] == '_' {
		return
	}
	id := strings.ToLower(analysis.LeadingIdentifier(q.text[word.Start:]))
	if _, ok := q.x.Find(id); ok {
		q.addTerm(id, id, weight, q.expand)
	}
}

// addStem adds a word by its stem, unless it is a stop word. It reports whether the query
// now has it.
func (q *queryParser) addStem(word string, weight float64, required bool) bool {
	stem := q.Stem(word)
	empty := q.isStop(stem, word) && !q.isImperative(word) || len(stem) == 1 && 'a' <= stem[0] && stem[0] <= 'z'
	if empty && !required && !q.keepAll {
		return false
	}
	at := q.addTerm(stem, word, weight, q.expand)
	if required && at >= 0 {
		q.require(at)
	}
	return at >= 0
}

// isStop reports whether a token is a stop word, or its word a function word of the text's language.
func (q *queryParser) isStop(token, word string) bool {
	return q.l.IsStop(token) || q.language.HasFunctionWord(word)
}

// parseUnspaced adds the characters of a run without spaces, each two neighbours, and
// what the words among them mean.
func (q *queryParser) parseUnspaced(word analysis.Run, weight float64) {
	s := &q.segmenter
	s.CutRun(q.l, word.Text)
	if q.keepAll {
		q.addCharacters(word.Text, 0, weight)
	} else {
		s.EachRest(func(part string, start int) { q.addCharacters(part, start, weight) })
	}
	s.EachWord(func(part string) { q.translate(part, weight) })
	if q.isRequired(word) {
		q.requireUnspaced(s)
	}
}

// addCharacters adds the characters of the part of a run that starts there, and each two neighbours.
func (q *queryParser) addCharacters(text string, start int, weight float64) {
	isSingle, end := utf8.RuneCountInString(text) == 1, start
	analysis.EachCharacter(text, func(token string) {
		_, size := utf8.DecodeRuneInString(token)
		if size == len(token) {
			end += size
		}
		q.acrossWords = size < len(token) && q.segmenter.IsAcross(end-len(token), end)
		if (q.isStop(token, token) || analysis.SaysLittle(token)) && !q.keepAll {
			return
		}
		if size < len(token) || isSingle {
			q.addTerm(token, token, weight, q.expand)
			return
		}
		q.addTerm(token, token, weight*singleWeight, func(w *term) {
			w.half = true
			q.expand(w)
		})
	})
}

// require makes a term required: the word itself, one that begins like it, or its
// correction must match. A related word is not enough, unless there is nothing else.
func (q *queryParser) require(at int) {
	q.addRequired(func(tokens []uint32) []uint32 {
		all := q.parsed.terms[at].expansions
		start := len(tokens)
		for _, m := range all {
			switch m.relation {
			case equalTo, beginsLike, looksLike, partOf, joinedIn, translationOf:
				tokens = append(tokens, m.token)
			}
		}
		if len(tokens) == start {
			for _, m := range all {
				tokens = append(tokens, m.token)
			}
		}
		return tokens
	})
}

// addRequired adds a requirement, whose tokens add appends.
func (q *queryParser) addRequired(add func(tokens []uint32) []uint32) {
	if len(q.parsed.required) == maxRequired {
		return
	}
	start := len(q.tokens)
	q.tokens = add(q.tokens)
	q.parsed.required = append(q.parsed.required, slices.Clip(q.tokens[start:]))
}

// requireUnspaced makes every word of a run without spaces required, in its own or
// another language, or if no word of it is known, any two neighbouring characters.
func (q *queryParser) requireUnspaced(s *analysis.Segmenter) {
	isUsed := false
	s.EachWord(func(word string) {
		isUsed = true
		q.addRequired(func(tokens []uint32) []uint32 { return q.appendTokensOf(tokens, word) })
	})
	if !isUsed {
		q.addRequired(func(tokens []uint32) []uint32 { return q.appendTokensOf(tokens, q.word.Text) })
	}
}

// appendTokensOf appends the tokens by which a word without spaces can be found: its pairs
// of characters and its meaning, or if there are none, its characters.
func (q *queryParser) appendTokensOf(tokens []uint32, word string) []uint32 {
	start := len(tokens)
	add := func(pairs bool) {
		analysis.EachCharacter(word, func(token string) {
			if id, ok := q.x.Find(token); ok && len(token) > 4 == pairs {
				tokens = append(tokens, id)
			}
		})
	}
	add(true)
	for _, alternatives := range q.l.Meanings(word) {
		for _, token := range alternatives {
			if id, ok := q.x.Find(token); ok {
				tokens = append(tokens, id)
				break // the first is the meaning, the others are close to it
			}
		}
	}
	if len(tokens) == start {
		add(false)
	}
	return tokens
}

const (
	maxPhraseGap = 4 // other words inside an open phrase
	// weightMeaning is the weight of the first meaning of a phrase, and
	// weightOtherMeaning that of each of the others.
	weightMeaning      = 0.8
	weightOtherMeaning = 0.6
	// ignoredWeight is the weight of a word that a phrase ignores: to set up a meeting is
	// not to set anything.
	ignoredWeight = 0.2
)

func (q *queryParser) findPhrases() {
	analysis.EachRun(q.text, func(word analysis.Run) {
		if len(word.Text) <= analysis.MaxWordBytes {
			q.words = append(q.words, stemmedWord{Run: word, stem: q.Stem(word.Text)})
		}
	})
	words := q.words
	q.prose = isProse(words)
	for i := range words {
		best := q.bestPhrase(words[i:])
		if best.Phrase == nil {
			continue
		}
		q.phrases[words[i].Start] = best
		for _, w := range best.first {
			q.ignored[w.Start] = q.ignored[w.Start] || best.Ignored
		}
		q.ignored[best.last.Start] = q.ignored[best.last.Start] || best.Ignored
	}
}

// isProse reports whether at most half of the words begin with a capital letter.
func isProse(words []stemmedWord) bool {
	capitals := 0
	for _, w := range words {
		if first, _ := utf8.DecodeRuneInString(w.Text); unicode.IsUpper(first) {
			capitals++
		}
	}
	return 2*capitals <= len(words)
}

// bestPhrase returns the phrase that the words start with: of several, the one with the
// most words, and among those the one that ends first.
func (q *queryParser) bestPhrase(words []stemmedWord) (best phraseMatch) {
	if q.ignored[words[0].Start] {
		return best
	}
	candidates := q.l.Phrases(words[0].stem)
	for n := range candidates {
		p := &candidates[n]
		m, ok := q.matchPhrase(p, words)
		if !ok || !q.KnowsAny(p.Meanings) {
			continue
		}
		if best.Phrase == nil || cmp.Or(cmp.Compare(len(m.first), len(best.first)), cmp.Compare(best.last.Start, m.last.Start)) > 0 {
			best = m
		}
	}
	return best
}

// matchPhrase returns p in the given words, if they start with it.
func (q *queryParser) matchPhrase(p *analysis.Phrase, words []stemmedWord) (m phraseMatch, ok bool) {
	last := len(p.Words) - 1
	if len(words) <= last {
		return m, false
	}
	for i, stem := range p.Words[:last] {
		if words[i].stem != stem || i > 0 && !q.adjoin(words[i-1], words[i]) {
			return m, false
		}
	}
	gap := 0
	if p.Open {
		gap = maxPhraseGap
	}
	for i := last; i < len(words) && i <= last+gap && q.adjoin(words[i-1], words[i]); i++ {
		if words[i].stem == p.Words[last] {
			return phraseMatch{Phrase: p, first: words[:last], last: words[i]}, true
		}
	}
	return m, false
}

// adjoin reports whether only white space, a hyphen or an apostrophe separates two runs.
func (q *queryParser) adjoin(a, b stemmedWord) bool {
	separator := q.text[a.Start+len(a.Text) : b.Start]
	return separator == "-" || strings.TrimSpace(separator) == "" || strings.HasPrefix(separator, "'")
}

// parsePhrase adds the meaning of the phrase that starts with a word.
func (q *queryParser) parsePhrase(word analysis.Run, weight float64) {
	p, ok := q.phrases[word.Start]
	if !ok {
		return
	}
	q.addTerm(p.Text, q.phraseText(p), weight, func(w *term) {
		q.addAll(w, p.Meanings[:1], weightMeaning, "meaning of")
		q.addAll(w, p.Meanings[1:], weightOtherMeaning, "meaning of")
		for _, m := range w.expansions {
			w.importance = max(w.importance, q.IDF(m.token)*m.weight)
		}
		w.significance = q.significanceOfPhrase(p)
	})
}

// phraseText returns the words of the phrase as they are in the query.
func (q *queryParser) phraseText(m phraseMatch) string {
	text := q.letters[:0]
	for _, w := range m.first {
		text = append(append(text, w.Text...), ' ')
	}
	q.letters = append(text, m.last.Text...)
	return q.Keep(q.letters)
}

// The weights of tokens that stand for a word, relative to the word itself.
const (
	weightForm        = 0.8
	weightEquivalent  = 0.6
	weightSynonym     = 0.2
	weightRelated     = 0.3
	weightChinese     = 1   // for an English word
	weightTranslation = 0.9 // for a Chinese word that no document uses
	weightAlsoUsed    = 0.5 // for a Chinese word that documents use as well
	weightAffix       = 0.4 // times the share of the longer word
	weightTypo        = 0.7 // times the closeness
	weightJoined      = 0.8 // two words written as one
	weightSplit       = 0.7 // one word written as two
)

const (
	// unknownFactor is for the synonyms and related words of a word that no document uses:
	// nothing else is known about it.
	unknownFactor = 1.5
	// unknownCharacters is the importance of characters that no document has: most pairs
	// of neighbours are not words, and those that are may be translated.
	unknownCharacters = 0.1
)

// expand sets the importance of a term that is written like a token, and the tokens that
// stand for it.
func (q *queryParser) expand(w *term) {
	token, known := q.x.Find(w.text)
	if known {
		w.importance = q.IDF(token)
		w.expansions = append(w.expansions, expansion{token: token, weight: 1, relation: equalTo})
	} else {
		w.importance = float64(float32(postings.IDF(0, q.x.Len()))) / 2
		if analysis.StartsUnspaced(w.text) {
			w.importance *= unknownCharacters
		}
	}
	w.significance = q.significanceOf(w.source, known)
	q.addAll(w, q.l.Forms(w.text), weightForm, "form of")
	q.addAll(w, q.l.Equivalents(w.text), weightEquivalent, "same as")
	q.addAll(w, q.l.Chinese(w.text), weightChinese, translationOf)
	loose := 1.0
	if !known {
		loose = unknownFactor
	}
	q.addAll(w, q.l.Synonyms(w.text), weightSynonym*loose, synonymOf)
	q.addAll(w, q.l.Related(w.text), weightRelated*loose, relatedTo)
	q.addAffixes(w)
	if !known {
		q.expandUnknown(w)
		return
	}
	// A query with a common word does not ask for a rare one.
	for i := range w.expansions {
		if idf := q.IDF(w.expansions[i].token); idf > w.importance {
			w.expansions[i].weight *= w.importance / idf
		}
	}
}

// addAffixes adds the words of names that begin or end like a term.
func (q *queryParser) addAffixes(w *term) {
	for _, found := range q.AffixesOf(w.text) {
		relation := beginsLike
		if found.AtEnd {
			relation = endsLike
		}
		w.expansions = append(w.expansions, expansion{token: found.Token, weight: weightAffix * found.Ratio, relation: relation})
	}
}

// maxTypos is the number of unknown words that are checked for typing errors.
const maxTypos = 32

// expandUnknown guesses the meaning of a word that no document uses.
func (q *queryParser) expandUnknown(w *term) {
	if left, right, ok := q.Split(strings.ToLower(w.source)); ok {
		for _, half := range [...]uint32{left, right} {
			w.expansions = append(w.expansions, expansion{token: half, weight: weightSplit, relation: partOf})
		}
		return
	}
	if q.typos == maxTypos {
		return
	}
	q.typos++
	for _, correction := range q.CorrectionsOf(w.text) {
		w.expansions = append(w.expansions, expansion{token: correction.Token,
			weight: weightTypo * correction.Closeness, relation: looksLike})
	}
}

// join makes the word that this word and the previous one form together stand for each
// of them.
func (q *queryParser) join(word analysis.Run) {
	end := q.before.Start + len(q.before.Text)
	if q.before.Text == "" || word.Start != end+1 || len(word.Text)+len(q.before.Text) > analysis.MaxWordBytes {
		return
	}
	id, ok := q.FindStem(q.before.Text, word.Text)
	if !ok {
		return
	}
	q.standForHalf(id, q.before.Text)
	q.standForHalf(id, word.Text)
}

// standForHalf makes a token stand for a word that is a part of it.
func (q *queryParser) standForHalf(token uint32, half string) {
	at, ok := q.seen[q.Stem(half)]
	if !ok {
		return
	}
	w := &q.parsed.terms[at]
	w.expansions = slices.DeleteFunc(w.expansions, func(m expansion) bool { return m.token == token && m.weight <= weightJoined })
	if !slices.ContainsFunc(w.expansions, func(m expansion) bool { return m.token == token }) {
		w.expansions = append(w.expansions, expansion{token: token, weight: weightJoined, relation: joinedIn})
	}
}

// translate adds the meaning of a Chinese word, with one term for each word of the
// translation.
func (q *queryParser) translate(word string, weight float64) {
	weight *= weightTranslation
	if q.IsUsed(word) {
		weight *= weightAlsoUsed / weightTranslation
	}
	q.noteForeign(word)
	for _, alternatives := range q.l.Meanings(word) {
		if !q.KnowsAny(alternatives) {
			continue
		}
		q.addTerm(q.KeepJoined(word, "/", alternatives[0]), word, weight, func(w *term) {
			w.significance = q.significanceOfMeaning(word, alternatives[0])
			q.addAll(w, alternatives, 1, translationOf)
			for _, m := range w.expansions {
				w.importance = max(w.importance, q.IDF(m.token))
			}
			q.addAll(w, q.l.Equivalents(alternatives[0]), weightEquivalent, "same as")
			q.addAll(w, q.l.Synonyms(alternatives[0]), weightSynonym, synonymOf)
			q.addAll(w, q.l.Related(alternatives[0]), weightSynonym, relatedTo)
		})
	}
}

// foreignWord is the weight of a word without spaces that no document has in any language,
// relative to the rarest word that one has.
const foreignWord = 1.5

// significanceOf returns the significance of a word of the query.
func (q *queryParser) significanceOf(word string, known bool) significance {
	switch lower := strings.ToLower(word); {
	case q.l.IsIncidental(lower) || strings.ContainsAny(lower, "0123456789"):
		return incidental
	case analysis.StartsUnspaced(word):
		return q.reading.characters(word, known, q.acrossWords, keyword.RarestIDF(q.x.Len()))
	case q.isProperName(word):
		return properName
	case q.l.IsCommonVerb(lower):
		return commonVerb
	case !known:
		return q.reading.unknown(q.reading == intoChinese && len(q.l.Chinese(q.Stem(word))) > 0)
	}
	return significant
}

// significanceOfMeaning returns the significance of a word without spaces that stands for an
// English one.
func (q *queryParser) significanceOfMeaning(word, english string) significance {
	switch {
	case q.l.IsIncidental(word), q.l.IsIncidental(english):
		return incidental
	case q.l.IsCommonVerb(english):
		return commonVerb
	}
	return significant
}

// significanceOfPhrase is that of the meaning that says least: "look for" says as little as
// "find", though it may mean "search".
func (q *queryParser) significanceOfPhrase(p phraseMatch) significance {
	if slices.ContainsFunc(p.Meanings, q.l.IsIncidental) {
		return incidental
	}
	return q.significanceOfMeaning("", p.Meanings[0])
}

// isProperName reports whether the current word, or a part of it, is written like a name:
// with a capital letter in the middle of a sentence of small ones.
func (q *queryParser) isProperName(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	second, _ := utf8.DecodeRuneInString(word[size:])
	if !unicode.IsUpper(first) || !unicode.IsLower(second) || !q.prose {
		return false
	}
	before := strings.TrimRight(q.text[:q.word.Start], " \t")
	return before != "" && strings.IndexByte(".?!:\n\r\"", before[len(before)-1]) < 0
}

// noteForeign notes a word without spaces if it is known, says what the query is about,
// and no document has it in any language. Several such words count once: the rest of a long request
// says under what circumstances something is wanted, which no document needs to have.
func (q *queryParser) noteForeign(word string) {
	if q.reading == unread || q.reading == unspaced || utf8.RuneCountInString(word) == 1 ||
		q.l.IsIncidental(word) || q.IsUsed(word) ||
		slices.ContainsFunc(q.l.Meanings(word), q.KnowsAny) {
		return
	}
	importance := float64(foreignWord * keyword.RarestIDF(q.x.Len()))
	q.parsed.foreign, q.foreignIn[q.clause] = importance, importance
}
