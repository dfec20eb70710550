// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

// Results that were read from the store, by whatever tool. They are not stored again.

import (
	"context"
	"path"
	"strings"
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

// ReadBack returns the path, out of those that args mention, of the file that
// content was read from; empty if it is not known to have been.
func (s *Store) ReadBack(ctx context.Context, root, args, content string) string {
	if s == nil || content == "" || !strings.Contains(args, path.Base(root)) {
		return ""
	}
	paths := Mentions(root, args)
	if len(paths) == 0 {
		return ""
	}
	if p := s.knownAs(ctx, fingerprintOf(content), paths); p != "" {
		return p
	}
	for _, p := range paths {
		if s.contains(ctx, p, content) {
			return p
		}
	}
	return ""
}
