// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command licences looks through every file of the repository for what others hold the rights to, and
// through the dependencies of every module, those of tests included, for a licence under which they may
// be used.
//
//	go run ./internal/dev/tools/licences
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root string) error {
	files, err := lines(root, "git", "ls-files", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	var faults []error
	for _, file := range files {
		faults = append(faults, lookThrough(root, file)...)
	}
	fmt.Fprintf(out, "%d files: %d texts of others\n", len(files), len(faults))
	kinds := make(map[string]map[string]bool)
	for _, file := range files {
		if filepath.Base(file) == "go.mod" && !strings.Contains(file, "testdata/") {
			faults = append(faults, dependencies(filepath.Join(root, filepath.Dir(file)), kinds))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(out, "%-10s %d modules\n", kind, len(kinds[kind]))
	}
	return errors.Join(faults...)
}

// lines runs a command in a folder.
func lines(dir string, command ...string) ([]string, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	var failed bytes.Buffer
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w: %s", strings.Join(command, " "), dir, err, failed.String())
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), nil
}

// phrases are those of licences and of the headers that point to them, in lower case.
//
//go:embed phrases.txt
var phrases string

// ours are the files that hold such words for a reason.
var ours = map[string]string{
	"LICENSE": "the project's own",
	"internal/dev/tools/licences/phrases.txt": "what is looked for",
	"internal/dev/tools/licences/main.go":     "what is looked for",
	"internal/policy_go_test.go":              "a header that a test refuses",
}

var (
	header      = regexp.MustCompile(`(?i)copyright (?:\(c\)|©|\d{4}|the )[^\n]{0,60}`)
	licenseMark = regexp.MustCompile(`SPDX-License-Identifier: ([\w.-]+)`)
)

// lookThrough reports what others hold the rights to in a file, also in a compressed one.
func lookThrough(root, file string) (faults []error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if errors.Is(err, os.ErrNotExist) { // deleted, and not yet committed
		return nil
	}
	if err == nil && strings.HasSuffix(file, ".gz") {
		text, err = unzip(text)
	}
	if err != nil {
		return []error{err}
	}
	if ours[file] != "" {
		return nil
	}
	for _, found := range foreign(string(text)) {
		faults = append(faults, fmt.Errorf("%s: %q", file, found))
	}
	return faults
}

func unzip(text []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// foreign is what in a text says that it, or a part of it, is under another licence.
func foreign(text string) (found []string) {
	if m := header.FindString(text); m != "" {
		found = append(found, m)
	}
	for _, m := range licenseMark.FindAllStringSubmatch(text, -1) {
		if m[1] != "Apache-2.0" {
			found = append(found, m[0])
		}
	}
	lower := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for phrase := range strings.Lines(phrases) {
		if phrase = strings.TrimSpace(phrase); strings.Contains(lower, phrase) {
			found = append(found, phrase)
		}
	}
	return found
}

// dependencies notes the kinds of licences of what the packages and tests of a module are built from.
func dependencies(dir string, kinds map[string]map[string]bool) error {
	found, err := lines(dir, "go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./...")
	if err != nil {
		return err
	}
	slices.Sort(found)
	var faults []error
	for _, line := range slices.Compact(found) {
		path, at, ok := strings.Cut(line, " ")
		if !ok || strings.HasPrefix(path, "github.com/einolean/") {
			continue
		}
		kind, err := licenceOf(at)
		if reason := unlicensed[path]; err != nil && reason != "" {
			kind, err = "none: "+path+", "+reason, nil
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %s: %w", dir, path, err))
			continue
		}
		if kinds[kind] == nil {
			kinds[kind] = make(map[string]bool)
		}
		kinds[kind][path] = true
	}
	return errors.Join(faults...)
}

// permissive are licences under which a dependency may be used, by words of their text.
var permissive = []struct{ kind, words string }{
	{"Apache-2.0", "apache license"},
	{"MIT", "permission is hereby granted, free of charge"},
	{"BSD", "redistribution and use in source and binary forms"},
	{"ISC", "permission to use, copy, modify, and"},
	{"MPL-2.0", "mozilla public license"},
	{"CC0", "cc0 1.0 universal"},
	{"Unlicense", "released into the public domain"},
}

// unlicensed are those that have no licence in their module, and why they are here.
var unlicensed = map[string]string{
	"github.com/volcengine/volc-sdk-golang": "which eino-ext's adapter of Ark needs",
}

var licenceFile = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`)

// licenceIn is the kind of licence that a folder, or one of the two above it, has.
func licenceIn(dir string) (string, error) {
	for range 3 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			if kind := kindOf(string(text)); kind != "" {
				return kind, nil
			}
			return "", fmt.Errorf("%s is of no kind that is known", filepath.Join(dir, e.Name()))
		}
		dir = filepath.Dir(dir)
	}
	return "", errors.New("there is no licence")
}

// licenceOf is the kind of licence of a module: in its folder, or in the header of its files, as
// modules within a repository have it.
func licenceOf(dir string) (string, error) {
	kind, err := licenceIn(dir)
	if err == nil || kind != "" {
		return kind, err
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		if text, e := os.ReadFile(file); e == nil && strings.Contains(string(text), "Licensed under the Apache "+"License, Version 2.0") {
			return "Apache-2.0", nil
		}
	}
	return "", err
}

func kindOf(text string) string {
	lower := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, p := range permissive {
		if strings.Contains(lower, p.words) {
			return p.kind
		}
	}
	return ""
}
