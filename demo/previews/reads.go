// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// shownBytes is the size of the previews beside which facts are read back.
const shownBytes = 4_000

// maxReads is how many calls are made for one fact.
const maxReads = 12

// finding is what became of the facts of one kind of result.
type finding struct {
	seen  int   // facts that the preview shows
	reads []int // for each of the others, the call that found it; maxReads+1 if none did
}

// readBack looks for every fact of the results that their previews do not show, in order
// of the kinds.
func readBack(ctx context.Context, results []result) (kinds []string, found map[string]*finding, err error) {
	found = make(map[string]*finding)
	for i, r := range results {
		if found[r.kind] == nil {
			found[r.kind] = new(finding)
			kinds = append(kinds, r.kind)
		}
		f := found[r.kind]
		files := store.NewMemory(0)
		file := fmt.Sprintf("/results/%d", i)
		if err := files.Write(ctx, &filesystem.WriteRequest{FilePath: file, Content: r.text}); err != nil {
			return nil, nil, err
		}
		read, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: files})
		if err != nil {
			return nil, nil, err
		}
		preview := reduction.PreviewByKind(reduction.PreviewRequest{Text: r.text, MaxBytes: shownBytes, Question: r.question})
		for _, fact := range r.facts {
			if shows(preview, fact) {
				f.seen++
				continue
			}
			n, err := readsFor(ctx, read, file, r.text, fact)
			if err != nil {
				return nil, nil, err
			}
			f.reads = append(f.reads, n)
		}
	}
	return kinds, found, nil
}

// readsFor is the call that finds a fact: the first is a query with the words around it,
// the second asks for more passages, those after it read page by page.
func readsFor(ctx context.Context, read tool.InvokableTool, file, text, fact string) (int, error) {
	query := encode(wordsAround(text, fact))
	for n := 1; n <= maxReads; n++ {
		arguments := fmt.Sprintf(`{"file_path":%q,"query":%s}`, file, query)
		switch {
		case n == 2:
			arguments = fmt.Sprintf(`{"file_path":%q,"query":%s,"limit":20}`, file, query)
		case n > 2:
			arguments = fmt.Sprintf(`{"file_path":%q,"byte_offset":%d,"byte_limit":20000}`, file, (n-3)*20_000)
		}
		answer, err := read.InvokableRun(ctx, arguments)
		if err != nil {
			return 0, err
		}
		if shows(answer, fact) {
			return n, nil
		}
	}
	return maxReads + 1, nil
}

const (
	// nearBytes is how far from a fact the words of a query are looked for.
	nearBytes = 200
	// nearWords is how many of them there are.
	nearWords = 8
)

var (
	tags  = regexp.MustCompile(`<[^>]*>`)
	words = regexp.MustCompile(`[\p{L}\p{N}]{3,}`)
)

// wordsAround are the words nearest to a fact, without those in it: what a model knows that
// looks for the fact.
func wordsAround(text, fact string) string {
	at, size := place(text, fact)
	before := tags.ReplaceAllString(text[max(0, at-nearBytes):at], " ")
	after := tags.ReplaceAllString(text[at+size:min(len(text), at+size+nearBytes)], " ")
	left, right := words.FindAllString(before, -1), words.FindAllString(after, -1)
	slices.Reverse(left)
	var query []string
	for i := range max(len(left), len(right)) {
		for _, side := range [][]string{left, right} {
			if i < len(side) && len(query) < nearWords && !strings.Contains(strings.ToLower(fact), strings.ToLower(side[i])) && !slices.Contains(query, side[i]) {
				query = append(query, short(side[i]))
			}
		}
	}
	return strings.Join(query, " ")
}

// short is a word of a text without spaces, cut, since queries rarely repeat a sentence.
func short(word string) string {
	if r, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Han, r) && utf8.RuneCountInString(word) > 6 {
		return string([]rune(word)[:6])
	}
	return word
}

// place is where a fact stands in a text, escaped or not. One with tags in it stands where
// its first word does.
func place(text, fact string) (at, size int) {
	for _, f := range []string{fact, escaped(fact), escaped(escaped(fact))} {
		if at := strings.Index(text, f); at >= 0 {
			return at, len(f)
		}
	}
	first, _, _ := strings.Cut(fact, " ")
	return max(0, strings.Index(text, first)), len(first)
}

// printReads writes the table of what is read back.
func printReads(w io.Writer, results []result) error {
	kinds, found, err := readBack(context.Background(), results)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Facts that a preview of %d bytes does not show, found by a query with the words around them: percent in 1 and 2 calls of the\nread tool, and of all facts with at most that many; and the calls that 95 of 100 facts need at most.\n\n", shownBytes)
	fmt.Fprintf(w, "%-16s %6s %6s   %-9s   %-14s %s\n", "kind", "facts", "unseen", "in 1, 2", "all: 0, 1, 2", "p95")
	all := new(finding)
	for _, kind := range kinds {
		f := found[kind]
		all.seen += f.seen
		all.reads = append(all.reads, f.reads...)
		f.print(w, kind)
	}
	all.print(w, "all")
	return nil
}

func (f *finding) print(w io.Writer, kind string) {
	total := f.seen + len(f.reads)
	percent := func(n, of int) string {
		if of == 0 {
			return "   -"
		}
		return fmt.Sprintf("%4.0f", 100*float64(n)/float64(of))
	}
	within := func(calls int) (n int) {
		for _, r := range f.reads {
			if r <= calls {
				n++
			}
		}
		return n
	}
	calls := append(make([]int, f.seen), f.reads...)
	slices.Sort(calls)
	fmt.Fprintf(w, "%-16s %6d %6d   %s %s   %s %s %s %3d\n", kind, total, len(f.reads), percent(within(1), len(f.reads)), percent(within(2), len(f.reads)),
		percent(f.seen, total), percent(f.seen+within(1), total), percent(f.seen+within(2), total), calls[(len(calls)*95-1)/100])
}
