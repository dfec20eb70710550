// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Tenants are deleted while they write; all processes share one log.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/window"
)

// watchedShare is how many runs there are for each one that is logged.
const watchedShare = 8

// nameKey finds the name of a conversation in a context.
type nameKey struct{}

// name is what the log calls a run.
func (p *plan) name() string {
	if p.claims != nil {
		return p.owner // several processes that are killed make the same run
	}
	return fmt.Sprintf("run-%d", p.n)
}

// logName is the log's file, beside the directory: that has only what tools returned.
func logName(dir string) string { return dir + ".window.jsonl" }

// newCollector appends to the log of all processes.
func newCollector(j job) (*window.Collector, *os.File, error) {
	log, err := os.OpenFile(logName(j.Dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	name := func(ctx context.Context) (string, error) { return ctx.Value(nameKey{}).(string), nil }
	return window.New(window.Config{Texts: window.TextsNone, Log: log, Conversation: name}), log, nil
}

func (p *plan) watch() func(context.Context, einolean.Event) {
	if p.collector == nil {
		return nil
	}
	return p.collector.Event
}

// logRange is what the log must hold of a conversation. Its last call may be missing, if nobody
// read the answer to its end.
type logRange struct {
	Name        string
	Least, Most int
}

func (p *plan) logRange() logRange {
	if p.collector == nil {
		return logRange{}
	}
	l := logRange{Name: p.name()}
	if c := p.collector.Conversation(l.Name); c != nil && len(c.Calls) > 0 {
		l.Most = c.Calls[len(c.Calls)-1].N
		l.Least = l.Most
		if c.Calls[len(c.Calls)-1].Unfinished {
			l.Least--
		}
	}
	return l
}

// readLog compares the log with what the processes say that it holds.
func readLog(dir string, all *tally) *tally {
	t := &tally{}
	file, err := os.Open(logName(dir))
	if err != nil {
		t.problem("ERROR the log cannot be opened: %v", err)
		return t
	}
	defer func() { _ = file.Close() }()
	found := map[string]map[int]bool{}
	broken := 0
	err = window.FollowJSON(file, func(c *window.Conversation, call *window.ModelCall) error {
		tokens := 0
		for _, p := range call.Parts() {
			tokens += p.Tokens
		}
		if tokens != call.Tokens.Estimated {
			broken++
		}
		if found[c.ID] == nil {
			found[c.ID] = map[int]bool{}
		}
		found[c.ID][call.N] = true
		t.InLog++
		return nil
	}, func(error) { t.Torn++ })
	if err != nil {
		t.problem("ERROR the log cannot be read: %v", err)
	}
	if all.Killed < t.Torn || broken > t.Torn {
		t.problem("ERROR %d lines of the log cannot be read, and %d calls are not whole, where %d processes were killed", t.Torn, broken, all.Killed)
	}
	for name, want := range all.Logged {
		if got := len(found[name]); t.Torn == 0 && (got < want.Least || got > want.Most) {
			t.problem("ERROR the log has %d calls of %s, and not %d to %d", got, name, want.Least, want.Most)
		}
	}
	return t
}

// startDeleting deletes what a tenant that leaves stores, for as long as its run goes on. When the
// run has ended, the returned function deletes the rest, and says what is wrong.
func (p *plan) startDeleting(ctx context.Context) (rest func() (wrong []string)) {
	if p.cleaner == nil {
		return func() []string { return nil }
	}
	var failed error
	away := func() {
		if _, _, err := p.cleaner.DeleteUnused(ctx, "", time.Now().Add(time.Hour)); err != nil && !errors.Is(err, fs.ErrNotExist) { // nothing was stored yet
			failed = errors.Join(failed, err)
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for every := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				every.Stop()
				return
			case <-every.C:
				away()
			}
		}
	}()
	return func() (wrong []string) {
		close(stop)
		<-ended
		away()
		files, bytes, err := p.cleaner.Stored(ctx, "")
		if failed = errors.Join(failed, err); failed != nil {
			wrong = append(wrong, "deleting a tenant: "+strings.ReplaceAll(failed.Error(), "\n", "; "))
		}
		if files > 0 || bytes > 0 {
			wrong = append(wrong, fmt.Sprintf("%d files with %d bytes are left of a deleted tenant", files, bytes))
		}
		return wrong
	}
}
