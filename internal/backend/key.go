// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxComponent is the greatest length in bytes of what [Component] returns. It
// leaves room below the 255 bytes that common file systems allow an element,
// for what a caller wants to add.
const MaxComponent = 128

// escape starts every escape in a name. No well-formed id contains it, so an
// escaped name can never be mistaken for an id that was left as it is. Unlike
// the percent sign it is not undone by what takes a path for a URL.
const escape = '='

// hashMark separates the readable start of a long name from its hash. In an
// escaped name [escape] is always followed by two hexadecimal digits, so the
// mark cannot come out of an escape.
const hashMark = "=="

// WellFormed reports whether id can be a path element as it is: one to
// [MaxComponent] bytes from [A-Za-z0-9_.:-], and not only dots.
func WellFormed(id string) bool {
	if len(id) > MaxComponent || strings.Trim(id, ".") == "" {
		return false
	}
	for i := range len(id) {
		if !plain(id[i]) {
			return false
		}
	}
	return true
}

// Component returns a path element for id. Different ids get different elements
// (of those too long to be kept, as surely as SHA-256 has no collisions), and no
// id yields an element that leaves its directory.
//
// A well-formed id stays as it is. In every other one each byte outside
// [A-Za-z0-9_.:-] becomes "=" and two hexadecimal digits; the empty id becomes
// "="; of an id of dots only the dots are escaped; and a result longer than
// [MaxComponent] is cut and ends in "==" and the SHA-256 of the id.
//
// Two things are up to the store. On a file system that ignores case, ids that
// differ in nothing else are one file; a [leanctx.Creator] says so with fs.ErrExist. And
// ':', which real call ids contain ("functions.grep:0"), has a meaning of its own
// on Windows, where [Dir] escapes it on disk.
func Component(id string) string {
	if WellFormed(id) {
		return id
	}
	if id == "" {
		return string(escape)
	}
	return bounded(escapedBut(id, plain), id)
}

// bounded returns the escaped name of an id, or its start and a hash of the id.
func bounded(name, id string) string {
	if len(name) <= MaxComponent {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	keep := MaxComponent - len(hashMark) - hex.EncodedLen(len(sum))
	return whole(name, keep) + hashMark + hex.EncodeToString(sum[:])
}

// Directory returns a path element for the owner of a directory. It is [Component]
// for an id in which upper-case letters are escaped too, so that different owners
// have different directories also on a file system that ignores case.
func Directory(owner string) string {
	if strings.ToLower(owner) == owner {
		return Component(owner)
	}
	return bounded(escapedBut(owner, func(c byte) bool { return plain(c) && (c < 'A' || c > 'Z') }), owner)
}

// escapedBut writes every byte of id that is not plain as an escape. Only the start
// of a long id is looked at: the rest of its name is a hash.
func escapedBut(id string, plain func(c byte) bool) string {
	const digits = "0123456789abcdef"
	id = id[:min(len(id), MaxComponent+1)]
	onlyDots := strings.Trim(id, ".") == ""
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; plain(c) && !onlyDots {
			b.WriteByte(c)
		} else {
			b.Write([]byte{escape, digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// whole returns the start of an escaped name, at most n bytes, without a part of
// an escape at its end.
func whole(name string, n int) string {
	name = name[:min(len(name), n)]
	if i := strings.LastIndexByte(name, escape); i >= 0 && i > len(name)-3 {
		name = name[:i]
	}
	return name
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '.' || c == ':' || c == '-'
}
