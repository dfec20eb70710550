// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressShowsItselfAfterAMomentAndGoesAway(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := &progress{w: &out, what: "replaying", all: 10, start: at, now: func() time.Time { return at }}
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

	quiet := options{}.progress(streams{err: &bytes.Buffer{}}, "replaying", 1)
	require.Nil(t, quiet.w, "only on a terminal")
}
