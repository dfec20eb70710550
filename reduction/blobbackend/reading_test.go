// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
)

const (
	readTool = "read_file"
	atOnce   = 8 // pages in a round
)

var (
	savedTo = regexp.MustCompile(`saved(?: in full)? to: (\S+)`)
	page    = regexp.MustCompile(`bytes (\d+) to (\d+) of (\d+), between the two lines (\S+)\n`)
)

// reading is what a model has read so far.
type reading struct {
	files []*readFile
	asked map[string]*readFile // by call id
}

// readFile is one stored result.
type readFile struct {
	call, path string
	text       strings.Builder
	done       bool
}

// next takes in the pages that came, and returns calls for those that are missing.
func (r *reading) next(messages []*schema.Message, calls int) (pages []adktest.ToolCall) {
	for _, m := range messages {
		r.take(m)
	}
	if r.asked == nil {
		r.asked = make(map[string]*readFile)
	}
	for _, f := range r.files {
		if f.done || len(pages) == atOnce {
			continue
		}
		id := fmt.Sprintf("functions.%s:%d", readTool, calls+len(pages))
		r.asked[id] = f
		pages = append(pages, adktest.ToolCall{ID: id, Name: readTool, Args: fmt.Sprintf(`{"file_path":%q,"byte_offset":%d}`, f.path, f.text.Len())})
	}
	return pages
}

// take looks at a message: a page that was asked for, or a result that shows a path.
func (r *reading) take(m *schema.Message) {
	if m.Role != schema.Tool {
		return
	}
	text := adktest.Text(m)
	if f := r.asked[m.ToolCallID]; f != nil {
		delete(r.asked, m.ToolCallID)
		f.add(text)
		return
	}
	found := savedTo.FindStringSubmatch(text)
	if m.ToolName == readTool || found == nil {
		return
	}
	known := func(f *readFile) bool { return f.path == found[1] && f.call == m.ToolCallID }
	if !slices.ContainsFunc(r.files, known) {
		r.files = append(r.files, &readFile{call: m.ToolCallID, path: found[1]})
	}
}

// add appends a page. Anything else ends the file: what is missing then shows in its hash.
func (f *readFile) add(answer string) {
	m := page.FindStringSubmatch(answer)
	if m == nil {
		f.done = true
		f.text.WriteString(answer)
		return
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	_, body, _ := strings.Cut(answer, m[4]+"\n"+m[4]+"\n")
	if body == "" {
		_, body, _ = strings.Cut(answer, "\n"+m[4]+"\n")
	}
	f.text.WriteString(body[:min(to-from, len(body))])
	f.done = m[2] == m[3] || to == from
}

// facts are what was read.
func (r *reading) facts(process string) (out []fact) {
	for _, f := range r.files {
		read := factOf(process, f.call, f.text.String())
		read.Path = f.path
		out = append(out, read)
	}
	return out
}

// readLines reads JSON lines. The last one may be torn: a crash leaves that behind.
func readLines[T any](name string) (out []T, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return out, nil
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, v)
	}
}

func writeLines[T any](name string, values []T) error {
	var b strings.Builder
	for _, v := range values {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			return err
		}
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

func writeJSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

func readJSON[T any](name string) (v T, err error) {
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}
