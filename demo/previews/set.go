// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/demo/library"
)

//go:embed testdata/*.txt
var logs embed.FS

// graded returns the whole set, which is always the same.
func graded() ([]result, error) {
	var out []result
	for seed := range uint64(3) {
		out = append(out, services(rand.New(rand.NewPCG(seed, 1)))...)
	}
	out = append(out, wrapped(out)...)
	for seed := range uint64(3) {
		out = append(out, pages(rand.New(rand.NewPCG(seed, 2)))...)
		out = append(out, prose(rand.New(rand.NewPCG(seed, 3)))...)
	}
	tests, err := testLogs()
	if err != nil {
		return nil, err
	}
	tools, err := toolOutputs()
	if err != nil {
		return nil, err
	}
	return append(append(out, tests...), tools...), nil
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // everything here can be encoded
	}
	return string(b)
}

// escaped is a text as it stands inside a JSON string.
func escaped(s string) string {
	e := encode(s)
	return e[1 : len(e)-1]
}

// envelope is a text as an MCP client returns it.
func envelope(text string) string {
	return encode(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": false})
}

// wrapped are results again: inside MCP results, and cut at two thirds by whoever sent
// them. Of a cut one only the facts count that arrived.
func wrapped(results []result) (out []result) {
	for i, r := range results {
		if i%2 == 0 {
			w := r
			w.kind, w.text = "JSON in MCP", envelope(r.text)
			out = append(out, w)
		}
		if i%3 != 0 {
			continue
		}
		c := r
		c.kind, c.text, c.facts = "JSON, cut", r.text[:len(r.text)*2/3], nil
		for _, f := range r.facts {
			if strings.Contains(c.text, f) || strings.Contains(c.text, escaped(f)) {
				c.facts = append(c.facts, f)
			}
		}
		if len(c.facts) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// testLogs are logs of go test and go vet as they were written.
func testLogs() (out []result, err error) {
	for _, name := range []string{"gotest_v.txt", "gotest_panic.txt", "govet.txt"} {
		data, err := logs.ReadFile("testdata/" + name)
		if err != nil {
			return nil, err
		}
		text := string(data)
		facts := logFacts(text)
		out = append(out, result{kind: "test logs", name: name, text: text, question: "Run the tests and mend what fails.", facts: facts},
			result{kind: "test logs", name: name + " in MCP", text: envelope(text), question: "Run the tests and mend what fails.", facts: facts},
			result{kind: "test logs", name: name + " as JSON", text: asEvents(text), question: "Run the tests and mend what fails.", facts: facts})
	}
	return out, nil
}

// logFacts are the names of the failed tests, the first three messages, and the last line.
func logFacts(text string) (facts []string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	messages := 0
	for _, l := range lines {
		switch {
		case strings.Contains(l, "--- FAIL: "), strings.HasPrefix(l, "panic: "), strings.HasPrefix(l, "FAIL\t"):
			l, _, _ = strings.Cut(strings.TrimSpace(l), " (0.")
			facts = append(facts, l)
		case (strings.Contains(l, "must round") || strings.Contains(l, "unexpected: ") || strings.Contains(l, "passes lock") || strings.Contains(l, "but no such")) && messages < 3:
			messages++
			facts = append(facts, strings.TrimSpace(l))
		}
	}
	return append(facts, lines[len(lines)-1])
}

// asEvents writes a log as go test -json does.
func asEvents(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		fmt.Fprintf(&b, `{"Time":"2026-01-05T10:00:00.123456789Z","Action":"output","Package":"example.com/shop/bank","Output":%s}`+"\n", encode(l))
	}
	return b.String()
}

// toolOutputs are what tools of demo/library return about a folder.
func toolOutputs() (out []result, err error) {
	root, err := os.MkdirTemp("", "previews")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	r := rand.New(rand.NewPCG(7, 7))
	csv, notes := "id,name,city,phone,balance\n", ""
	var rows []string
	for i := range 400 {
		p := newPerson(r)
		row := fmt.Sprintf("%d,%s,%s,%s,%d.50", 5000+i, p.name, p.city, p.phone, r.IntN(9000))
		rows = append(rows, row)
		csv += row + "\n"
		dir := filepath.Join(root, p.city)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("letter_%d.txt", i)), []byte("Dear "+p.name+",\nwe write about invoice "+fmt.Sprint(90_000+i)+".\n"), 0o600); err != nil {
			return nil, err
		}
		notes += fmt.Sprintf("## %s\n\nLives in %s. Call %s.\n\n", p.name, p.city, p.phone)
	}
	for name, text := range map[string]string{"people.csv": csv, "notes.md": notes} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	tools, err := library.Tools(root)
	if err != nil {
		return nil, err
	}
	for _, call := range []struct{ tool, args string }{
		{"csv__to_json", `{"csv":` + encode(csv) + `}`},
		{"csv__to_markdown", `{"csv":` + encode(csv) + `}`},
		{"files__read", `{"path":"people.csv"}`},
		{"files__read", `{"path":"notes.md"}`},
		{"folder__tree", `{"path":"."}`},
		{"folder__search_text", `{"path":".","text":"invoice"}`},
	} {
		text, err := run(tools, call.tool, call.args)
		if err != nil {
			return nil, err
		}
		if len(text) < budgets[0] {
			return nil, fmt.Errorf("%s returned only %q", call.tool, text)
		}
		facts := factsOfLines(r, text)
		if strings.Contains(call.tool, "json") {
			facts = nil
			for range 12 {
				facts = append(facts, strings.Split(rows[r.IntN(len(rows))], ",")[1])
			}
		}
		out = append(out, result{kind: "tool outputs", name: call.tool, text: text, question: "Who lives where, and what do they owe?", facts: facts})
	}
	return out, nil
}

// factsOfLines are twelve lines: a third of them from the first tenth, a third from
// anywhere, a third from the last tenth.
func factsOfLines(r *rand.Rand, text string) (facts []string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	tenth := max(len(lines)/10, 1)
	for i := range 12 {
		at := r.IntN(len(lines))
		switch i % 3 {
		case 0:
			at = r.IntN(tenth)
		case 1:
			at = len(lines) - 1 - r.IntN(tenth)
		}
		if l := strings.TrimSpace(lines[at]); len(l) > 3 {
			facts = append(facts, l)
		}
	}
	return facts
}

func run(tools []tool.BaseTool, name, args string) (string, error) {
	ctx := context.Background()
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return "", err
		}
		if info.Name != name {
			continue
		}
		if whole, ok := t.(tool.InvokableTool); ok {
			return whole.InvokableRun(ctx, args)
		}
		stream, err := t.(tool.StreamableTool).StreamableRun(ctx, args)
		if err != nil {
			return "", err
		}
		defer stream.Close()
		var b strings.Builder
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return b.String(), nil
			}
			if err != nil {
				return "", err
			}
			b.WriteString(chunk)
		}
	}
	return "", fmt.Errorf("no tool %s", name)
}
