// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	maxName    = 1024 // bytes of a whole name: far below what systems allow a path
	maxElement = 255  // bytes between two slashes: what common file systems allow
)

// Directories of the paths that the middlewares use in a store. Stored histories contain these paths.
const (
	// CatalogDir is the directory of the tool lists that package toolsearch names in its reminder.
	CatalogDir = "/toolsearch"

	// TruncDir and ClearDir are the directories of results, below the root that the configuration of package
	// reduction sets.
	TruncDir = "trunc"
	ClearDir = "clear"
)

// Name returns the name inside a store that filePath stands for: relative, with
// single slashes, without "." and "..". "/a/b", "a//b" and "a/c/../b" are one
// name. A path that names nothing or points out of the store, that holds a NUL
// byte, or that is too long (1,024 bytes, 255 between two slashes) is an error
// for which errors.Is(err, fs.ErrInvalid) is true.
func Name(filePath string) (string, error) {
	name := path.Clean(strings.TrimLeft(filePath, "/"))
	switch {
	case strings.ContainsRune(filePath, 0):
		return "", fmt.Errorf("NUL byte in the path: %w", fs.ErrInvalid)
	case name == ".":
		return "", fmt.Errorf("the path names no file: %w", fs.ErrInvalid)
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", fmt.Errorf("the path leaves the store: %w", fs.ErrInvalid)
	case len(name) > maxName:
		return "", fmt.Errorf("path of %d bytes: %w", len(name), fs.ErrInvalid)
	}
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > maxElement {
			return "", fmt.Errorf("path element of %d bytes: %w", len(element), fs.ErrInvalid)
		}
	}
	return name, nil
}

// DirName is Name for a directory, where the store itself ("") is one too.
func DirName(dir string) (string, error) {
	if strings.Trim(dir, "/.") == "" && !strings.Contains(dir, "..") {
		return "", nil
	}
	return Name(dir)
}

// errOtherDir says that the names for a stream are not in one directory.
var errOtherDir = fmt.Errorf("the names lie in different directories: %w", fs.ErrInvalid)

// nameSequence iterates over the names that a stream may get.
type nameSequence struct {
	names    func(attempt int) string
	attempt  int
	filePath string // the current one
}

// advance goes on to the next name and reports whether there is one.
func (n *nameSequence) advance() bool {
	filePath := n.names(n.attempt)
	n.attempt++
	if filePath == "" {
		return false
	}
	n.filePath = filePath
	return true
}

// firstFree goes on to the first name for which try does not return fs.ErrExist,
// and returns what try returned for it.
func (n *nameSequence) firstFree(try func(filePath string) error) error {
	for n.advance() {
		if err := try(n.filePath); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fs.ErrExist
}

// result returns the name under which a stream was stored, or the error.
func (n *nameSequence) result(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return n.filePath, nil
}

// nameOf is Name for a path that is known to have one.
func nameOf(filePath string) string {
	name, _ := Name(filePath)
	return name
}

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

// ComponentClass is the character class, for a regular expression, of the bytes that [IsComponentByte] accepts.
const ComponentClass = `A-Za-z0-9_.:=-`

// IsComponentByte reports whether a path element of [Component] or [Directory] can contain a byte.
func IsComponentByte(c byte) bool { return isPlain(c) || c == escape }

// WellFormed reports whether id can be a path element as it is: one to
// [MaxComponent] bytes from [A-Za-z0-9_.:-], and not only dots.
func WellFormed(id string) bool {
	if len(id) > MaxComponent || strings.Trim(id, ".") == "" {
		return false
	}
	for i := range len(id) {
		if !isPlain(id[i]) {
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
// differ in nothing else are one file; a store.Creator says so with fs.ErrExist. And
// ':', which real call ids contain ("functions.grep:0"), has a meaning of its own
// on Windows, where [Dir] escapes it on disk.
func Component(id string) string {
	if WellFormed(id) {
		return id
	}
	if id == "" {
		return string(escape)
	}
	return limitName(escapeUnless(id, isPlain), id)
}

// limitName returns the escaped name of an id. If the name is too long, it returns its start and a hash of the id.
func limitName(name, id string) string {
	if len(name) <= MaxComponent {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	keep := MaxComponent - len(hashMark) - hex.EncodedLen(len(sum))
	return cutName(name, keep) + hashMark + hex.EncodeToString(sum[:])
}

// Directory returns a path element for the owner of a directory. It is [Component]
// for an id in which upper-case letters are escaped too, so that different owners
// have different directories also on a file system that ignores case.
func Directory(owner string) string {
	if strings.ToLower(owner) == owner {
		return Component(owner)
	}
	return limitName(escapeUnless(owner, func(c byte) bool { return isPlain(c) && (c < 'A' || c > 'Z') }), owner)
}

// escapeUnless writes every byte of id as an escape unless keeps accepts it. Only the start of a long id is read: the
// rest of its name is a hash.
func escapeUnless(id string, keeps func(c byte) bool) string {
	const digits = "0123456789abcdef"
	id = id[:min(len(id), MaxComponent+1)]
	onlyDots := strings.Trim(id, ".") == ""
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; keeps(c) && !onlyDots {
			b.WriteByte(c)
		} else {
			b.Write([]byte{escape, digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// cutName returns the start of an escaped name, at most n bytes, without a part of an escape at its end.
func cutName(name string, n int) string {
	name = name[:min(len(name), n)]
	if i := strings.LastIndexByte(name, escape); i >= 0 && i > len(name)-3 {
		name = name[:i]
	}
	return name
}

// isPlain reports whether Component and Directory leave a byte as it is. Changing this set renames what is already
// stored: the files of results, and the directories of owners in store.Scoped. TestComponent_StoredNamesAreFrozen
// checks it. With the escape, the set also stands in ComponentClass, which TestComponentClass_MatchesIsComponentByte
// checks.
func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '_' || c == '.' || c == ':' || c == '-'
}
