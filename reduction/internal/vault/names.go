// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// The names of files in a store.

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"path"
	"strings"

	"github.com/leanctx/leanctx/internal/backend"
)

// The directories of the default paths.
const (
	TruncDir = "trunc"
	ClearDir = "clear"
)

// maxTries is how many names are tried for one content. The second one is made
// of the content's hash: only an attacker can have taken it.
const maxTries = 4

// SuffixSize is the most bytes that a suffix adds to a path.
const SuffixSize = 1 + 26 + 2

// Place is where content should go.
type Place struct {
	// Path is the first choice.
	Path string
	// Fixed: there and nowhere else.
	Fixed bool
	alone bool // under a name that no other process chooses
}

// processSum distinguishes the names of this process from others.
var processSum = anySum()

// DefaultPath is {root}/{dir}/{id}, with the id made safe.
func DefaultPath(root, dir, id string) string {
	return path.Join(root, dir, backend.Component(id))
}

// tries is the number of candidates.
func (s Place) tries() int {
	if s.Fixed {
		return 1
	}
	return maxTries
}

// candidate is the nth choice for content whose hash is sum.
func (s Place) candidate(n int, sum func() string) string {
	switch n {
	case 0:
		if s.alone {
			return s.Path + "-" + processSum
		}
		return s.Path
	case 1:
		return s.Path + "-" + sum()
	}
	return s.Path + "-" + sum() + "-" + string(rune('0'+n))
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// SumOf is a hash of 128 bits of content, fit for a name.
func SumOf(content string) string {
	h := sha256.New()
	pieces := bufio.NewWriter(h) // avoids a copy of the whole
	_, _ = pieces.WriteString(content)
	_ = pieces.Flush() // a hash never fails
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

// Padding stands for a suffix that a path may still get.
const Padding = "-00000000000000000000000000-0"

// IsSuffix reports whether a path may have got s because its name was taken.
func IsSuffix(s string) bool {
	return s[0] == '-' && len(s) > 26 && len(s) <= SuffixSize && !strings.ContainsAny(s, "/.")
}

// anySum stands in for a hash before the content has arrived.
func anySum() string { return strings.ToLower(rand.Text()) }

// Clean makes one of the paths that a store takes for the same file.
func Clean(p string) string { return path.Clean("/" + p) }

// MadeFor reports whether the file at p can be that of a call: it has the name
// that the call's id would have been given, with or without a suffix.
func MadeFor(p, id string) bool {
	rest, ok := strings.CutPrefix(path.Base(p), backend.Component(id))
	return ok && (rest == "" || rest[0] == '-')
}
