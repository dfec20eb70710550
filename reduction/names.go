// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file chooses the names of files in a store.

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/backend"
)

const (
	truncDir = "trunc"
	clearDir = "clear"
)

// maxTries is how many names are tried for one content. The second one is made
// of the content's hash, so that only malice can take it.
const maxTries = 4

// suffixSize is the most bytes that a suffix adds to a path.
const suffixSize = 1 + 26 + 2

// spot is where a content should go.
type spot struct {
	path  string
	fixed bool // there and nowhere else
	alone bool // under a name that no other process chooses
}

// processSum tells the names of this process from those of others.
var processSum = anySum()

// defaultPath is {root}/{dir}/{id}, with the id made safe.
func defaultPath(root, dir, id string) string {
	return path.Join(root, dir, backend.Component(id))
}

// tries is how many candidates there are.
func (s spot) tries() int {
	if s.fixed {
		return 1
	}
	return maxTries
}

// candidate is the nth choice for a content whose hash is sum.
func (s spot) candidate(n int, sum func() string) string {
	switch n {
	case 0:
		if s.alone {
			return s.path + "-" + processSum
		}
		return s.path
	case 1:
		return s.path + "-" + sum()
	}
	return s.path + "-" + sum() + "-" + string(rune('0'+n))
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// sumOf is a hash of 128 bits of a content, fit for a name.
func sumOf(content string) string {
	h := sha256.New()
	for rest := content; rest != ""; {
		n := min(len(rest), 64<<10) // in pieces, so that no copy of the whole is made
		h.Write([]byte(rest[:n]))
		rest = rest[n:]
	}
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

// anySum takes the place of a hash for a content that is not there yet.
func anySum() string { return strings.ToLower(rand.Text()) }

// nameKey makes one of the paths that a store takes for the same file.
func nameKey(p string) string { return path.Clean("/" + p) }

// showable reports whether a path can stand in a notice: it is one line of text,
// it cannot be taken for the end of the notice, and it can be found again.
func showable(p string) bool {
	if p == "" || len(p) > maxPath || !utf8.ValidString(p) || strings.Contains(p, envelopeName) {
		return false
	}
	return !strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' })
}

// madeFor reports whether the file at p can be that of a call: it has the name
// that the call's id would have been given, with or without a suffix.
func madeFor(p, id string) bool {
	rest, ok := strings.CutPrefix(path.Base(p), backend.Component(id))
	return ok && (rest == "" || rest[0] == '-')
}
