// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

func fileTools() map[string]work {
	return map[string]work{
		"files__read": newFileWork(func(at place, in fileIn) (string, error) {
			data, err := at.readFile(maxAnswer)
			return readable(data), err
		}),
		"files__read_lines": streamAt(place.sendLines),
		"files__tail": newFileWork(func(at place, in someIn) (string, error) {
			data, err := at.readFile(maxFile)
			lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n")
			return strings.Join(lines[max(0, len(lines)-in.Count):], "\n"), err
		}),
		"files__write": newFileWork(func(at place, in struct {
			fileIn
			Content string `json:"content"`
		}) (string, error) {
			return fmt.Sprintf("wrote %s to %s", counted(len(in.Content), "byte"), at.name), at.write([]byte(in.Content))
		}),
		"files__delete": newFileWork(func(at place, in fileIn) (string, error) {
			return "deleted " + at.name, at.root.Remove(at.name)
		}),
		"files__replace_text": newFileWork(func(at place, in struct {
			fileIn
			replacement
		}) (string, error) {
			data, err := at.readFile(maxAnswer)
			if err != nil {
				return "", err
			}
			text, n, err := in.applyTo(string(data))
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("replaced %s in %s", counted(n, "occurrence"), at.name), at.write([]byte(text))
		}),
		"files__count": newFileWork(func(at place, in fileIn) (string, error) {
			data, err := at.readFile(maxFile)
			return fmt.Sprintf("%s, %s, %s, %s", counted(lineCount(string(data)), "line"), counted(len(bytes.Fields(data)), "word"),
				counted(utf8.RuneCount(data), "character"), counted(len(data), "byte")), err
		}),
		"files__hash": newFileWork(func(at place, in struct {
			fileIn
			Algorithm string `json:"algorithm"`
		}) (string, error) {
			data, err := at.readFile(maxFile)
			return digest(in.Algorithm, string(data)), err
		}),
		"files__stat": newFileWork(func(at place, in fileIn) (string, error) {
			info, err := at.root.Lstat(at.name)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("name: %s\ntype: %s\nsize: %d bytes\nchanged: %s\npermissions: %s", at.name, kindOf(info.Mode()), info.Size(),
				info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC"), info.Mode().Perm()), nil
		}),
	}
}

func folderTools() map[string]work {
	return map[string]work{
		"folder__list":          newFileWork(place.list),
		"folder__tree":          streamAt(place.drawTree),
		"folder__find":          newFileWork(place.find),
		"folder__search_text":   newFileWork(place.search),
		"folder__largest_files": newFileWork(place.largest),
	}
}

// fileIn is the path of a file or folder; a tool that takes a folder has the root as its default.
type fileIn struct {
	Path string `json:"path"`
}

func (in fileIn) path() string { return in.Path }

type someIn struct {
	fileIn
	Count int `json:"count"`
}

// Bounds of the work on files.
const (
	maxFile    = 64 << 20 // bytes of a file that is read as a whole
	maxFiles   = 10_000   // files that a walk visits
	maxMatches = 1000     // lines that a search shows
)

// place is a path inside the open folder.
type place struct {
	root *os.Root
	name string
}

// open opens the folder for one call, so that it needs no closing and may come
// and go, and explains what fails inside.
func open(folder, name string, work func(at place) error) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return errors.New("the folder of files cannot be opened")
	}
	defer root.Close()
	return inside(work(place{root, local(name)}), name)
}

// local reads a path from the root on: a leading slash means the root.
func local(name string) string {
	return strings.TrimPrefix(path.Join(".", strings.TrimLeft(strings.TrimSpace(name), "/")), "./")
}

// inside explains an error without a path of the machine.
func inside(err error, name string) error {
	var at *fs.PathError
	if errors.As(err, &at) && at.Path != "" {
		name = local(at.Path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q; folder__list and folder__find show what there is", name)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%q is there already", name)
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return fmt.Errorf("%q leads out of the folder; give a path inside it", name)
	case at != nil:
		return fmt.Errorf("%q: %w", name, at.Err)
	}
	return err
}

