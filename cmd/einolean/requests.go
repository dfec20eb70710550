// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A model writes requests for each tool, in words that no tool has: what a catalogue's own words
// cannot show.

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

//go:embed requests.txt
var askForRequests string

// requestsEach is how many requests of a tool are taken.
const requestsEach = 5

// writer lets a model write requests.
type writer struct {
	provider
	file string // where they are kept
}

// write returns requests for tools as graded queries, and saves them to the file.
func (w *writer) write(ctx context.Context, s streams, o options, tools []*schema.ToolInfo) ([]toolsearcheval.Case, error) {
	if _, err := os.Stat(w.file); !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitUsage, "%s is there already: --queries %s measures with it, or -o names another file", w.file, w.file)
	}
	w.limit = 1
	m, err := w.open(ctx, func(int64) error { return nil })
	if err != nil {
		return nil, err
	}
	o.note(s, "asking %s for %d requests for each of %s, a request each: at most %s tokens in all (--max-tokens)", w.model, requestsEach, plural(len(tools), "tool"), display.Grouped(w.budget))
	wait := newProgress(s, o, "asking for requests", len(tools))
	defer wait.stop()
	var all []toolsearcheval.Case
	for _, t := range tools {
		m.begin(trial{})
		answer, err := m.Generate(ctx, []*schema.Message{schema.SystemMessage(askForRequests), schema.UserMessage(t.Name + "\n" + t.Desc)})
		switch {
		case m.overBudget:
			return nil, errors.Join(fail(exitUsage, "the budget of %s tokens does not suffice: --max-tokens raises it", display.Grouped(w.budget)), w.keep(all))
		case err != nil && ctx.Err() != nil:
			return nil, errors.Join(ctx.Err(), w.keep(all))
		case err != nil:
			return nil, errors.Join(fail(exitServer, "%s: %w", w.model, err), w.keep(all))
		}
		for _, query := range requestsIn(answer.Content) {
			all = append(all, toolsearcheval.Case{Query: query, Relevant: []string{t.Name}, Kind: "of " + w.model})
		}
		wait.step()
	}
	return all, w.keep(all)
}

// keep saves requests even after a failure, because they were paid for.
func (w *writer) keep(all []toolsearcheval.Case) error {
	if len(all) == 0 {
		return nil
	}
	var b bytes.Buffer
	for _, c := range all {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return os.WriteFile(w.file, b.Bytes(), 0o600)
}

// listed matches list markers at the start of a line.
var listed = regexp.MustCompile(`^(?:[-*•]|\(?\d+[.):、])\s*`)

// requestsIn returns the lines of an answer without list markers.
func requestsIn(answer string) (all []string) {
	for line := range strings.Lines(answer) {
		line = strings.Trim(listed.ReplaceAllString(strings.TrimSpace(line), ""), `"“”`)
		if line != "" && len(all) < requestsEach {
			all = append(all, line)
		}
	}
	return all
}
