// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package history

// Laws of announcements, over random names.

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
		changes, _ := toolnames.Changes(text)
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

// listStore is a function as a ListStore.
type listStore func(path, text string) error

func (s listStore) StoreList(_ context.Context, path, text string) error { return s(path, text) }

// Whatever tools come and go:
//
//   - the texts name only tools that exist, or that nobody could call when they went;
//   - they name every tool, unless they count some;
//   - they stay as written, unless the list is rewritten;
//   - a new process goes on as the old one would, where the texts name everything;
//   - the store is asked once for a list, and never again after a failure.
func TestAnnouncer_TextsNameTheToolsThatExist(t *testing.T) {
	for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(language))
		t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
		for seed := range uint64(100) {
			announceOften(t, rand.New(rand.NewPCG(seed, 1)), fmt.Sprint("seed ", seed))
		}
	}
}

// setOf is tools of these names.
func setOf(names ...string) *catalog.Set {
	tools := make([]*catalog.Tool, len(names))
	for i, name := range names {
		tools[i] = &catalog.Tool{Info: &schema.ToolInfo{Name: name}}
	}
	return catalog.New(tools)
}

// announceOften announces the tools of 25 random model calls.
func announceOften(t *testing.T, r *rand.Rand, seed string) {
	var old Announcer
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
		call := Announcement{
			Tools: setOf(w.exist...), Names: w.may, VisibleBefore: w.saw, Incremental: true, Limit: limit, CallableByName: r.IntN(4) == 0,
			Store: listStore(func(path, text string) error {
				asked[path]++
				require.Equal(t, toolnames.Lines(w.may), text, seed)
				if fails {
					return errors.New("full")
				}
				return nil
			}),
		}
		fresh, before := Announcer{}, written
		again, change, isNew := fresh.Update(context.Background(), call, written)
		list, said, anew := old.Update(context.Background(), call, written)
		switch {
		case anew:
			call.Incremental = false
			whole, _, _ := old.Update(context.Background(), call, nil)
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
		require.LessOrEqual(t, len(asked), 26, seed) // fresh ones ask too
	}
}

func TestAnnouncer_StoresEachListOnce(t *testing.T) {
	for _, failure := range []error{nil, errors.New("full")} {
		writes := 0
		in := Announcement{Names: []string{"a", "b", "c"}, Limit: 1, Store: listStore(func(string, string) error { writes++; return failure })}
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

func TestAnnouncer_SameToolsAreNotComparedAgain(t *testing.T) {
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
