// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package prompt loads the text templates that models read, in English and in Chinese.
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

// Set is the texts of a directory in both languages. It is safe for concurrent use.
type Set struct {
	// English and Chinese parse the texts of one language, once.
	English, Chinese func() *Texts
}

// Load returns the texts below a directory of files that are part of the program: what is
// wrong with them is a panic at the first use.
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

// Texts are the texts of one language. They never change.
type Texts struct{ all *template.Template }

func load(files fs.FS, dir, lang string) *Texts {
	all := template.New("").Funcs(template.FuncMap{"join": strings.Join})
	err := fs.WalkDir(files, dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(strings.TrimSuffix(file, path.Ext(file)), dir+"/")
		if name, ours := strings.CutSuffix(name, "."+lang); ours {
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

// Say renders a text, without the white space around it. It panics if there is no such
// text or it needs what data does not have, which a test finds that renders each.
func (t *Texts) Say(name string, data any) string {
	var b strings.Builder
	if err := t.all.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// Names returns the names of all texts, in order.
func (t *Texts) Names() (names []string) {
	for _, each := range t.all.Templates() {
		if each.Tree != nil && !parse.IsEmptyTree(each.Root) {
			names = append(names, each.Name())
		}
	}
	slices.Sort(names)
	return names
}

// Piece is a part of a text: characters that stand in it, and the name of the field after
// them, which is empty at the end of the text.
type Piece struct{ Text, Field string }

// Pieces takes a text apart that holds nothing but characters and fields, so that what was
// made of it can be read back. It panics if there is no such text, or it holds more.
func (t *Texts) Pieces(name string) (pieces []Piece) {
	open := Piece{}
	for _, n := range t.all.Lookup(name).Root.Nodes {
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
