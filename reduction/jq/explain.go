// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
)

//go:embed text
var files embed.FS

var sentences = prompt.Load(files, "text")

// templateData is what the sentences are made of. Each uses some of it.
type templateData struct {
	Reason, What, Before, Shape string
	Bytes, Most, At             int
}

func renderText(name string, w templateData) string { return sentences.Current().Render(name, w) }

// maxReason is how much of an error is shown, in bytes.
const maxReason = 300

// wrongSyntax says where a query is not jq.
func wrongSyntax(query string, err error) string {
	w := templateData{Reason: display.Short(err.Error(), maxReason), At: len(query)}
	var parse *gojq.ParseError
	if errors.As(err, &parse) {
		w.At = min(max(parse.Offset-len(parse.Token), 0), len(query))
	}
	const shown = 60
	before := query[:w.At]
	if len(before) > shown {
		before = "…" + strings.ToValidUTF8(before[len(before)-shown:], "")
	}
	w.Before = quoted(before)
	return renderText("syntax", w)
}

func quoted(s string) string {
	b, err := gojq.Marshal(s)
	if err != nil {
		return s
	}
	return string(b)
}

// The errors of the limits; each has a sentence of its name.
var (
	errSlow    = errors.New("slow")
	errLarge   = errors.New("large")
	errDeep    = errors.New("deep")
	errKey     = errors.New("key")
	errPattern = errors.New("pattern")
)

// explain turns an error of a query into what the model reads.
func (r *run) explain(err error) error {
	w := templateData{Shape: shape(r.document), Most: r.most}
	var refusal *refused
	var value gojq.ValueError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errFirst):
		return errors.New(renderText("first", w))
	case errors.As(err, &refusal):
		w.What = refusal.reason
		return errors.New(renderText("refused", w))
	case errors.As(err, &value):
		line, ok := encode(value.Value(), maxReason)
		if !ok {
			line = []byte("…")
		}
		w.Reason = string(line)
		return errors.New(renderText("failed", w))
	}
	for _, limit := range []error{errSlow, errLarge, errDeep, errKey, errPattern} {
		if errors.Is(err, limit) {
			return errors.New(renderText(limit.Error(), w))
		}
	}
	w.Reason = display.Short(err.Error(), maxReason)
	name := "wrong"
	switch {
	case strings.Contains(w.Reason, "cannot iterate over"):
		name = "no-list"
	case strings.Contains(w.Reason, "expected an object"), strings.Contains(w.Reason, "expected an array"):
		name = "no-object"
	}
	return errors.New(renderText(name, w))
}

const (
	// maxShape is how long a shape is, in bytes.
	maxShape = 400
	// shapeLevels is how deep a shape looks.
	shapeLevels = 3
)

// shape says what a document holds, such as {"total": number, "items": [120 × {"id": number}]}.
func shape(document any) string {
	var b strings.Builder
	writeShape(&b, document, shapeLevels)
	return b.String()
}

func writeShape(b *strings.Builder, v any, levels int) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			b.WriteString("[]")
			return
		}
		b.WriteString("[" + strconv.Itoa(len(v)) + " × ")
		writeShape(b, v[0], levels)
		b.WriteByte(']')
	case map[string]any:
		if levels == 0 {
			b.WriteString("{…}")
			return
		}
		b.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > maxShape {
				b.WriteString("…")
				break
			}
			b.WriteString(quoted(display.Start(key, 60)) + ": ")
			writeShape(b, v[key], levels-1)
		}
		b.WriteByte('}')
	case string:
		b.WriteString("string")
	case bool:
		b.WriteString("boolean")
	case nil:
		b.WriteString("null")
	case int, float64, *big.Int, json.Number:
		b.WriteString("number")
	}
}
