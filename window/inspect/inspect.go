// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package inspect shows what package window recorded: as one self-contained HTML page,
// as lines in a terminal, and live on a development machine.
//
//	err := inspect.WriteFile("window.html", see.Conversation("acme/42"))
//	err = inspect.WriteText(os.Stdout, see.Conversation("acme/42"), inspect.TextOptions{Color: true})
//	err = inspect.WriteCall(os.Stdout, see.Conversation("acme/42"), 8, inspect.TextOptions{Color: true})
//	http.Handle("/context/", http.StripPrefix("/context", inspect.Handler(see)))
//
// A page makes no requests: its content security policy allows its own script, by hash,
// and nothing else. It holds the texts that the collector kept, readable by anyone who
// has the file.
package inspect

// This file writes the page.

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

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/window"
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
// to previewBytes each, and the page says so.
const (
	maxTexts     = 5 << 20
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
	f, err := os.CreateTemp(filepath.Dir(name), ".leanctx-*")
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
	data, err := json.Marshal(dataOf(c, live)) // escapes <, > and &
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
	ID        string              `json:"id"`
	Live      bool                `json:"live,omitempty"`
	Runs      []window.Run        `json:"runs"`
	Calls     []*window.ModelCall `json:"calls"`
	Texts     map[int]string      `json:"texts"`
	Totals    window.Totals       `json:"totals"`
	Dropped   int                 `json:"dropped,omitempty"`
	Shortened bool                `json:"shortened,omitempty"`
}

func dataOf(c *window.Conversation, live bool) data {
	d := data{ID: c.ID, Live: live, Runs: c.Runs, Calls: c.Calls, Texts: c.Texts, Totals: c.Totals(), Dropped: c.Dropped}
	size := 0
	for _, text := range c.Texts {
		size += len(text)
	}
	if size > maxTexts {
		d.Shortened, d.Texts = true, make(map[int]string, len(c.Texts))
		for id, text := range c.Texts {
			d.Texts[id] = display.Start(text, previewBytes)
		}
	}
	return d
}
