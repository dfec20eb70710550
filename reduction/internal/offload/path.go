// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

// Paths of stored content. This file makes all of them and recognizes them:
//
//	{root}/trunc/{call id}           a truncated result
//	{root}/clear/{call id}           a cleared result
//	{path}-{hash}, {path}-{hash}-{n} the same, where the first path is taken or cannot be checked
//
// The call id is a path element of [backend.Component], which has only the bytes of [backend.IsComponentByte].

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"path"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/backend"
)

// The directories of the default paths, below the root.
const (
	TruncDir = backend.TruncDir
	ClearDir = backend.ClearDir
)

// DefaultPath returns the path {root}/{dir}/{id}. The id is escaped where it is no safe path element.
func DefaultPath(root, dir, id string) string {
	return path.Join(root, dir, backend.Component(id))
}

// Directories returns the directories of the default paths below a root.
func Directories(root string) []string {
	return []string{path.Join(root, TruncDir), path.Join(root, ClearDir)}
}

// BelongsToCall reports whether the file at p can be that of a call: its name is that of the call's default path, with
// or without a suffix.
func BelongsToCall(p, id string) bool {
	rest, ok := strings.CutPrefix(path.Base(p), backend.Component(id))
	return ok && (rest == "" || strings.HasPrefix(rest, suffixMark))
}

// IsDefaultPath reports whether p can be the default path of a stored result below a root, in any form of both.
func IsDefaultPath(root, p string) bool {
	isParent := func(dir string) bool { return Clean(dir) == path.Dir(Clean(p)) }
	return slices.ContainsFunc(Directories(root), isParent)
}

// BelongsToAny reports whether the file at p can be that of one of the calls whose ids, as path elements, are given.
func BelongsToAny(p string, ids map[string]bool) bool {
	for name := path.Base(p); name != ""; {
		if ids[name] {
			return true
		}
		name = name[:max(0, strings.LastIndex(name, suffixMark))]
	}
	return false
}

// IsClearPath reports whether p can be the default path of a cleared result, below any root.
func IsClearPath(p string) bool { return strings.Contains(p, "/"+ClearDir+"/") }

// maxPathsIn bounds the paths that [PathsIn] returns for the arguments of a call.
const maxPathsIn = 8

// PathsIn returns the default paths of stored results, with their suffixes, that the arguments of a call contain.
func PathsIn(root, args string) (out []string) {
	args = strings.ReplaceAll(args, `\/`, "/")
	for _, dir := range Directories(root) {
		prefix := dir + "/"
		for rest := args; len(out) < maxPathsIn; {
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

// nameLength returns how many bytes at the start of s can be those of a file name.
func nameLength(s string) int {
	for i := range len(s) {
		if !backend.IsComponentByte(s[i]) {
			return i
		}
	}
	return len(s)
}

// Clean returns the canonical form of a path. A store takes all paths with the same form for one file.
func Clean(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return path.Clean(p)
}

const (
	suffixMark = "-" // begins each part of a suffix

	// Padding has the length of the longest suffix that a path may get.
	Padding = "-00000000000000000000000000-0"

	// SuffixSize is the length of the longest suffix in bytes.
	SuffixSize = len(Padding)
)

// withSuffix returns the path for the attempt with this number, from 1 on. The hash is that of the content, or random.
func withSuffix(p, hash string, attempt int) string {
	p += suffixMark + hash
	if attempt > 1 {
		p += suffixMark + string(rune('0'+attempt))
	}
	return p
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// SumOf returns a hash of 128 bits of a content, for the suffix of a path.
func SumOf(content string) string {
	h := sha256.New()
	w := bufio.NewWriter(h) // avoids a copy of the whole content
	_, _ = w.WriteString(content)
	_ = w.Flush() // a hash never fails
	return lowerBase32.EncodeToString(h.Sum(nil)[:16])
}

// randomSum returns a random hash, for content that has not arrived yet.
func randomSum() string { return strings.ToLower(rand.Text()) }
