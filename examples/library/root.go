// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file opens the one folder that tools for files may touch.

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Bounds of the work on files.
const (
	maxFile  = 64 << 20 // bytes of a file that is copied, hashed or unpacked
	maxFiles = 10_000   // files that a walk visits
)

// folder is the root. It is opened for each call, so that it needs no closing
// and may come and go.
type folder struct{ root string }

// place is a path inside the open folder.
type place struct {
	root *os.Root
	name string
}

// open opens the root, and explains what fails inside.
func (f folder) open(name string, work func(at place) error) error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return errors.New("the folder of files cannot be opened")
	}
	defer root.Close()
	return inside(work(place{root, local(name)}), name)
}

// to gives another path of the folder.
func (p place) to(name string) place { return place{p.root, local(name)} }

// local reads a path from the root on: a leading slash means the root.
func local(name string) string {
	return strings.TrimPrefix(path.Join(".", strings.TrimLeft(strings.TrimSpace(name), "/")), "./")
}

// inside explains an error without a path of the machine.
func inside(err error, name string) error {
	var at *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q; folder__list and folder__find show what there is", pathOf(err, name))
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%q is there already", pathOf(err, name))
	case strings.Contains(err.Error(), "escapes"):
		return fmt.Errorf("%q leads out of the folder; give a path inside it", name)
	case errors.As(err, &at):
		return fmt.Errorf("%q: %w", local(at.Path), at.Err)
	}
	return err
}

func pathOf(err error, name string) string {
	var at *fs.PathError
	if errors.As(err, &at) && at.Path != "" {
		return local(at.Path)
	}
	return name
}

// read reads a whole file of at most some bytes.
func (p place) read(most int64) ([]byte, error) {
	f, err := p.root.Open(p.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no file but a %s", p.name, kindOf(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q has more than %d bytes; files__read_lines reads it in parts", p.name, most)
	}
	return data, err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode.IsRegular():
		return "file"
	}
	return "special file"
}

// write writes a file and the folders above it.
func (p place) write(data []byte) error {
	if p.name == "." {
		return errors.New("the path is empty; give the file a name")
	}
	if above := path.Dir(p.name); above != "." {
		if err := p.root.MkdirAll(above, 0o755); err != nil {
			return err
		}
	}
	return p.root.WriteFile(p.name, data, 0o644)
}

// free refuses a path that is taken.
func (p place) free() error {
	_, err := p.root.Lstat(p.name)
	switch {
	case err == nil:
		return fmt.Errorf("%q is there already", p.name)
	case errors.Is(err, os.ErrNotExist):
		return nil
	}
	return err
}

// files walks the regular files below a folder, in order of their paths.
func (p place) files(visit func(file place, entry fs.DirEntry) error) error {
	seen := 0
	return fs.WalkDir(p.root.FS(), p.name, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxFiles {
			return fmt.Errorf("there are more than %d files and folders; choose a smaller folder", maxFiles)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return visit(place{p.root, name}, entry)
	})
}
