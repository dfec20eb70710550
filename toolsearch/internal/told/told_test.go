// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package told_test

// Laws of what a model is told, over random names.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/told"
)

// world has some tools, some of which a model may see.
type world struct {
	exist, may []string
	saw        []string
}

// change gives the world other tools.
func (w *world) change(r *rand.Rand, denies bool) {
	w.exist, w.may, w.saw = nil, nil, nil
	share := 1 + r.IntN(10)
	for i := range []int{4, 12, 70}[r.IntN(3)] {
		name := fmt.Sprintf([]string{"s%d__t%d", "s%d__a,b<%d>", "s%d__名%d\n"}[i%3], i%4, i)
		if r.IntN(10) >= share {
			continue
		}
		w.exist = append(w.exist, name)
		if denies && r.IntN(8) == 0 {
			continue
		}
		if w.may = append(w.may, name); r.IntN(3) == 0 {
			w.saw = append(w.saw, name)
		}
	}
}

// read are the names that texts leave a reader with; isWhole is false if some are only counted.
func read(texts []string) (names []string, isWhole bool) {
	isWhole = true
	for _, text := range texts {
		if list, ok := toolnames.Reminder(text); ok {
			for line := range strings.SplitSeq(strings.Trim(list, "\n"), "\n") {
				if strings.HasPrefix(line, "(") || strings.HasPrefix(line, "（") {
					isWhole = false
					continue
				}
				names = append(names, toolnames.Unescape(line))
			}
		}
		changes, _ := toolnames.Changed(text)
		for line := range strings.SplitSeq(changes, "\n") {
			for _, label := range []string{"added: ", "新增："} {
				if added, ok := strings.CutPrefix(line, label); ok {
					names = append(names, toolnames.OutOfLine(added)...)
				}
			}
			for _, label := range []string{"removed: ", "移除："} {
				if removed, ok := strings.CutPrefix(line, label); ok {
					gone := toolnames.OutOfLine(removed)
					names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(gone, name) })
				}
			}
			isWhole = isWhole && !strings.HasPrefix(line, "(") && !strings.HasPrefix(line, "（")
		}
	}
	return names, isWhole
}

// Whatever tools come and go: what a conversation was told names only tools that there are, or that
// nobody used when they went; it names every one, unless it counts some; it stays as written, unless the
// list is written anew; a new process that is handed the texts goes on as the old one would where they say everything; and
// the store is asked once for a list, and never again after a failure.
func TestATellingLeavesTheReaderWithTheToolsThatThereAre(t *testing.T) {
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for seed := range uint64(100) {
			tell(t, rand.New(rand.NewPCG(seed, 1)), fmt.Sprint("seed ", seed))
		}
	}
}

// setOf is tools of these names.
func setOf(names ...string) *hidden.Set {
	tools := make([]*hidden.Tool, len(names))
	for i, name := range names {
		tools[i] = &hidden.Tool{Info: &schema.ToolInfo{Name: name}}
	}
	return hidden.New(tools)
}

func tell(t *testing.T, r *rand.Rand, seed string) {
	var old told.Told
	var written []string
	w, denies, limit, fails := world{}, r.IntN(3) == 0, r.IntN(2)*(3+r.IntN(20)), r.IntN(2) == 0
	asked := map[string]int{}
	ever := map[string]bool{}
	for range 25 {
		if r.IntN(4) > 0 {
			w.change(r, denies)
		}
		for _, name := range w.may {
			ever[name] = true
		}
		call := told.Call{
			Tools: setOf(w.exist...), Names: func() []string { return w.may }, Saw: w.saw, Changes: true, Limit: limit, Calls: r.IntN(4) == 0,
			Store: func(path, text string) error {
				asked[path]++
				require.Equal(t, toolnames.Lines(w.may), text, seed)
				if fails {
					return errors.New("full")
				}
				return nil
			},
		}
		fresh, before := told.Told{}, written
		again, change, isNew := fresh.Next(call, written)
		list, said, anew := old.Next(call, written)
		switch {
		case anew:
			call.Changes = false
			whole, _, _ := old.Next(call, nil)
			require.Equal(t, whole, list, seed)
			if written = []string{list}; list == "" {
				written = nil
			}
		default:
			require.Equal(t, written[0], list, seed)
			if said != "" {
				written = append(written, said)
			}
		}
		if !isNew { // the order of names that are gone may be another
			require.Equal(t, []any{list, len(said), anew}, []any{again, len(change), isNew}, seed)
			mine, _ := read(written)
			its, _ := read(append(slices.Clone(before), change))
			require.Equal(t, slices.Sorted(slices.Values(mine)), slices.Sorted(slices.Values(its)), seed)
		}
		names, isWhole := read(written)
		for _, name := range names {
			require.True(t, slices.Contains(w.may, name) || ever[name] && !slices.Contains(w.exist, name), "%s: %q is named\n%q", seed, name, written)
		}
		if isWhole {
			for _, name := range w.may {
				require.True(t, slices.Contains(names, name), "%s: %q is not named\n%q", seed, name, written)
			}
		}
		if limit > 0 {
			require.LessOrEqual(t, len(names), limit, seed)
		}
		bytes := 0
		for i, text := range written {
			require.True(t, i == 0 && told.IsList(text, false) || i > 0 && told.IsChange(text, false), "%s: %q", seed, text)
			require.True(t, told.Holds(text), seed)
			if i > 0 {
				bytes += len(text)
			}
		}
		require.LessOrEqual(t, len(written), 33, seed)
		require.LessOrEqual(t, bytes, max(1000, len(list)/4), seed)
	}
	if fails {
		require.LessOrEqual(t, len(asked), 26, seed) // fresh ones ask too
	}
}

// A store is asked once for each list, and after a failure no more.
func TestTheStoreIsAskedOnce(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, fails := range []error{nil, errors.New("full")} {
		asked := 0
		call := told.Call{Names: func() []string { return names }, Limit: 1, Store: func(string, string) error { asked++; return fails }}
		var d told.Told
		for range 3 {
			list, _, isNew := d.Next(call, nil)
			require.True(t, isNew)
			require.Equal(t, fails == nil, strings.Contains(list, "catalog-"))
		}
		require.Equal(t, 1, asked)
		names = []string{"a", "b", "d"}
		d.Next(call, nil)
		require.Equal(t, map[bool]int{true: 2, false: 1}[fails == nil], asked)
	}
}

// Calls with the same tools read no names, where nobody is denied any.
func TestTheSameToolsAreReadOnce(t *testing.T) {
	read := 0
	call := told.Call{Tools: setOf("a"), Changes: true, Names: func() []string { read++; return []string{"a"} }, Whole: func() string { return told.List([]string{"a"}, "") }}
	var d told.Told
	list, _, isNew := d.Next(call, nil)
	require.True(t, isNew)
	for range 3 {
		again, change, isNew := d.Next(call, []string{list})
		require.Equal(t, []any{list, "", false}, []any{again, change, isNew})
	}
	require.Equal(t, 1, read)
}
