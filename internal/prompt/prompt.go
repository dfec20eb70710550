// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package prompt loads the text templates that models read, in English and in Chinese. It also recognizes the texts that
// stand in place of cleared results which are in no store.
//
// A file name.en.md or name.zh.tmpl is the text "name", in the syntax of text/template. Templates that it
// defines are texts as well. A text in a subdirectory has the directory in its name, as in dir/name.
package prompt

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"
)

// Set holds the texts of a directory in both languages. It is safe for concurrent use.
type Set struct {
	// English and Chinese parse the texts of one language, once.
	English, Chinese func() *Texts
}

// Load returns the texts below a directory of embedded files. A mistake in a text is a panic at its
// first use.
func Load(files fs.FS, dir string) *Set {
	return &Set{
		English: sync.OnceValue(func() *Texts { return load(files, dir, "en") }),
		Chinese: sync.OnceValue(func() *Texts { return load(files, dir, "zh") }),
	}
}

// Current returns the texts of the language that Eino is set to.
func (s *Set) Current() *Texts {
	if Chinese() {
		return s.Chinese()
	}
	return s.English()
}

// Texts are the texts of one language. They are immutable.
type Texts struct{ templates *template.Template }

func load(files fs.FS, dir, lang string) *Texts {
	all := template.New("").Funcs(template.FuncMap{"join": strings.Join})
	err := fs.WalkDir(files, dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(strings.TrimSuffix(file, path.Ext(file)), dir+"/")
		if name, ok := strings.CutSuffix(name, "."+lang); ok {
			text, err := fs.ReadFile(files, file)
			if err != nil {
				return err
			}
			_, err = all.New(name).Parse(strings.TrimSuffix(string(text), "\n"))
			return err
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return &Texts{all}
}

// Render renders a text and trims the white space around it. It panics if the text does not exist or
// needs a field that data does not have; a test renders each text.
func (t *Texts) Render(name string, data any) string {
	var b strings.Builder
	if err := t.templates.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// Names returns the sorted names of all texts.
func (t *Texts) Names() (names []string) {
	for _, each := range t.templates.Templates() {
		if each.Tree != nil && !parse.IsEmptyTree(each.Root) {
			names = append(names, each.Name())
		}
	}
	slices.Sort(names)
	return names
}

// Piece is a part of a text: literal characters, and the name of the field after them. Field is
// empty at the end of the text.
type Piece struct{ Text, Field string }

// Pieces splits a text that consists of literal characters and fields, so that a rendered text can
// be parsed. It panics if the text does not exist or contains anything else.
func (t *Texts) Pieces(name string) (pieces []Piece) {
	open := Piece{}
	for _, n := range t.templates.Lookup(name).Root.Nodes {
		if text, ok := n.(*parse.TextNode); ok {
			open.Text += string(text.Text)
			continue
		}
		field := n.(*parse.ActionNode).Pipe.Cmds[0].Args[0].(*parse.FieldNode)
		pieces = append(pieces, Piece{open.Text, field.Ident[0]})
		open = Piece{}
	}
	return append(pieces, open)
}
