// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds the store against what the tools returned.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/reduction"
)

// verify reads every original back and compares digests, and looks for files
// that are none. It returns how many are not as they should be.
func (s *scene[M]) verify(ctx context.Context, out io.Writer, dir string) (bad int, err error) {
	stored := s.events.Stored()
	fmt.Fprintf(out, "%-24s %-14s %10s  %s\n", "Originals in the store", "returned by", "bytes", "SHA-256")
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		got, err := digest(ctx, s.store, path)
		if err != nil {
			return bad, err
		}
		o, verdict := s.witness.original(stored[path]), "as returned"
		if got != o.sum {
			verdict = "NOT AS RETURNED: " + short(o.sum)
			bad++
		}
		fmt.Fprintf(out, "%-24s %-14s %10s  %-18s %s\n", path, o.tool, lab.Thousands(o.bytes), short(got), verdict)
	}
	return bad, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if _, known := stored["/"+name]; err == nil && !d.IsDir() && !known {
			fmt.Fprintf(out, "/%s is none of them\n", name)
			bad++
		}
		return err
	})
}

// digest is the SHA-256 of a content of the store.
func digest(ctx context.Context, store *reduction.DirBackend, path string) (sum [sha256.Size]byte, err error) {
	content, _, err := store.ReadRange(ctx, path, 0, -1)
	if err != nil {
		return sum, err
	}
	defer content.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, content)
	return [sha256.Size]byte(hash.Sum(nil)), err
}

func short(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:8]) + "…" }
