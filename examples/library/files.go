// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of single files under the root.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
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
