// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Whether the arguments of a call name a file. The content of a file is never compacted, whatever the name of
// the file: a model that edits a file quotes its text.

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
)

// jsonSuffixes are suffixes of names of files that contain JSON. A word with one names a file wherever it
// stands in the arguments, such as in a command or a program.
var jsonSuffixes = []string{
	".json", ".jsonc", ".json5", ".jsonl", ".ndjson", ".geojson", ".topojson",
	".ipynb", ".webmanifest", ".har", ".tfstate", ".gltf", ".avsc", ".lock",
	".resolved", ".xcstrings", ".code-workspace", "rc",
}

// printCommands are commands that print the files named after them.
var printCommands = []string{"cat", "bat", "type", "less", "more", "nl", "get-content", "gc"}

// fileKeySuffixes are suffixes of the names of arguments whose values are file names.
var fileKeySuffixes = []string{"path", "paths", "file", "files", "filename", "filenames", "notebook", "uri"}

// namesFile reports whether the arguments of a call name a file. Web addresses do not count.
func namesFile(args string) bool {
	var decoded any
	if json.Unmarshal([]byte(args), &decoded) != nil {
		return mentionsFile(args)
	}
	return anyNamesFile("", decoded)
}

// anyNamesFile reports whether the value of an argument, or a value inside it, names a file.
func anyNamesFile(key string, v any) bool {
	switch v := v.(type) {
	case string:
		return NamesFile(key) && isFile(v) || mentionsFile(v)
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return anyNamesFile(key, element) })
	case map[string]any:
		for key, element := range v {
			if anyNamesFile(key, element) {
				return true
			}
		}
	}
	return false
}

// NamesFile reports whether the name of an argument says that its value is the name of a file.
func NamesFile(key string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(fileKeySuffixes, func(suffix string) bool { return strings.HasSuffix(key, suffix) })
}

// isFile reports whether a text looks like the name of a file: its last element has an extension.
func isFile(name string) bool {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	dot := strings.LastIndexByte(base, '.')
	return dot >= 0 && dot < len(base)-1 && !isWebAddress(name)
}

func isWebAddress(name string) bool {
	return strings.Contains(name, "://") && !strings.HasPrefix(strings.ToLower(name), "file:")
}

// mentionsFile reports whether a text, such as a command, prints a file or names a JSON file.
func mentionsFile(text string) bool {
	prints := false
	for word := range strings.FieldsFuncSeq(text, separatesWords) {
		word = strings.ToLower(word)
		switch base := path.Base(word); {
		case isWebAddress(word):
		case prints && word[0] != '-', isJSONFileName(base):
			return true
		case slices.Contains(printCommands, base):
			prints = true
		}
	}
	return false
}

// separatesWords reports whether a character separates the words of a command or a program.
func separatesWords(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>|;,=&", r)
}

// isJSONFileName reports whether a file name, in lower case, is that of a JSON file.
func isJSONFileName(base string) bool {
	return slices.ContainsFunc(jsonSuffixes, func(suffix string) bool {
		return strings.HasSuffix(base, suffix) && (suffix != "rc" || base[0] == '.') // .prettierrc, but not src
	})
}
