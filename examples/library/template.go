// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of templates.

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
	texttemplate "text/template"
	"text/template/parse"
)

var templateServer = group{"template", "Templates", []maker{
	define("template__render_text", "Renders a Go text template with values from a JSON object.", rendered(readText)),
	define("template__render_html", "Renders a Go HTML template with values from a JSON object, escaping them where they stand.", rendered(readHTML)),
	define("template__fill", "Fills placeholders such as {name} or ${name} in a text with values from a JSON object.", func(in templateIn) (string, error) {
		values, err := in.values()
		if err != nil {
			return "", err
		}
		return fill(in.Template, func(name string) (string, bool) {
			v, ok := values[name]
			return cell(v), ok
		})
	}),
	define("template__list_placeholders", "Lists the placeholders such as {name} or ${name} of a text.", func(in textIn) (string, error) {
		found := placeholders(in.Text)
		return listed(found, "the text has no placeholders"), nil
	}),
	defineStream("template__mail_merge", "Fills a text's placeholders once for every row of a CSV table and sends the letters one by one.",
		func(in struct {
			Template string `json:"template" jsonschema_description:"The letter, with a placeholder such as {name} for each column"`
			csvIn
		}, emit func(string) bool) error {
			t := in.CSV
			if (len(in.Template)+1)*len(t.rows) > maxAnswer {
				return errTooLong
			}
			for i, row := range t.rows {
				letter, err := fill(in.Template, func(name string) (string, bool) {
					c, err := t.column(name)
					return row[c], err == nil
				})
				if err != nil {
					return err
				}
				if !emit(fmt.Sprintf("--- letter %d of %d ---\n%s\n", i+1, len(t.rows), letter)) {
					return nil
				}
			}
			return nil
		}),
}}

type templateIn struct {
	Template string `json:"template" jsonschema_description:"The template"`
	Values   string `json:"values" jsonschema_description:"The values by name, as a JSON object"`
}

func (in templateIn) values() (map[string]any, error) {
	v, err := parseJSON(in.Values)
	if err != nil {
		return nil, fmt.Errorf("the argument \"values\": %w", err)
	}
	values, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the argument \"values\" must be a JSON object, and is %s", jsonKind(v))
	}
	return values, nil
}

var errTooLong = fmt.Errorf("the result would be longer than %d bytes", maxAnswer)

// capped is a text that refuses to grow beyond maxAnswer.
type capped struct{ strings.Builder }

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxAnswer {
		return 0, errTooLong
	}
	return c.Builder.Write(p)
}

// Bounds of loops, so that no template runs for long.
const (
	maxLoops     = 20
	nestedValues = 2000 // bytes of the values where loops are nested
)

// loops counts the loops below a node of a parsed template, and finds what it
// must not have: templates of its own, and loops over computed numbers.
func loops(list *parse.ListNode, depth int) (count, deepest int, err error) {
	if list == nil {
		return 0, depth, nil
	}
	deepest = depth
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		inner := depth
		switch n := n.(type) {
		case *parse.TemplateNode:
			return 0, 0, errors.New("a template must not call another")
		case *parse.RangeNode:
			if !overValues(n.Pipe) {
				return 0, 0, fmt.Errorf("%q must loop over a value, such as .items", n.Pipe)
			}
			branch, inner, count = &n.BranchNode, depth+1, count+1
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		}
		if branch == nil {
			continue
		}
		for _, l := range []*parse.ListNode{branch.List, branch.ElseList} {
			c, d, err := loops(l, inner)
			if err != nil {
				return 0, 0, err
			}
			count, deepest = count+c, max(deepest, d)
		}
	}
	return count, deepest, nil
}

// overValues says whether a pipeline is nothing but a field or the dot.
func overValues(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode, *parse.DotNode:
		return true
	}
	return false
}

// check refuses a template that could run or grow without end.
func (in templateIn) check(tree *parse.Tree) error {
	if tree == nil {
		return nil // an empty template
	}
	if strings.Contains(in.Template, "printf") {
		return errors.New("printf is not allowed in these templates")
	}
	count, depth, err := loops(tree.Root, 0)
	switch {
	case err != nil:
		return err
	case count > maxLoops || depth > 2:
		return fmt.Errorf("at most %d loops are allowed, nested at most twice", maxLoops)
	case depth == 2 && len(in.Values) > nestedValues:
		return fmt.Errorf("with nested loops the values must have at most %d bytes", nestedValues)
	}
	return nil
}

// parsed is a template of either kind.
type parsed interface {
	Execute(out io.Writer, values any) error
}

// rendered makes a tool that executes a template into a bounded text.
func rendered(read func(text string) (parsed, *parse.Tree, error)) func(templateIn) (string, error) {
	return func(in templateIn) (string, error) {
		values, err := in.values()
		if err != nil {
			return "", err
		}
		var out capped
		t, tree, err := read(in.Template)
		if err == nil {
			err = in.check(tree)
		}
		if err == nil {
			err = t.Execute(&out, values)
		}
		switch {
		case errors.Is(err, errTooLong):
			return "", errTooLong
		case err != nil:
			return "", fmt.Errorf("the template fails: %w", err)
		}
		return out.String(), nil
	}
}

func readText(text string) (parsed, *parse.Tree, error) {
	t := texttemplate.New("template").Option("missingkey=error")
	_, err := t.Parse(text)
	return t, t.Tree, err
}

func readHTML(text string) (parsed, *parse.Tree, error) {
	t := template.New("template").Option("missingkey=error")
	_, err := t.Parse(text)
	return t, t.Tree, err
}

var placeholder = regexp.MustCompile(`\$?\{\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*\}`)

func placeholders(text string) []string {
	return unique(each(placeholder.FindAllStringSubmatch(text, maxMatches), func(match []string) string { return match[1] }))
}

// fill puts the values in place of the placeholders; all must be there.
func fill(text string, value func(name string) (string, bool)) (string, error) {
	size := len(text)
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		v, ok := value(m[1])
		if !ok {
			return "", fmt.Errorf("there is no value for %q; the placeholders are: %s", m[1], strings.Join(placeholders(text), ", "))
		}
		if size += len(v); size > maxAnswer {
			return "", errTooLong
		}
	}
	return placeholder.ReplaceAllStringFunc(text, func(mark string) string {
		v, _ := value(placeholder.FindStringSubmatch(mark)[1])
		return v
	}), nil
}
