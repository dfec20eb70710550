// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file sees to it that a provider which keeps the conversation on its server
// learns which tools were loaded.

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/session"
)

// sessionKey marks, in Extra, a response that the provider keeps: what its request
// said of hidden tools.
const sessionKey = "__leanctx_toolsearch_session__"

// sent is what a request says of hidden tools. The zero value is that of a request
// which this package had no part in.
type sent struct {
	reminder string
	tools    []string // names of those that it shows
}

func (s sent) mark() string { return digest(s.reminder) + "." + s.toolsMark() }

func (s sent) toolsMark() string {
	names := slices.Clone(s.tools)
	slices.Sort(names)
	return digest(strings.Join(names, "\n"))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// continued returns messages from which no model call builds on a response whose
// request had another reminder, or, where the provider keeps the tools as well, other
// hidden tools than this one.
func continued[M adk.MessageType](msgs []M, now sent) []M {
	if !session.Any(msgs) {
		return msgs
	}
	reminder, tools, _ := strings.Cut(now.mark(), ".")
	return session.Restart(msgs, func(i int, keepsTools bool) bool {
		was, with, _ := strings.Cut(session.MarkOf(msgs[i], sessionKey), ".")
		return was != reminder || keepsTools && with != tools
	})
}

// firstChange is where two lists of messages first differ; -1 if nowhere.
func firstChange[M adk.MessageType](before, after []M) int {
	if isSameList(before, after) {
		return -1
	}
	for i := range after {
		if i == len(before) || after[i] != before[i] {
			return i
		}
	}
	return -1
}

func isSameList[M adk.MessageType](a, b []M) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// restartedAt returns messages in which no response at or behind a place can be built
// on, as a message at that place was changed. -1 is no place.
func restartedAt[M adk.MessageType](at int, msgs []M) []M {
	if at < 0 {
		return msgs
	}
	return session.Restart(msgs, func(i int, _ bool) bool { return i >= at })
}
