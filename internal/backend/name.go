// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
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

// CatalogDir is the directory, in a store, of the lists of tools that package
// toolsearch stores and names in its reminder.
const CatalogDir = "/toolsearch"

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

// naming goes through the names that a stream may get.
type naming struct {
	names    func(attempt int) string
	attempt  int
	filePath string // the current one
}

// next goes on to the next name and reports whether there is one.
func (n *naming) next() bool {
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
func (n *naming) firstFree(try func(filePath string) error) error {
	for n.next() {
		if err := try(n.filePath); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fs.ErrExist
}

// nameOf is Name for a path that is known to have one.
func nameOf(filePath string) string {
	name, _ := Name(filePath)
	return name
}

// failed is the error of a store's method: the operation, the name and the cause.
func failed(doing, filePath string, err error) error {
	return fmt.Errorf("backend: %s %q: %w", doing, filePath, err)
}
