// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package inspect shows what package window recorded: as one self-contained HTML page,
// as lines in a terminal, and live on a development machine.
//
//	err := inspect.WriteFile("window.html", recorder.Conversation("acme/42"))
//	err = inspect.WriteText(os.Stdout, recorder.Conversation("acme/42"), inspect.TextOptions{Color: true})
//	err = inspect.WriteCall(os.Stdout, recorder.Conversation("acme/42"), 8, inspect.TextOptions{Color: true})
//	http.Handle("/context/", http.StripPrefix("/context", inspect.Handler(recorder)))
//
// Pages and lines are in Chinese where adk.SetLanguage has chosen it, and a page where its browser
// prefers it.
//
// A page makes no requests: its content security policy allows its own script, by hash,
// and nothing else. It holds the texts that the collector kept, readable by anyone who
// has the file.
package inspect

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"os"
	"path/filepath"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/window"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageCSS string
	//go:embed page/page.js
	pageJS string

	page = template.Must(template.New("page").Parse(pageHTML))
)

// maxTexts is how many bytes of text a page may hold. Beyond it texts are shortened
// to previewBytes each or, if there are many, to half of that as often as it takes, and
// the page says so.
const (
	maxTexts     = 4 << 20
	previewBytes = 2048
)

var errNoConversation = errors.New("inspect: there is no conversation to show")

// WriteFile writes the page to a file, which it creates or replaces. Only the file's
// owner can read it, since it holds texts.
func WriteFile(name string, c *window.Conversation) error {
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".einolean-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Write writes the page. It fails if c is nil or w fails.
func Write(w io.Writer, c *window.Conversation) error { return write(w, c, false) }

// write writes the page; a live page asks its own server for new calls.
func write(w io.Writer, c *window.Conversation, live bool) error {
	if c == nil {
		return errNoConversation
	}
	d, err := dataOf(c, live)
	if err != nil {
		return err
	}
	data, err := json.Marshal(d) // escapes <, > and &
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageJS))
	policy := "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if live {
		policy += "; connect-src 'self'"
	}
	// The script is inserted verbatim: a template would strip its comments, and the hash in the
	// policy would not match.
	return page.Execute(w, map[string]any{
		"Title": c.ID, "Policy": policy, "Style": template.CSS(pageCSS), "Script": template.JS(pageJS), "Data": template.JS(data),
	})
}

// data is the data of the page.
type data struct {
	ID        string            `json:"id"`
	Live      bool              `json:"live,omitempty"`
	Totals    window.Totals     `json:"totals"`
	Shortened int               `json:"shortened,omitempty"` // bytes to which texts are shortened
	Language  string            `json:"language,omitempty"`  // zh; else that of the browser
	Labels    texts             `json:"labels"`              // in Chinese
	Cards     []prices          `json:"cards"`
	Advice    *advice           `json:"advice,omitempty"`
	Lines     []json.RawMessage `json:"lines"` // what WriteJSON writes
}

func dataOf(c *window.Conversation, live bool) (*data, error) {
	d := &data{ID: c.ID, Live: live, Totals: c.Totals(), Cards: cards, Labels: labels, Advice: adviceFor(c)}
	if prompt.Chinese() {
		d.Language = "zh"
	}
	short := *c
	short.Texts, d.Shortened = shortened(c.Texts)
	var b bytes.Buffer
	if err := short.WriteJSON(&b); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b.Bytes()) {
		d.Lines = append(d.Lines, line)
	}
	return d, nil
}

// shortened returns texts that all together have at most maxTexts bytes, and how many
// each of them may have; 0 if they are whole.
func shortened(texts map[int]string) (map[int]string, int) {
	for most := 0; ; most /= 2 {
		size := 0
		for _, text := range texts {
			if size += len(text); most > 0 {
				size += min(0, most-len(text))
			}
		}
		switch {
		case size > maxTexts && most == 0:
			most = 2 * previewBytes
			continue
		case size > maxTexts && most > 2:
			continue
		case most == 0:
			return texts, 0
		}
		short := make(map[int]string, len(texts))
		for id, text := range texts {
			short[id] = display.Start(text, most)
		}
		return short, most
	}
}
