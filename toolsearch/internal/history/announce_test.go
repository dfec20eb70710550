// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
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
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// world has some tools, some of which a model may see.
type world struct {
	names   []string // of all tools
	allowed []string // of those that the model may see
	visible []string // of those that the last model call showed
}

// change gives the world other tools.
func (w *world) change(r *rand.Rand, denies bool) {
	w.names, w.allowed, w.visible = nil, nil, nil
	share := 1 + r.IntN(10)
	for i := range []int{4, 12, 70}[r.IntN(3)] {
		name := fmt.Sprintf([]string{"s%d__t%d", "s%d__a,b<%d>", "s%d__名%d\n"}[i%3], i%4, i)
		if r.IntN(10) >= share {
			continue
		}
		w.names = append(w.names, name)
		if denies && r.IntN(8) == 0 {
			continue
		}
		if w.allowed = append(w.allowed, name); r.IntN(3) == 0 {
			w.visible = append(w.visible, name)
		}
	}
}

// readNames returns the names that a reader of the texts knows; isWhole is false if some are only counted.
func readNames(texts []string) (names []string, isWhole bool) {
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
		changes, _ := toolnames.Changes(text)
		for line := range strings.SplitSeq(changes, "\n") {
			for _, label := range []string{"added: ", "新增："} {
				if added, ok := strings.CutPrefix(line, label); ok {
					names = append(names, toolnames.OutOfLine(added)...)
				}
			}
			for _, label := range []string{"removed: ", "移除："} {
				if removed, ok := strings.CutPrefix(line, label); ok {
					removedNames := toolnames.OutOfLine(removed)
					names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(removedNames, name) })
				}
			}
			isWhole = isWhole && !strings.HasPrefix(line, "(") && !strings.HasPrefix(line, "（")
		}
	}
	return names, isWhole
}

// listStore is a function as a ListStore.
type listStore func(path, text string) error

func (s listStore) StoreList(_ context.Context, path, text string) error { return s(path, text) }

// Whichever tools are added and removed:
//
//   - The texts name only tools that exist, or that nobody could call when they were removed.
//   - They name every tool, unless they count some.
//   - They stay as written, unless the list is rewritten.
//   - A new process continues as the old one would, where the texts name everything.
//   - Each list is stored once, and nothing is stored after a failure.
func TestAnnouncer_TextsNameTheToolsThatExist(t *testing.T) {
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for seed := range uint64(100) {
			testAnnouncements(t, rand.New(rand.NewPCG(seed, 1)), fmt.Sprint("seed ", seed))
		}
	}
}

// setOf returns a set of tools with these names.
func setOf(names ...string) *catalog.Set {
	tools := make([]*catalog.Tool, len(names))
	for i, name := range names {
		tools[i] = &catalog.Tool{Info: &schema.ToolInfo{Name: name}}
	}
	return catalog.New(tools)
}

// testAnnouncements announces the tools of 25 random model calls.
func testAnnouncements(t *testing.T, r *rand.Rand, seed string) {
	var old Announcer
	var written []string
	w, denies, limit, fails := world{}, r.IntN(3) == 0, r.IntN(2)*(3+r.IntN(20)), r.IntN(2) == 0
	stores := map[string]int{}
	ever := map[string]bool{}
	for range 25 {
		if r.IntN(4) > 0 {
			w.change(r, denies)
		}
		for _, name := range w.allowed {
			ever[name] = true
		}
		call := Announcement{
			Tools: setOf(w.names...), Names: w.allowed, VisibleBefore: w.visible,
			Incremental: true, CatalogLimit: limit, CallableByName: r.IntN(4) == 0,
			Store: listStore(func(path, text string) error {
				stores[path]++
				require.Equal(t, toolnames.Lines(w.allowed), text, seed)
				if fails {
					return errors.New("full")
				}
				return nil
			}),
		}
		fresh, before := Announcer{}, written
		freshList, freshChange, freshIsNew := fresh.Update(context.Background(), call, written)
		list, change, isNew := old.Update(context.Background(), call, written)
		switch {
		case isNew:
			call.Incremental = false
			whole, _, _ := old.Update(context.Background(), call, nil)
			require.Equal(t, whole, list, seed)
			if written = []string{list}; list == "" {
				written = nil
			}
		default:
			require.Equal(t, written[0], list, seed)
			if change != "" {
				written = append(written, change)
			}
		}
		if !freshIsNew { // the order of removed names may differ
			require.Equal(t, []any{list, len(change), isNew}, []any{freshList, len(freshChange), freshIsNew}, seed)
			names, _ := readNames(written)
			freshNames, _ := readNames(append(slices.Clone(before), freshChange))
			require.Equal(t, slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(freshNames)), seed)
		}
		names, isWhole := readNames(written)
		for _, name := range names {
			require.True(t, slices.Contains(w.allowed, name) || ever[name] && !slices.Contains(w.names, name), "%s: %q is named\n%q", seed, name, written)
		}
		if isWhole {
			for _, name := range w.allowed {
				require.True(t, slices.Contains(names, name), "%s: %q is not named\n%q", seed, name, written)
			}
		}
		if limit > 0 {
			require.LessOrEqual(t, len(names), limit, seed)
		}
		bytes := 0
		for i, text := range written {
			require.True(t, i == 0 && isList(text, false) || i > 0 && isListChange(text, false), "%s: %q", seed, text)
			require.True(t, containsList(text), seed)
			if i > 0 {
				bytes += len(text)
			}
		}
		require.LessOrEqual(t, len(written), 33, seed)
		require.LessOrEqual(t, bytes, max(1000, len(list)/4), seed)
	}
	if fails {
		require.LessOrEqual(t, len(stores), 26, seed) // fresh announcers store, too
	}
}

