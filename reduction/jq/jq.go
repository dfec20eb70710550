// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package jq lets a model query a stored JSON result, for a count, a filter or a sum,
// instead of reading it. One line plugs it into the read tool:
//
//	config := reduction.Recommended(store)
//	config.JSONQuery = jq.Query
//
// It is a separate module because it adds 1.4 MB to a program.
//
// # Queries are not trusted
//
// Queries come from a model, which may have read them somewhere. The language is jq as in
// github.com/itchyny/gojq, without access to the environment, the clock, files or other
// input, and without definitions of functions. Everything is bounded: the instructions of
// a query, how much it reads and makes, the length of texts and numbers, and its time.
// The first two depend only on the query and the document.
package jq

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/preview"
)

// maxQuery is the longest query, in bytes.
const maxQuery = 4000

// Query answers a jq query about a JSON document of at most 16 MB: one value per line, at
// most maxBytes bytes of them. If there are more, a last line says so; if nothing was
// found, it says what the document holds. An error is either that of ctx, or a text for the
// model in Eino's language setting: what is wrong, how to write the query, and what the
// document holds. A query takes at most about five seconds and, besides the document, some
// hundred megabytes. Query is a reduction.JSONQuery and safe for concurrent use.
func Query(ctx context.Context, query string, document []byte, maxBytes int) (answer []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, errors.New(renderText("failed", templateData{Reason: display.Short(fmt.Sprint(p), maxReason)}))
		}
	}()
	if len(query) > maxQuery {
		return nil, errors.New(renderText("long", templateData{Bytes: len(query), Most: maxQuery}))
	}
	parsed, err := gojq.Parse(query)
	if err != nil {
		return nil, errors.New(wrongSyntax(query, err))
	}
	value, values, ok := preview.Decode(string(document))
	if !ok {
		return nil, errors.New(renderText("no-json", templateData{}))
	}
	r := run{meter: newMeter(ctx, values+len(document)/16), document: value, most: maxBytes}
	code, err := r.compile(parsed)
	if err != nil {
		return nil, r.explain(err)
	}
	answer, err = r.collect(code.RunWithContext(r.meter, value))
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, r.explain(err)
	}
	return answer, nil
}

// run is one query that runs.
type run struct {
	meter    *meter
	document any
	most     int // bytes of an answer
}

func (r *run) compile(parsed *gojq.Query) (*gojq.Code, error) {
	if err := guard(parsed); err != nil {
		return nil, err
	}
	parsed.FuncDefs = definitions
	return gojq.Compile(parsed, r.meter.options()...)
}

// errFirst is the error of an answer whose first value is too long.
var errFirst = errors.New("the first value is too long")

// collect writes the values of an answer.
func (r *run) collect(values gojq.Iter) ([]byte, error) {
	more := renderText("more", templateData{})
	found := false // anything but null
	var out bytes.Buffer
	for n := 0; ; n++ {
		v, ok := values.Next()
		if r.meter.err != nil {
			return nil, r.meter.err
		}
		if !ok {
			return r.ended(out, found), nil
		}
		if err, failed := v.(error); failed {
			return nil, err
		}
		left := r.most - out.Len() - len(more) - 1
		line, fitsInto := encode(v, left)
		switch {
		case fitsInto:
			out.Write(line)
			out.WriteByte('\n')
			found = found || v != nil
		case n == 0:
			return nil, errFirst
		default:
			out.WriteString(more)
			return out.Bytes(), nil
		}
	}
}

// ended adds what the document holds to an answer that holds nothing.
func (r *run) ended(out bytes.Buffer, found bool) []byte {
	if hint := renderText("nothing", templateData{Shape: shape(r.document)}); !found && out.Len()+len(hint) <= r.most {
		out.WriteString(hint)
	}
	return out.Bytes()
}

// encode writes a value in at most most bytes.
func encode(v any, most int) ([]byte, bool) {
	if left := most; !fitsInto(v, &left, 0) {
		return nil, false
	}
	line, err := gojq.Marshal(v)
	return line, err == nil && len(line) <= most
}

// fitsInto reports whether a value may take at most left bytes, without writing it: the same
// value may be in it very often.
func fitsInto(v any, left *int, level int) bool {
	if *left--; *left < 0 || level > maxLevels {
		return false
	}
	switch v := v.(type) {
	case string:
		*left -= len(v) + 1
	case []any:
		for i := range v {
			if !fitsInto(v[i], left, level+1) {
				return false
			}
		}
	case map[string]any:
		for k := range v {
			if *left -= len(k) + 2; !fitsInto(v[k], left, level+1) {
				return false
			}
		}
	}
	return *left >= 0
}
