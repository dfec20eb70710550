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

// with opens the root, and explains what fails inside.
func (f folder) with(name string, work func(root *os.Root, name string) (string, error)) (string, error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return "", errors.New("the folder of files cannot be opened")
	}
	defer root.Close()
	text, err := work(root, local(name))
	return text, inside(err, name)
}

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

// readFile reads a whole file of at most some bytes.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no file but a %s", name, kindOf(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%q has more than %d bytes; files__read_lines reads it in parts", name, most)
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

// writeFile writes a file and the folders above it.
func writeFile(root *os.Root, name string, data []byte) error {
	if name == "." {
		return errors.New("the path is empty; give the file a name")
	}
	if above := path.Dir(name); above != "." {
		if err := root.MkdirAll(above, 0o755); err != nil {
			return err
		}
	}
	return root.WriteFile(name, data, 0o644)
}

// errEnough ends a walk that has seen enough.
var errEnough = errors.New("enough")

// files walks the regular files below a folder, in order of their paths.
func files(root *os.Root, name string, visit func(name string, entry fs.DirEntry) error) error {
	seen := 0
	err := fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxFiles {
			return fmt.Errorf("there are more than %d files and folders; choose a smaller folder", maxFiles)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		return visit(at, entry)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
