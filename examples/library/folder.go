// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of folders under the root.

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

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
