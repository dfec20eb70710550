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

// maxMentions is how many stored paths are looked for in the arguments of a call.
const maxMentions = 8

// Mentions returns the paths of stored results that the arguments of a call name,
// as far as they have default names.
func Mentions(root, args string) (out []string) {
	args = strings.ReplaceAll(args, `\/`, "/")
	for _, dir := range []string{TruncDir, ClearDir} {
		prefix := path.Join(root, dir) + "/"
		for rest := args; len(out) < maxMentions; {
			_, after, ok := strings.Cut(rest, prefix)
			if !ok {
				break
			}
			if n := nameLength(after); n > 0 {
				out = append(out, prefix+after[:n])
			}
			rest = after
		}
	}
	return out
}

// nameLength is how many bytes at the start of s can be part of a file's name.
func nameLength(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.:-=", r))
	})
	if n < 0 {
		return len(s)
	}
	return n
}

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
}

// DefaultPath is {root}/{dir}/{id}, with the id made safe.
func DefaultPath(root, dir, id string) string {
	return path.Join(root, dir, backend.Component(id))
}

// names are the names, in order, that content may get.
type names struct {
	Place
	tries int
	first int // which comes first: 0 the path as it is, 1 the path with a hash
}

// nth is the nth name for content, of which sum makes a part of a name. unique says that the
// name is made for the content.
func (n names) nth(i int, content string, sum func(content string) string) (name string, unique bool) {
	switch i += n.first; i {
	case 0:
		return n.Path, false
	case 1:
		return n.Path + "-" + sum(content), true
	}
	return n.Path + "-" + sum(content) + "-" + string(rune('0'+i)), true
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
func anySum(string) string { return strings.ToLower(rand.Text()) }

// Clean makes one of the paths that a store takes for the same file.
func Clean(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return path.Clean(p)
}

// MadeFor reports whether the file at p can be that of a call: it has the name
// that the call's id would have been given, with or without a suffix.
func MadeFor(p, id string) bool {
	rest, ok := strings.CutPrefix(path.Base(p), backend.Component(id))
	return ok && (rest == "" || rest[0] == '-')
}
