// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A progress line on the terminal.

import (
	"fmt"
	"io"
	"time"
)

const (
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress is a terminal line that counts steps and estimates the remaining time.
type progress struct {
	w           io.Writer // nil shows nothing
	label       string
	done, all   int
	start, last time.Time
	now         func() time.Time
	drawn       bool
}

// newProgress returns a progress line that appears after a moment, and only on a terminal
// that takes escape sequences.
func newProgress(s streams, o options, label string, all int) *progress {
	p := &progress{label: label, all: all, now: time.Now}
	if escapes, err := o.colored(s.err); err == nil && escapes && !o.quiet && isTerminal(s.err) {
		p.w = s.err
	}
	p.start = p.now()
	return p
}

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// step counts one step.
func (p *progress) step() {
	p.done++
	now := p.now()
	took := now.Sub(p.start)
	if p.w == nil || took < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.drawn = now, true
	remaining := took / time.Duration(p.done) * time.Duration(p.all-p.done)
	fmt.Fprintf(p.w, "\r\x1b[K%c %s %d of %d, %s left", spinner[p.done%len(spinner)], p.label, p.done, p.all,
		remaining.Round(time.Second))
}

// stop removes the line.
func (p *progress) stop() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}
