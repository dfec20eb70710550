// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of files and folders under the root, and opens the root: the one folder that tools for files may touch.

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

var filesServer = group{"files", "Files in the working folder", []maker{
	defineAt("files__read", "Reads a text file of the working folder as a whole.", func(at place, in fileIn) (string, error) {
		data, err := at.read(maxAnswer)
		return readable(data[:min(len(data), maxAnswer)]), err
	}),
	defineStreamAt("files__read_lines", "Reads some lines of a text file of the working folder, with their numbers.", func(at place, in struct {
		fileIn
		Start int `json:"start_line,omitempty" jsonschema:"default=1,minimum=1" jsonschema_description:"The first line to read, counted from 1"`
		Count int `json:"count,omitempty" jsonschema:"default=100,minimum=1,maximum=10000" jsonschema_description:"How many lines to read"`
	}, emit func(string) bool) error {
		file, err := at.root.Open(at.name)
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
			err = fmt.Errorf("%q has %s", at.name, counted(n-1, "line"))
		}
		return err
	}),
	defineAt("files__tail", "Reads the last lines of a text file, as of a log.", func(at place, in struct {
		fileIn
		Count int `json:"count,omitempty" jsonschema:"default=10,minimum=1,maximum=10000" jsonschema_description:"How many lines to read"`
	}) (string, error) {
		data, err := at.read(maxFile)
		if err != nil {
			return "", err
		}
		return linesTail(someLinesIn{linesIn{string(data)}, in.Count})
	}),
	defineAt("files__write", "Writes a text into a file, making the file and the folders above it if need be.", func(at place, in writeIn) (string, error) {
		return fmt.Sprintf("wrote %s to %s", counted(len(in.Content), "byte"), at.name), at.write([]byte(in.Content))
	}),
	defineAt("files__append", "Adds a text at the end of a file.", func(at place, in writeIn) (string, error) {
		old, err := at.read(maxFile - maxArguments)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		whole := append(old, in.Content...)
		return fmt.Sprintf("%s has %s now", at.name, counted(len(whole), "byte")), at.write(whole)
	}),
	defineAt("files__replace_text", "Replaces every occurrence of a phrase inside a file.", func(at place, in struct {
		fileIn
		Find    string `json:"find" jsonschema_description:"The phrase to replace"`
		Replace string `json:"replace" jsonschema_description:"What to put in its place; may be empty"`
	}) (string, error) {
		data, err := at.read(maxAnswer)
		if err != nil {
			return "", err
		}
		n := bytes.Count(data, []byte(in.Find))
		text, err := textReplace(replaceIn{textIn{string(data)}, in.Find, in.Replace})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("replaced %s in %s", counted(n, "occurrence"), at.name), at.write([]byte(text))
	}),
	defineAt("files__count", "Counts the lines, words, characters and bytes of a text file.", func(at place, in fileIn) (string, error) {
		data, err := at.read(maxFile)
		lines := bytes.Count(data, []byte("\n"))
		if len(data) > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		return fmt.Sprintf("%s, %s, %s, %s", counted(lines, "line"), counted(len(bytes.Fields(data)), "word"),
			counted(utf8.RuneCount(data), "character"), counted(len(data), "byte")), err
	}),
	defineAt("files__stat", "Tells a file's size, time of change, type and permissions.", func(at place, in fileIn) (string, error) {
		info, err := at.root.Lstat(at.name)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("name: %s\ntype: %s\nsize: %d bytes\nchanged: %s\npermissions: %s", at.name, kindOf(info.Mode()), info.Size(),
			info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC"), info.Mode().Perm()), nil
	}),
	defineAt("files__hash", "Computes a digest such as SHA-256 of a file's content.", func(at place, in struct {
		fileIn
		Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=sha256,enum=sha512,enum=sha1,enum=md5,enum=crc32,default=sha256" jsonschema_description:"The algorithm of the digest"`
	}) (string, error) {
		data, err := at.read(maxFile)
		return digest(in.Algorithm, string(data)), err
	}),
	defineAt("files__copy", "Copies a file inside the working folder.", func(at place, in fromToIn) (string, error) {
		data, err := at.read(maxFile)
		if err != nil {
			return "", err
		}
		to := at.to(in.To)
		if err := to.free(); err != nil {
			return "", inside(err, in.To)
		}
		return fmt.Sprintf("copied %s to %s (%s)", at.name, to.name, counted(len(data), "byte")), inside(to.write(data), in.To)
	}),
	defineAt("files__move", "Moves or renames a file or folder inside the working folder.", func(at place, in fromToIn) (string, error) {
		to := at.to(in.To)
		if _, err := at.root.Lstat(at.name); err != nil {
			return "", err
		}
		if err := to.free(); err != nil {
			return "", inside(err, in.To)
		}
		if at.name == "." || strings.HasPrefix(to.name+"/", at.name+"/") {
			return "", fmt.Errorf("%q cannot be moved into itself", at.name)
		}
		err := at.root.MkdirAll(path.Dir(to.name), 0o755)
		if err == nil {
			err = at.root.Rename(at.name, to.name)
		}
		return fmt.Sprintf("moved %s to %s", at.name, to.name), inside(err, in.To)
	}),
	defineAt("files__delete", "Deletes a file or an empty folder.", func(at place, in fileIn) (string, error) {
		if at.name == "." {
			return "", errors.New("the working folder itself cannot be deleted")
		}
		return "deleted " + at.name, at.root.Remove(at.name)
	}),
	defineAt("files__compare", "Compares two text files line by line and shows what was added and removed.", func(at place, in twoFilesIn) (string, error) {
		first, err := at.read(maxAnswer)
		if err != nil {
			return "", err
		}
		second, err := at.to(in.Second).read(maxAnswer)
		if err != nil {
			return "", inside(err, in.Second)
		}
		return compareLines(oldNewIn{string(first), string(second)})
	}),
}}

