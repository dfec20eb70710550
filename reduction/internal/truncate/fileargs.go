// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Whether a call asks for what a file holds. Such a result keeps its form, whatever the file is
// called: a model that edits it quotes its text.

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
)

// jsonEnds are the ends of names of files that hold JSON. Anywhere in arguments, such as in a
// command or a program, they name a file.
var jsonEnds = []string{
	".json", ".jsonc", ".json5", ".jsonl", ".ndjson", ".geojson", ".topojson", ".ipynb", ".webmanifest", ".har", ".tfstate", ".gltf", ".avsc",
	".lock", ".resolved", ".xcstrings", ".code-workspace", "rc",
}

// printers are commands that print the files after them.
var printers = []string{"cat", "bat", "type", "less", "more", "nl", "get-content", "gc"}

// fileKeys are the ends of the names of arguments that name files.
var fileKeys = []string{"path", "paths", "file", "files", "filename", "filenames", "notebook", "uri"}

// namesFile reports whether the arguments of a call name a file, and not just one on the web.
func namesFile(args string) bool {
	var decoded any
	if json.Unmarshal([]byte(args), &decoded) != nil {
		return mentionsFile(args)
	}
	return anyNamesFile("", decoded)
}

// anyNamesFile reports whether the value of an argument, or one in it, names a file.
func anyNamesFile(key string, v any) bool {
	switch v := v.(type) {
	case string:
		return isFileKey(key) && isFile(v) || mentionsFile(v)
	case []any:
		return slices.ContainsFunc(v, func(each any) bool { return anyNamesFile(key, each) })
	case map[string]any:
		for key, each := range v {
			if anyNamesFile(key, each) {
				return true
			}
		}
	}
	return false
}

func isFileKey(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(fileKeys, func(end string) bool { return strings.HasSuffix(key, end) })
}

// isFile reports whether a text is the name of a file: that of a directory ends without a dot.
func isFile(name string) bool {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	dot := strings.LastIndexByte(base, '.')
	return dot >= 0 && dot < len(base)-1 && !isOnTheWeb(name)
}

func isOnTheWeb(name string) bool {
	return strings.Contains(name, "://") && !strings.HasPrefix(strings.ToLower(name), "file:")
}

// mentionsFile reports whether a text, such as a command, prints a file or names one that holds JSON.
func mentionsFile(text string) bool {
	prints := false
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>|;,=&", r) }) {
		word = strings.ToLower(word)
		switch base := path.Base(word); {
		case isOnTheWeb(word):
		case prints && word[0] != '-', isJSONName(base):
			return true
		case slices.Contains(printers, base):
			prints = true
		}
	}
	return false
}

// isJSONName reports whether the name of a file, in small letters, is that of one with JSON.
func isJSONName(base string) bool {
	return slices.ContainsFunc(jsonEnds, func(end string) bool {
		return strings.HasSuffix(base, end) && (end != "rc" || base[0] == '.') // .prettierrc, but not src
	})
}
