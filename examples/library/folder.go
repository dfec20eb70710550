// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of folders under the root.

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func folderServer(root string) Server {
	f := folder{root}
	return Server{Name: "folder", Title: "Folders in the working folder", Tools: []tool.BaseTool{
		define("folder__list", "Lists the files and folders inside a folder with their sizes.", f.list),
		defineStream("folder__tree", "Draws a folder and everything below it as a tree.", f.tree),
		define("folder__find", "Finds files by a name pattern such as *.txt, in a folder and all folders below.", f.find),
		define("folder__search_text", "Searches the contents of all files in a folder for a word or phrase and shows the lines (grep).", f.search),
		define("folder__size", "Adds up the sizes of all files below a folder.", f.size),
		define("folder__largest_files", "Lists the largest files below a folder.", f.largest),
		define("folder__recent_files", "Lists the files below a folder that were changed last.", f.recent),
		define("folder__count_by_extension", "Counts the files below a folder by their extension.", f.extensions),
		define("folder__find_duplicates", "Finds files with the same content below a folder.", f.duplicates),
		define("folder__make", "Makes a new folder, with the folders above it.", f.make),
	}}
}

type folderIn struct {
	Path string `json:"path,omitempty" jsonschema:"default=." jsonschema_description:"The folder's path inside the working folder; the working folder itself if left out"`
}

func (f folder) list(in folderIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		entries, err := fs.ReadDir(root.FS(), name)
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
	})
}

type treeIn struct {
	folderIn
	Depth int `json:"depth,omitempty" jsonschema:"default=5,minimum=1,maximum=50" jsonschema_description:"How many levels to draw"`
}

func (f folder) tree(in treeIn, emit func(string) bool) error {
	_, err := f.with(in.Path, func(root *os.Root, name string) (string, error) {
		left := maxFiles
		var branch func(name, indent string, depth int) error
		branch = func(name, indent string, depth int) error {
			entries, err := fs.ReadDir(root.FS(), name)
			if err != nil {
				return err
			}
			for _, e := range entries {
				mark := ""
				if e.IsDir() {
					mark = "/"
				}
				if left--; left < 0 || !emit(indent+e.Name()+mark+"\n") {
					return errEnough
				}
				if e.IsDir() && depth > 1 {
					if err := branch(path.Join(name, e.Name()), indent+"  ", depth-1); err != nil {
						return err
					}
				}
			}
			return nil
		}
		err := branch(name, "", in.Depth)
		if left == maxFiles && err == nil {
			emit("the folder is empty\n")
		}
		if err == errEnough {
			err = nil
		}
		return "", err
	})
	return err
}

type findIn struct {
	folderIn
	Pattern string `json:"pattern" jsonschema_description:"The name pattern with * and ?, such as *.txt or report*"`
}

func (f folder) find(in findIn) (string, error) {
	if _, err := path.Match(in.Pattern, ""); err != nil {
		return "", fmt.Errorf("%q is not a valid name pattern", in.Pattern)
	}
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		var out []string
		err := files(root, name, func(at string, _ fs.DirEntry) error {
			if ok, _ := path.Match(strings.ToLower(in.Pattern), strings.ToLower(path.Base(at))); ok {
				out = append(out, at)
			}
			return nil
		})
		return listed(out, "no file has such a name"), err
	})
}

type searchIn struct {
	folderIn
	Text       string `json:"text" jsonschema_description:"The word or phrase to look for"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema_description:"Whether upper and lower case count as the same"`
}

func (f folder) search(in searchIn) (string, error) {
	if in.Text == "" {
		return "", fmt.Errorf("the argument \"text\" is empty")
	}
	fold := func(s string) string { return s }
	if in.IgnoreCase {
		fold = strings.ToLower
	}
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		var out []string
		err := files(root, name, func(at string, _ fs.DirEntry) error {
			data, err := readFile(root, at, maxFile)
			if err != nil || strings.Contains(string(data[:min(len(data), 1000)]), "\x00") {
				return nil // too large or not a text
			}
			for i, line := range strings.Split(string(data), "\n") {
				if !strings.Contains(fold(line), fold(in.Text)) {
					continue
				}
				if out = append(out, fmt.Sprintf("%s:%d: %.500s", at, i+1, strings.TrimSpace(line))); len(out) == maxMatches {
					return errEnough
				}
			}
			return nil
		})
		return listed(out, "no file contains it"), err
	})
}

// sized is a file with what lists are sorted by.
type sized struct {
	name string
	info fs.FileInfo
}

func collect(root *os.Root, name string) ([]sized, error) {
	var out []sized
	err := files(root, name, func(at string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			out = append(out, sized{at, info})
		}
		return nil
	})
	return out, err
}

func (f folder) size(in folderIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		all, err := collect(root, name)
		total := int64(0)
		for _, s := range all {
			total += s.info.Size()
		}
		return fmt.Sprintf("%s in %s", counted(int(total), "byte"), counted(len(all), "file")), err
	})
}

type someFilesIn struct {
	folderIn
	Count int `json:"count,omitempty" jsonschema:"default=10,minimum=1,maximum=1000" jsonschema_description:"How many files to list"`
}

// top lists the first files of an order.
func (f folder) top(in someFilesIn, before func(a, b sized) bool, line func(sized) string) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		all, err := collect(root, name)
		if err != nil {
			return "", err
		}
		sort.SliceStable(all, func(i, j int) bool { return before(all[i], all[j]) })
		var out []string
		for _, s := range all[:min(in.Count, len(all))] {
			out = append(out, line(s))
		}
		return listed(out, "there are no files"), nil
	})
}

func (f folder) largest(in someFilesIn) (string, error) {
	return f.top(in, func(a, b sized) bool { return a.info.Size() > b.info.Size() },
		func(s sized) string { return fmt.Sprintf("%d %s", s.info.Size(), s.name) })
}

func (f folder) recent(in someFilesIn) (string, error) {
	return f.top(in, func(a, b sized) bool { return a.info.ModTime().After(b.info.ModTime()) },
		func(s sized) string { return s.info.ModTime().UTC().Format("2006-01-02 15:04:05 ") + s.name })
}

func (f folder) extensions(in folderIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		counts := map[string]int{}
		err := files(root, name, func(at string, _ fs.DirEntry) error {
			ext := path.Ext(at)
			if ext == "" {
				ext = "(none)"
			}
			counts[ext]++
			return nil
		})
		return ranked(counts, len(counts)), err
	})
}

func (f folder) duplicates(in folderIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		same := map[[sha256.Size]byte][]string{}
		err := files(root, name, func(at string, _ fs.DirEntry) error {
			if data, err := readFile(root, at, maxFile); err == nil {
				same[sha256.Sum256(data)] = append(same[sha256.Sum256(data)], at)
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
	})
}

type makeIn struct {
	Path string `json:"path" jsonschema_description:"The new folder's path inside the working folder"`
}

func (f folder) make(in makeIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		if err := free(root, name); err != nil {
			return "", err
		}
		return "made " + name, root.MkdirAll(name, 0o755)
	})
}
