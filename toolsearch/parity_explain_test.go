// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file explains a difference between two answers by the ids of the list of
// differences; what it cannot explain is a bug.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ids are the listed differences that explain an observation.
type ids map[string]bool

func (s ids) add(id string) { s[id] = true }

// searched is one search, as Eino's package and ours answered it.
type searched struct {
	args  string
	names []string // of the catalogue
	eino  string   // its answer, if err is nil
	err   error
	ours  string
}

// explainText explains answers in text, or says what it cannot explain.
func (s searched) explainText(why ids) error {
	if s.err != nil {
		why.add("TS-01")
		return s.answersInstead(s.ours)
	}
	if s.eino == s.ours {
		return nil
	}
	var e, o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.eino), &e); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(s.ours), &o); err != nil {
		return fmt.Errorf("our answer is not JSON: %w", err)
	}
	for key := range o {
		switch key {
		case "matches":
		case "already_loaded", "hint":
			why.add("TS-23")
		default:
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return s.explainMatches(string(e["matches"]), string(o["matches"]), why)
}

func (s searched) explainMatches(e, o string, why ids) error {
	if e == "null" && o == "[]" {
		why.add("TS-02")
		return nil
	}
	if plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(e); plain != e && plain == o {
		why.add("TS-26")
		return nil
	}
	if e == o {
		return nil
	}
	var en, on []string
	if json.Unmarshal([]byte(e), &en) != nil || json.Unmarshal([]byte(o), &on) != nil {
		return fmt.Errorf("matches %s and %s", e, o)
	}
	return s.explainNames(en, s.withoutExtra(en, on, why), why)
}

// withoutExtra leaves out what is found on top because loaded tools use up no place: as
// many tools as the answer calls loaded, behind what Eino finds.
func (s searched) withoutExtra(e, o []string, why ids) []string {
	var a struct {
		Loaded []string `json:"already_loaded"`
	}
	if s.selects() || len(o) <= len(e) || json.Unmarshal([]byte(s.ours), &a) != nil || len(o)-len(e) > len(a.Loaded) {
		return o
	}
	for _, name := range o[len(e):] {
		if slices.Contains(a.Loaded, name) {
			return o
		}
	}
	why.add("TS-34")
	return o[:len(e)]
}

func (s searched) selects() bool {
	query := strings.TrimSpace(s.query())
	return len(query) >= 7 && strings.EqualFold(query[:7], "select:")
}

// explainNames explains different lists of names.
func (s searched) explainNames(e, o []string, why ids) error {
	if slices.Equal(e, o) {
		return nil
	}
	if s.selects() {
		why.add("TS-02")
		return s.explainSelection(strings.TrimSpace(s.query()), e, o)
	}
	if len(e) > 100 && slices.Equal(e[:100], o) {
		why.add("TS-22")
		return nil
	}
	return fmt.Errorf("found %q and %q", e, o)
}

// explainSelection: what Eino selects is selected, once and in that order; what comes on
// top was asked for under a name that is almost right.
func (s searched) explainSelection(query string, e, o []string) error {
	if list, ok := strings.CutPrefix(query, "select:"); ok {
		exact := !slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
			name = strings.TrimSpace(name)
			return name != "" && !slices.Contains(s.names, name)
		})
		if once := dedup(e); exact && !slices.Equal(once, o) {
			return fmt.Errorf("%q was selected, not %q", once, o)
		}
	}
	for _, name := range e {
		if strings.HasPrefix(query, "select:") && !slices.Contains(o, name) {
			return fmt.Errorf("%q is selected by Eino alone", name)
		}
	}
	if !slices.Equal(dedup(o), o) {
		return fmt.Errorf("%q holds a name twice", o)
	}
	for _, name := range o {
		if !slices.ContainsFunc(s.names, func(n string) bool { return n == name || string([]rune(n)) == name }) {
			return fmt.Errorf("%q is no tool", name)
		}
	}
	return nil
}

func dedup(list []string) (once []string) {
	for _, s := range list {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

func (s searched) query() string {
	var a struct{ Query string }
	if json.Unmarshal([]byte(s.args), &a) != nil {
		return ""
	}
	return a.Query
}

// answersInstead holds an answer in place of an error to what a model needs: tools that
// exist, or a hint.
func (s searched) answersInstead(text string) error {
	var o struct {
		Matches []string
		Hint    string
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("our answer is not JSON: %w", err)
	}
	if o.Matches == nil || len(o.Matches) == 0 && o.Hint == "" {
		return fmt.Errorf("an answer that helps nobody: %s", text)
	}
	return nil
}