func TestAnnouncer_StoresEachListOnce(t *testing.T) {
	for _, failure := range []error{nil, errors.New("full")} {
		writes := 0
		in := Announcement{Names: []string{"a", "b", "c"}, CatalogLimit: 1, Store: listStore(func(string, string) error { writes++; return failure })}
		var a Announcer
		for range 3 {
			list, _, isNew := a.Update(context.Background(), in, nil)
			require.True(t, isNew)
			require.Equal(t, failure == nil, strings.Contains(list, "catalog-"))
		}
		require.Equal(t, 1, writes)
		in.Names = []string{"a", "b", "d"}
		a.Update(context.Background(), in, nil)
		require.Equal(t, map[bool]int{true: 2, false: 1}[failure == nil], writes, "after a failure, no more")
	}
}

func TestAnnouncer_SkipsUnchangedCatalog(t *testing.T) {
	formatted := 0
	in := Announcement{Tools: setOf("a"), Incremental: true, Names: []string{"a"}, FullList: func() string {
		formatted++
		return FormatList([]string{"a"}, "")
	}}
	var a Announcer
	list, _, isNew := a.Update(context.Background(), in, nil)
	require.True(t, isNew)
	for range 3 {
		again, change, isNew := a.Update(context.Background(), in, []string{list})
		require.Equal(t, []any{list, "", false}, []any{again, change, isNew})
	}
	require.Equal(t, 1, formatted)
}

// namesOf returns n names of about the same length, from a prefix.
func namesOf(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%03d", prefix, i)
	}
	return names
}

// A change has at most 20 names: more added ones are counted, more removed ones need a new list. All changes of a list have
// at most 1,000 bytes or a quarter of the list.
func TestAnnouncer_LimitsOfOneChange(t *testing.T) {
	long := strings.Repeat("x", 97)
	short60 := namesOf("a", 60)
	for _, c := range []struct {
		name                string
		before, after       []string
		isNew, isEachListed bool
	}{
		{"20 added", short60, append(namesOf("a", 60), namesOf("b", 20)...), false, true},
		{"21 added", short60, append(namesOf("a", 60), namesOf("b", 21)...), false, false},
		{"20 removed", short60, short60[20:], false, true},
		{"21 removed", short60, short60[21:], true, true},
		{"few bytes added to a short list", []string{"a"}, append(namesOf(long, 8), "a"), false, true},
		{"many bytes added to a short list", []string{"a"}, append(namesOf(long, 12), "a"), true, true},
		{"many bytes added to a long list", namesOf(long, 100), append(namesOf(long, 100), namesOf("y"+long, 12)...), false, true},
	} {
		in := Announcement{Incremental: true, CallableByName: true}
		var a Announcer
		in.Tools, in.Names = setOf(c.before...), c.before
		list, _, _ := a.Update(context.Background(), in, nil)
		in.Tools, in.Names = setOf(c.after...), c.after
		next, change, isNew := a.Update(context.Background(), in, []string{list})
		require.Equal(t, c.isNew, isNew, c.name)
		names, isEachListed := readNames([]string{next, change})
		require.Equal(t, c.isEachListed, isEachListed && len(names) == len(c.after), c.name)
	}
}

func TestAnnouncer_RewritesListAfter32Changes(t *testing.T) {
	in := Announcement{Incremental: true, CallableByName: true, Names: namesOf(strings.Repeat("x", 97), 200)}
	in.Tools = setOf(in.Names...)
	var a Announcer
	list, _, _ := a.Update(context.Background(), in, nil)
	written := []string{list}
	for i := range 33 {
		in.Names = append(slices.Clone(in.Names), fmt.Sprint("y", i))
		in.Tools = setOf(in.Names...)
		_, change, isNew := a.Update(context.Background(), in, written)
		require.Equal(t, i == 32, isNew, "change %d", i+1)
		written = append(written, change)
	}
}
