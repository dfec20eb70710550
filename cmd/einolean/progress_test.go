// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestProgress_AppearsAfterDelayAndIsCleared(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := &progress{w: &out, label: "replaying", all: 10, start: at, now: func() time.Time { return at }}
	for range 2 {
		at = at.Add(100 * time.Millisecond)
		p.step()
	}
	require.Empty(t, out.String(), "short work shows nothing")
	at = at.Add(2800 * time.Millisecond)
	p.step()
	require.Contains(t, out.String(), "replaying 3 of 10, 7s left")
	drawn := out.Len()
	at = at.Add(time.Millisecond)
	p.step()
	require.Equal(t, drawn, out.Len(), "at most ten times a second")
	p.stop()
	require.Equal(t, "\r\x1b[K", out.String()[drawn:])
}

func TestProgress_OnlyOnTerminalsWithEscapes(t *testing.T) {
	master, terminal, err := pty.Open()
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip("this system has no pseudo-terminals")
	}
	require.NoError(t, err)
	defer master.Close()
	defer terminal.Close()
	shown := func(o options, w io.Writer) bool { return newProgress(streams{err: w}, o, "replaying", 1).w != nil }
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	require.True(t, shown(options{color: "auto"}, terminal))
	require.False(t, shown(options{color: "auto", quiet: true}, terminal))
	require.False(t, shown(options{color: "never"}, terminal))
	require.False(t, shown(options{color: "always"}, &bytes.Buffer{}), "colours can be wanted in a file, a moving line cannot")
	t.Setenv("TERM", "dumb")
	require.False(t, shown(options{color: "auto"}, terminal))
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	require.False(t, shown(options{color: "auto"}, terminal))
}
