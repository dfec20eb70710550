// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
)

// Samples returns the frozen samples of a kind, by name: v1/kind.ext, and v1/kind-2.ext and so on. Those
// that are .txt hold what is no text. write makes one with today's build: a key in it that no sample has
// fails the test, and with EINOLEAN_UPDATE=1 becomes a new sample.
func Samples(t testing.TB, kind, ext string, write func() string) map[string]string {
	t.Helper()
	samples, known := map[string]string{}, map[string]bool{}
	names, err := fs.Glob(Files(), "*/"+kind+"*"+ext)
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isOf(kind, ext, path.Base(name)) })
	for _, name := range names {
		raw, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		if samples[name], err = Unpack(name, string(raw)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, key := range keys(samples[name]) {
			known[key] = true
		}
	}
	fresh := write()
	added := slices.DeleteFunc(keys(fresh), func(key string) bool { return known[key] })
	if len(names) > 0 && (len(added) == 0 || isNextEino()) {
		return samples
	}
	name := "v1/" + kind + ext
	if len(names) > 0 {
		name = fmt.Sprintf("v1/%s-%d%s", kind, len(names)+1, ext)
	}
	if os.Getenv("EINOLEAN_UPDATE") != "1" {
		t.Fatalf("no sample of %s has the keys %q, which this build writes: EINOLEAN_UPDATE=1 adds %s, and once more its sum to %s", kind, added, name, "sums.txt")
	}
	if err := os.WriteFile(folder(t)+"/"+name, []byte(packed(ext, fresh)), 0o644); err != nil {
		t.Fatal(err)
	}
	samples[name] = fresh
	return samples
}

// isNextEino reports whether this is not the version of Eino that samples are written with, which may have
// names of its own in them.
func isNextEino() bool {
	_, is := reflect.TypeFor[adk.AgentEvent]().FieldByName("SessionEventVariant")
	return is
}

var numbered = regexp.MustCompile(`^(-\d+)?$`)

// isOf reports whether a file has samples of a kind.
func isOf(kind, ext, file string) bool {
	return numbered.MatchString(strings.TrimSuffix(strings.TrimPrefix(file, kind), ext))
}

// folder is where the samples are, from the package whose tests run.
func folder(t testing.TB) string {
	for dir := "internal"; ; dir = "../" + dir {
		if at := filepath.Join(dir, "formats", "testdata"); isDir(at) {
			return at
		}
		if len(dir) > 200 {
			t.Fatal("the samples are not above the package")
		}
	}
}

func isDir(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.IsDir()
}

// Unpack returns what the file of a sample holds.
func Unpack(name, text string) (string, error) {
	if path.Ext(name) != ".txt" {
		return text, nil
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(r)
	return string(all), err
}

// packed is the file of a sample.
func packed(ext, content string) string {
	if ext != ".txt" {
		return content
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content) // a buffer takes all
	_ = w.Close()
	var lines strings.Builder
	for part := range slices.Chunk(b.Bytes(), 75) {
		lines.WriteString(base64.StdEncoding.EncodeToString(part) + "\n")
	}
	return lines.String()
}

var (
	ours  = regexp.MustCompile(`_*einolean[._]\w[\w./]*`)
	field = regexp.MustCompile(`\x01[\x01-\x3f]([A-Z]\w*)\x01`) // of a type, in gob
	plain = regexp.MustCompile(`^[A-Za-z_.-]+$`)
)

// keys are the names in a sample that readers depend on: of the library, of fields in gob, and of members
// in JSON.
func keys(content string) (found []string) {
	for _, name := range ours.FindAllString(content, -1) {
		found = append(found, strings.TrimRight(name, "0123456789."))
	}
	for _, m := range field.FindAllStringSubmatchIndex(content, -1) {
		if name := content[m[2]:m[3]]; int(content[m[2]-1]) == len(name) {
			found = append(found, name)
		}
	}
	for from := json.NewDecoder(strings.NewReader(content)); ; {
		var value any
		if from.Decode(&value) != nil {
			break
		}
		found = append(found, members(value)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// members are the names of all members of a JSON value that are words.
func members(value any) (names []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			names = append(names, members(item)...)
		}
	case map[string]any:
		for name, item := range value {
			if plain.MatchString(name) {
				names = append(names, name)
			}
			names = append(names, members(item)...)
		}
	}
	return names
}
