// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/store"
)

// verify reads every original back and compares digests, and looks for files that are
// not originals. It returns how many originals there are and their size.
func (s *scene[M]) verify(ctx context.Context, screen *lab.Screen, dir string) (files, size int, err error) {
	stored, bad := s.events.Stored(), 0
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		got, err := digest(ctx, s.store, path)
		if err != nil {
			return files, size, err
		}
		o := s.witness.original(stored[path])
		if got != o.sum {
			screen.Print("%s is not what %s returned\n", path, o.tool)
			bad++
		}
		files, size = files+1, size+o.bytes
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if _, known := stored["/"+name]; err == nil && !d.IsDir() && !known {
			screen.Print("/%s is none of them\n", name)
			bad++
		}
		return err
	})
	if err == nil && bad > 0 {
		err = fmt.Errorf("%d files in the store are not what they should be", bad)
	}
	return files, size, err
}

// digest is the SHA-256 of one file of the store.
func digest(ctx context.Context, kept *store.Dir, path string) (sum [sha256.Size]byte, err error) {
	content, _, err := kept.ReadRange(ctx, path, 0, -1)
	if err != nil {
		return sum, err
	}
	defer content.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, content)
	return [sha256.Size]byte(hash.Sum(nil)), err
}