type fileIn struct {
	Path string `json:"path" jsonschema_description:"The file's path inside the working folder, such as docs/notes.txt"`
}

func (in fileIn) path() string { return in.Path }

type writeIn struct {
	fileIn
	Content string `json:"content" jsonschema_description:"The text to write"`
}

type fromToIn struct {
	From string `json:"from_path" jsonschema_description:"The path of what is there"`
	To   string `json:"to_path" jsonschema_description:"The new path; it must be free"`
}

func (in fromToIn) path() string { return in.From }

type twoFilesIn struct {
	First  string `json:"first_path" jsonschema_description:"The path of the old file"`
	Second string `json:"second_path" jsonschema_description:"The path of the new file"`
}

func (in twoFilesIn) path() string { return in.First }

var folderServer = group{"folder", "Folders in the working folder", []maker{
	defineAt("folder__list", "Lists the files and folders inside a folder with their sizes.", func(at place, in folderIn) (string, error) {
		entries, err := fs.ReadDir(at.root.FS(), at.name)
		if err != nil {
			return "", err
		}
		var out []string
		for _, e := range entries[:min(len(entries), maxFiles)] {
			line := e.Name() + "/"
			if info, err := e.Info(); err == nil && !e.IsDir() {
				line = fmt.Sprintf("%s (%d bytes)", e.Name(), info.Size())
			}
			out = append(out, line)
		}
		return listed(out, "the folder is empty"), nil
	}),
	defineStreamAt("folder__tree", "Draws a folder and everything below it as a tree.", func(at place, in struct {
		folderIn
		Depth int `json:"depth,omitempty" jsonschema:"default=5,minimum=1,maximum=50" jsonschema_description:"How many levels to draw"`
	}, emit func(string) bool) error {
		top, err := fs.ReadDir(at.root.FS(), at.name)
		if err != nil {
			return err
		}
		if len(top) == 0 {
			emit("the folder is empty\n")
		}
		left := maxFiles
		return fs.WalkDir(at.root.FS(), at.name, func(name string, e fs.DirEntry, err error) error {
			if err != nil || name == at.name {
				return err
			}
			above := strings.Count(strings.TrimPrefix(name, at.name+"/"), "/")
			line := strings.Repeat("  ", above) + e.Name() + either(e.IsDir(), "/", "")
			if left--; left < 0 || !emit(line+"\n") {
				return fs.SkipAll
			}
			if e.IsDir() && above+1 == in.Depth {
				return fs.SkipDir
			}
			return nil
		})
	}),
	defineAt("folder__find", "Finds files by a name pattern such as *.txt, in a folder and all folders below.", func(at place, in struct {
		folderIn
		Pattern string `json:"pattern" jsonschema_description:"The name pattern with * and ?, such as *.txt or report*"`
	}) (string, error) {
		var out []string
		if _, err := path.Match(in.Pattern, ""); err != nil {
			return "", fmt.Errorf("%q is not a valid name pattern", in.Pattern)
		}
		err := at.files(func(file place, _ fs.DirEntry) error {
			if ok, _ := path.Match(strings.ToLower(in.Pattern), strings.ToLower(path.Base(file.name))); ok {
				out = append(out, file.name)
			}
			return nil
		})
		return listed(out, "no file has such a name"), err
	}),
	defineAt("folder__search_text", "Searches the contents of all files in a folder for a word or phrase and shows the lines (grep).", func(at place, in struct {
		folderIn
		Text       string `json:"text" jsonschema_description:"The word or phrase to look for"`
		IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema_description:"Whether upper and lower case count as the same"`
	}) (string, error) {
		if in.Text == "" {
			return "", fmt.Errorf("the argument \"text\" is empty")
		}
		fold := func(s string) string { return either(in.IgnoreCase, strings.ToLower(s), s) }
		var out []string
		err := at.files(func(file place, _ fs.DirEntry) error {
			data, err := file.read(maxFile)
			if err != nil || strings.Contains(string(data[:min(len(data), 1000)]), "\x00") {
				return nil // too large or not a text
			}
			for i, line := range strings.Split(string(data), "\n") {
				if !strings.Contains(fold(line), fold(in.Text)) {
					continue
				}
				if out = append(out, fmt.Sprintf("%s:%d: %.500s", file.name, i+1, strings.TrimSpace(line))); len(out) == maxMatches {
					return fs.SkipAll
				}
			}
			return nil
		})
		return listed(out, "no file contains it"), err
	}),
	defineAt("folder__size", "Adds up the sizes of all files below a folder.", func(at place, in folderIn) (string, error) {
		all, err := at.sized()
		total := int64(0)
		for _, s := range all {
			total += s.info.Size()
		}
		return fmt.Sprintf("%s in %s", counted(int(total), "byte"), counted(len(all), "file")), err
	}),
	defineAt("folder__largest_files", "Lists the largest files below a folder.", func(at place, in someFilesIn) (string, error) {
		return at.top(in.Count, func(a, b sized) bool { return a.info.Size() > b.info.Size() },
			func(s sized) string { return fmt.Sprintf("%d %s", s.info.Size(), s.name) })
	}),
	defineAt("folder__recent_files", "Lists the files below a folder that were changed last.", func(at place, in someFilesIn) (string, error) {
		return at.top(in.Count, func(a, b sized) bool { return a.info.ModTime().After(b.info.ModTime()) },
			func(s sized) string { return s.info.ModTime().UTC().Format("2006-01-02 15:04:05 ") + s.name })
	}),
	defineAt("folder__count_by_extension", "Counts the files below a folder by their extension.", func(at place, in folderIn) (string, error) {
		counts := map[string]int{}
		err := at.files(func(file place, _ fs.DirEntry) error {
			counts[cmp.Or(path.Ext(file.name), "(none)")]++
			return nil
		})
		return ranked(counts, len(counts)), err
	}),
	defineAt("folder__find_duplicates", "Finds files with the same content below a folder.", func(at place, in folderIn) (string, error) {
		same := map[[sha256.Size]byte][]string{}
		err := at.files(func(file place, _ fs.DirEntry) error {
			if data, err := file.read(maxFile); err == nil {
				same[sha256.Sum256(data)] = append(same[sha256.Sum256(data)], file.name)
			}
			return nil
		})
		var out []string
		for _, names := range same {
			if len(names) > 1 {
				out = append(out, strings.Join(names, " = "))
			}
		}
		sort.Strings(out)
		return listed(out, "no two files are the same"), err
	}),
	defineAt("folder__make", "Makes a new folder, with the folders above it.", func(at place, in newFolderIn) (string, error) {
		if err := at.free(); err != nil {
			return "", err
		}
		return "made " + at.name, at.root.MkdirAll(at.name, 0o755)
	}),
}}

type folderIn struct {
	Path string `json:"path,omitempty" jsonschema:"default=." jsonschema_description:"The folder's path inside the working folder; the working folder itself if left out"`
}

func (in folderIn) path() string { return in.Path }

type someFilesIn struct {
	folderIn
	Count int `json:"count,omitempty" jsonschema:"default=10,minimum=1,maximum=1000" jsonschema_description:"How many files to list"`
}

type newFolderIn struct {
	Path string `json:"path" jsonschema_description:"The new folder's path inside the working folder"`
}

func (in newFolderIn) path() string { return in.Path }

// sized is a file with what lists are sorted by.
type sized struct {
	name string
	info fs.FileInfo
}

func (p place) sized() (out []sized, err error) {
	err = p.files(func(file place, e fs.DirEntry) error {
		if info, err := e.Info(); err == nil {
			out = append(out, sized{file.name, info})
		}
		return nil
	})
	return out, err
}

// top lists the first files of an order.
func (p place) top(count int, before func(a, b sized) bool, line func(sized) string) (string, error) {
	all, err := p.sized()
	sort.SliceStable(all, func(i, j int) bool { return before(all[i], all[j]) })
	return listed(each(all[:min(count, len(all))], line), "there are no files"), err
}

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
