// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command fit counts where tokens begin and writes weights.txt of package tokens. It
// reads the source tree of the Go that runs it, this repository, and texts that it
// makes; run it in the directory of the module:
//
//	go run ./fit
package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/tokens/tokentest/corpus"
)

func main() {
	if err := run("../weights.txt"); err != nil {
		fmt.Fprintln(os.Stderr, "fit:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	docs := texts(strings.TrimSpace(string(out)), "../../..")
	rarity := rare(docs)
	counts, err := count(docs, rarity)
	if err != nil {
		return err
	}
	weights := counts.weights()
	if err := os.WriteFile(file, []byte(weights+"\n"+rarity+"\n"), 0o644); err != nil {
		return err
	}
	fmt.Printf("%d texts of %s\n", len(docs), runtime.Version())
	return nil
}

// texts are what the weights are fitted on.
func texts(goroot, repository string) (out []corpus.Doc) {
	src := filepath.Join(goroot, "src")
	for _, f := range []corpus.Files{
		{Kind: "go", Root: src, Endings: []string{".go"}, Most: 3e6},
		{Kind: "go tests", Root: filepath.Join(goroot, "test"), Endings: []string{".go"}, Most: 3e5},
		{Kind: "text", Root: src, Endings: []string{".txt", ".md", ".golden", ".html", ".rules", ".yaml", ".sh", ".mod"}, Most: 1e6},
		{Kind: "assembly", Root: src, Endings: []string{".s", ".c", ".h"}, Most: 3e5},
		{Kind: "json", Root: src, Endings: []string{".json", ".sum", ".test"}, Most: 5e5},
		{Kind: "pem", Root: src, Endings: []string{".pem", ".base64"}, Most: 2e5},
		{Kind: "repository", Root: repository, Endings: []string{".go", ".md", ".tmpl", "lexicon/chinese.txt", "lexicon/asking.txt"}, Most: 2e6},
	} {
		f.Each = 12_000
		out = append(out, f.Load()...)
	}
	return append(out, corpus.Made(1, 400)...)
}

// rare says how rare each pair of letters is, from 0 to 7. Texts that are made do not
// count: their letters come at random.
func rare(docs []corpus.Doc) string {
	var seen [tokens.Pairs]float64
	all := 0.0
	for _, d := range docs {
		for i := 1; i < len(d.Text) && !d.Made; i++ {
			a, b := letter(d.Text[i-1]), letter(d.Text[i])
			if a >= 0 && b >= 0 {
				seen[a*26+b]++
				all++
			}
		}
	}
	var out strings.Builder
	for _, n := range seen {
		bits := -math.Log2((n + 1) / all * tokens.Pairs) // 0: as often as the average
		out.WriteByte(byte('0' + min(7, max(0, math.Round((bits+1)*1.3)))))
	}
	return out.String()
}

func letter(b byte) int {
	if b |= 0x20; 'a' <= b && b <= 'z' {
		return int(b - 'a')
	}
	return -1
}

// count tokenizes the texts, some at a time, and counts.
func count(docs []corpus.Doc, rarity string) (*counts, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	total, failed := newCounts(), error(nil)
	todo := make(chan corpus.Doc)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for d := range todo {
				starts, err := corpus.Starts(d.Text)
				mu.Lock()
				if err != nil {
					failed = fmt.Errorf("%s: %w", d.Name, err)
				} else {
					total.add(d.Text, rarity, starts)
				}
				mu.Unlock()
			}
		})
	}
	for _, d := range docs {
		todo <- d
	}
	close(todo)
	wg.Wait()
	return total, failed
}
