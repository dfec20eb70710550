// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of single files under the root.

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
)

func filesServer(root string) Server {
	f := folder{root}
	return Server{Name: "files", Title: "Files in the working folder", Tools: []tool.BaseTool{
		define("files__read", "Reads a text file of the working folder as a whole.", f.read),
		defineStream("files__read_lines", "Reads some lines of a text file of the working folder, with their numbers.", f.readLines),
		define("files__tail", "Reads the last lines of a text file, as of a log.", f.tail),
		define("files__write", "Writes a text into a file, making the file and the folders above it if need be.", f.write),
		define("files__append", "Adds a text at the end of a file.", f.appendTo),
		define("files__replace_text", "Replaces every occurrence of a phrase inside a file.", f.replace),
		define("files__count", "Counts the lines, words, characters and bytes of a text file.", f.count),
		define("files__stat", "Tells a file's size, time of change, type and permissions.", f.stat),
		define("files__hash", "Computes a digest such as SHA-256 of a file's content.", f.hash),
		define("files__copy", "Copies a file inside the working folder.", f.copyFile),
		define("files__move", "Moves or renames a file or folder inside the working folder.", f.move),
		define("files__delete", "Deletes a file or an empty folder.", f.remove),
		define("files__compare", "Compares two text files line by line and shows what was added and removed.", f.compare),
	}}
}

type fileIn struct {
	Path string `json:"path" jsonschema_description:"The file's path inside the working folder, such as docs/notes.txt"`
}

func (f folder) read(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxAnswer)
		return readable(data[:min(len(data), maxAnswer)]), err
	})
}

type readLinesIn struct {
	fileIn
	Start int `json:"start_line,omitempty" jsonschema:"default=1,minimum=1" jsonschema_description:"The first line to read, counted from 1"`
	Count int `json:"count,omitempty" jsonschema:"default=100,minimum=1,maximum=10000" jsonschema_description:"How many lines to read"`
}

func (f folder) readLines(in readLinesIn, emit func(string) bool) error {
	_, err := f.with(in.Path, func(root *os.Root, name string) (string, error) {
		file, err := root.Open(name)
		if err != nil {
			return "", err
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
				return "", nil
			}
		}
		if err = lines.Err(); err == nil && sent == 0 {
			err = fmt.Errorf("%q has %s", name, counted(n-1, "line"))
		}
		return "", err
	})
	return err
}

type tailIn struct {
	fileIn
	Count int `json:"count,omitempty" jsonschema:"default=10,minimum=1,maximum=10000" jsonschema_description:"How many lines to read"`
}

func (f folder) tail(in tailIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxFile)
		if err != nil {
			return "", err
		}
		return linesTail(someLinesIn{linesIn{string(data)}, in.Count})
	})
}

type writeIn struct {
	fileIn
	Content string `json:"content" jsonschema_description:"The text to write"`
}

func (f folder) write(in writeIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		return fmt.Sprintf("wrote %s to %s", counted(len(in.Content), "byte"), name), writeFile(root, name, []byte(in.Content))
	})
}

func (f folder) appendTo(in writeIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		old, err := readFile(root, name, maxFile-maxArguments)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		whole := append(old, in.Content...)
		return fmt.Sprintf("%s has %s now", name, counted(len(whole), "byte")), writeFile(root, name, whole)
	})
}

type replaceInFileIn struct {
	fileIn
	Find    string `json:"find" jsonschema_description:"The phrase to replace"`
	Replace string `json:"replace" jsonschema_description:"What to put in its place; may be empty"`
}

func (f folder) replace(in replaceInFileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxAnswer)
		if err != nil {
			return "", err
		}
		n := bytes.Count(data, []byte(in.Find))
		text, err := textReplace(replaceIn{textIn{string(data)}, in.Find, in.Replace})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("replaced %s in %s", counted(n, "occurrence"), name), writeFile(root, name, []byte(text))
	})
}

func (f folder) count(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxFile)
		lines := bytes.Count(data, []byte("\n"))
		if len(data) > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		return fmt.Sprintf("%s, %s, %s, %s", counted(lines, "line"), counted(len(bytes.Fields(data)), "word"),
			counted(utf8.RuneCount(data), "character"), counted(len(data), "byte")), err
	})
}

func (f folder) stat(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		info, err := root.Lstat(name)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("name: %s\ntype: %s\nsize: %d bytes\nchanged: %s\npermissions: %s", name, kindOf(info.Mode()), info.Size(),
			info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC"), info.Mode().Perm()), nil
	})
}

type hashFileIn struct {
	fileIn
	Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=sha256,enum=sha512,enum=sha1,enum=md5,enum=crc32,default=sha256" jsonschema_description:"The algorithm of the digest"`
}

func (f folder) hash(in hashFileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxFile)
		h := hashes[in.Algorithm]()
		h.Write(data)
		return hex.EncodeToString(h.Sum(nil)), err
	})
}

type fromToIn struct {
	From string `json:"from_path" jsonschema_description:"The path of what is there"`
	To   string `json:"to_path" jsonschema_description:"The new path; it must be free"`
}

// free refuses a path that is taken.
func free(root *os.Root, name string) error {
	if _, err := root.Lstat(name); err == nil {
		return fmt.Errorf("%q is there already", name)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) copyFile(in fromToIn) (string, error) {
	return f.with(in.From, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxFile)
		if err != nil {
			return "", err
		}
		to := local(in.To)
		if err := free(root, to); err != nil {
			return "", inside(err, in.To)
		}
		return fmt.Sprintf("copied %s to %s (%s)", name, to, counted(len(data), "byte")), inside(writeFile(root, to, data), in.To)
	})
}

func (f folder) move(in fromToIn) (string, error) {
	return f.with(in.From, func(root *os.Root, name string) (string, error) {
		to := local(in.To)
		if _, err := root.Lstat(name); err != nil {
			return "", err
		}
		if err := free(root, to); err != nil {
			return "", inside(err, in.To)
		}
		if name == "." || strings.HasPrefix(to+"/", name+"/") {
			return "", fmt.Errorf("%q cannot be moved into itself", name)
		}
		if cut := strings.LastIndexByte(to, '/'); cut > 0 {
			if err := root.MkdirAll(to[:cut], 0o755); err != nil {
				return "", inside(err, in.To)
			}
		}
		return fmt.Sprintf("moved %s to %s", name, to), inside(root.Rename(name, to), in.To)
	})
}

func (f folder) remove(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		if name == "." {
			return "", errors.New("the working folder itself cannot be deleted")
		}
		return "deleted " + name, root.Remove(name)
	})
}

type twoFilesIn struct {
	First  string `json:"first_path" jsonschema_description:"The path of the old file"`
	Second string `json:"second_path" jsonschema_description:"The path of the new file"`
}

func (f folder) compare(in twoFilesIn) (string, error) {
	return f.with(in.First, func(root *os.Root, name string) (string, error) {
		first, err := readFile(root, name, maxAnswer)
		if err != nil {
			return "", err
		}
		second, err := readFile(root, local(in.Second), maxAnswer)
		if err != nil {
			return "", inside(err, in.Second)
		}
		return compareLines(oldNewIn{string(first), string(second)})
	})
}
