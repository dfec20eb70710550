// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
)

const (
	maxName    = 1024 // bytes: what S3 allows a key
	maxElement = 255  // bytes between two slashes: what file systems allow
)

// nameOf returns the name that a file path stands for: relative, with single slashes,
// without "." and "..".
func nameOf(filePath string) (string, error) {
	name := path.Clean(strings.TrimLeft(filePath, "/"))
	long := func(element string) bool { return len(element) > maxElement }
	switch {
	case strings.ContainsRune(filePath, 0):
		return "", fmt.Errorf("NUL byte in the path: %w", fs.ErrInvalid)
	case !utf8.ValidString(filePath):
		return "", fmt.Errorf("the path is not valid UTF-8: %w", fs.ErrInvalid)
	case name == ".":
		return "", fmt.Errorf("the path names no file: %w", fs.ErrInvalid)
	case name == ".." || strings.HasPrefix(name, "../"):
		return "", fmt.Errorf("the path leaves the store: %w", fs.ErrInvalid)
	case path.Base(name) == usedName:
		return "", fmt.Errorf("the name %q is the store's own: %w", usedName, fs.ErrInvalid)
	case len(name) > maxName:
		return "", fmt.Errorf("path of %d bytes: %w", len(name), fs.ErrInvalid)
	case slices.ContainsFunc(strings.Split(name, "/"), long):
		return "", fmt.Errorf("path element of more than %d bytes: %w", maxElement, fs.ErrInvalid)
	}
	return name, nil
}

// dirOf is nameOf for a directory, where the store itself ("") is one too.
func dirOf(dir string) (string, error) {
	if strings.Trim(dir, "/.") == "" && !strings.Contains(dir, "..") {
		return "", nil
	}
	return nameOf(dir)
}

// linesOf reads the lines that a request asks for.
func linesOf(content io.Reader, req *filesystem.ReadRequest) (string, error) {
	r := bufio.NewReaderSize(content, copySize)
	var b strings.Builder
	first := max(req.Offset, 1)
	for line := 1; req.Limit <= 0 || line-first < req.Limit; {
		part, err := r.ReadSlice('\n')
		if line >= first {
			b.Write(part)
		}
		switch {
		case err == nil:
			line++
		case errors.Is(err, io.EOF):
			return b.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