// readFile reads a whole file of at most some bytes.
func (p place) readFile(most int64) ([]byte, error) {
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
	if mode.IsDir() {
		return "folder"
	}
	return cmp.Or(map[bool]string{true: "file"}[mode.IsRegular()], "special file")
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

// readable is what a file holds, if it is text.
func readable(data []byte) string {
	if !utf8.Valid(data) {
		return fmt.Sprintf("%s not text, in hexadecimal: %x", counted(len(data), "byte"), data)
	}
	return string(data)
}

type linesIn struct {
	someIn
	Start int `json:"start_line"`
}

// sendLines sends some lines of a file with their numbers.
func (p place) sendLines(in linesIn, emit func(string) bool) error {
	file, err := p.root.Open(p.name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxAnswer)
	sent, n := 0, 0
	for n = 1; lines.Scan() && n < in.Start+in.Count; n++ {
		if n < in.Start {
			continue
		}
		line := fmt.Sprintf("%d: %s\n", n, strings.ToValidUTF8(lines.Text(), "\uFFFD"))
		if sent += len(line); sent > maxAnswer || !emit(line) {
			return nil
		}
	}
	if err = lines.Err(); err == nil && sent == 0 {
		err = fmt.Errorf("%q has %s", p.name, counted(n-1, "line"))
	}
	return err
}

// list shows what is in a folder.
func (p place) list(fileIn) (string, error) {
	entries, err := fs.ReadDir(p.root.FS(), p.name)
	if err != nil {
		return "", err
	}
	lines := mapSlice(entries[:min(len(entries), maxFiles)], func(e fs.DirEntry) string {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			return fmt.Sprintf("%s (%d bytes)", e.Name(), info.Size())
		}
		return e.Name() + "/"
	})
	return listed(lines, "the folder is empty"), nil
}

type treeIn struct {
	fileIn
	Depth int `json:"depth"`
}

// drawTree sends everything below a folder, line by line.
func (p place) drawTree(in treeIn, emit func(string) bool) error {
	top, err := fs.ReadDir(p.root.FS(), p.name)
	if err != nil {
		return err
	}
	if len(top) == 0 {
		emit("the folder is empty\n")
	}
	left := maxFiles
	return fs.WalkDir(p.root.FS(), p.name, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == p.name {
			return err
		}
		above := strings.Count(strings.TrimPrefix(name, p.name+"/"), "/")
		line := strings.Repeat("  ", above) + e.Name()
		if e.IsDir() {
			line += "/"
		}
		if left--; left < 0 || !emit(line+"\n") {
			return fs.SkipAll
		}
		if e.IsDir() && above+1 == in.Depth {
			return fs.SkipDir
		}
		return nil
	})
}

type findIn struct {
	fileIn
	Pattern string `json:"pattern"`
}

// find lists the files whose name fits a pattern.
func (p place) find(in findIn) (string, error) {
	var out []string
	if _, err := path.Match(in.Pattern, ""); err != nil {
		return "", fmt.Errorf("%q is not a valid name pattern", in.Pattern)
	}
	err := p.files(func(file place, _ fs.DirEntry) error {
		if ok, _ := path.Match(strings.ToLower(in.Pattern), strings.ToLower(path.Base(file.name))); ok {
			out = append(out, file.name)
		}
		return nil
	})
	return listed(out, "no file has such a name"), err
}

type searchIn struct {
	fileIn
	Text       string `json:"text"`
	IgnoreCase bool   `json:"ignore_case"`
}

// search lists the lines that contain a text.
func (p place) search(in searchIn) (string, error) {
	if in.Text == "" {
		return "", errors.New(`the argument "text" is empty`)
	}
	wanted := regexp.MustCompile(map[bool]string{true: "(?i)"}[in.IgnoreCase] + regexp.QuoteMeta(in.Text))
	var out []string
	err := p.files(func(file place, _ fs.DirEntry) error {
		data, err := file.readFile(maxFile)
		if err != nil || bytes.IndexByte(data[:min(len(data), 1000)], 0) >= 0 {
			return nil // too large or not a text
		}
		for i, line := range strings.Split(string(data), "\n") {
			if !wanted.MatchString(line) {
				continue
			}
			if out = append(out, fmt.Sprintf("%s:%d: %.500s", file.name, i+1, strings.TrimSpace(line))); len(out) == maxMatches {
				return fs.SkipAll
			}
		}
		return nil
	})
	return listed(out, "no file contains it"), err
}

// largest lists the largest files below a folder.
func (p place) largest(in someIn) (string, error) {
	sizes := map[string]int64{}
	err := p.files(func(file place, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			sizes[file.name] = info.Size()
		}
		return err
	})
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), strings.Compare(a, b)) })
	lines := mapSlice(names[:min(in.Count, len(names))], func(name string) string { return fmt.Sprintf("%d %s", sizes[name], name) })
	return listed(lines, "there are no files"), err
}
