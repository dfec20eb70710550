// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package lenient decodes the arguments that models write for tools: JSON that is
// often not quite what the schema asks for.
//
// It accepts an object, a list of objects, an object inside a string, text after the
// object, and a value that is not an object at all: a text, a number, a list of
// texts, or words that are not JSON. Keys match without case and punctuation, a
// number may be a text, and a text may be a list. It takes time in proportion to the
// arguments, and nothing makes it fail.
package lenient

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Arguments are decoded arguments. The zero value has none. They are immutable.
type Arguments struct {
	objects []object
	bare    []string
}

// object is a JSON object.
type object struct {
	fields map[string]json.RawMessage
	// keys maps simplified keys to the first of the keys that they stand for.
	keys map[string]string
}

// Decode decodes arguments.
func Decode(text string) Arguments {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	var value string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &value) == nil {
		// Some models encode the object a second time.
		if value = strings.TrimSpace(value); !strings.HasPrefix(value, "{") {
			return words(value)
		}
		text = value
	}
	switch {
	case text == "null" || text == "true" || text == "false":
		return Arguments{}
	case !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "["):
		return words(strings.Trim(text, `"`))
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil { // ignores what follows
		return Arguments{}
	}
	var a Arguments
	for _, element := range elements(raw) {
		if element[0] == '{' {
			a.objects = append(a.objects, decodeObject(element))
		} else {
			a.bare = append(a.bare, scalar(element)...)
		}
	}
	return a
}

// words returns arguments that consist of a text.
func words(text string) Arguments {
	if strings.TrimSpace(text) == "" {
		return Arguments{}
	}
	return Arguments{bare: []string{text}}
}

func decodeObject(raw json.RawMessage) object {
	o := object{keys: make(map[string]string)}
	_ = json.Unmarshal(raw, &o.fields) // an object
	for key := range o.fields {
		simple := simplify(key)
		if simple == "" {
			continue
		}
		if first, taken := o.keys[simple]; !taken || key < first {
			o.keys[simple] = key
		}
	}
	return o
}

// simplify reduces a key to its lower-case letters and digits.
func simplify(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		}
		return -1
	}, key)
}

// field returns the value under key, or under one that differs from it only in case
// and punctuation. Key itself wins.
func (o object) field(key string) json.RawMessage {
	if value, ok := o.fields[key]; ok {
		return value
	}
	similar, ok := o.keys[simplify(key)]
	if !ok {
		return nil
	}
	return o.fields[similar]
}

// IsObject reports whether the arguments are an object with at least one field, or a
// list with such an object.
func (a Arguments) IsObject() bool {
	for _, o := range a.objects {
		if len(o.fields) > 0 {
			return true
		}
	}
	return false
}

// Bare returns the texts of arguments that are not an object: a text, a number, the
// texts and numbers of a list, or words that are not JSON. None of them is blank.
func (a Arguments) Bare() []string { return a.bare }

// Texts returns the texts under the first of the keys that holds any: a text, a
// number, a list of them, or an object that has them under one of the keys. None of
// them is blank. In a list of objects, those of each object follow one another.
func (a Arguments) Texts(keys ...string) []string {
	var all []string
	for _, o := range a.objects {
		all = append(all, o.texts(keys, true)...)
	}
	return all
}

func (o object) texts(keys []string, nested bool) []string {
	for _, key := range keys {
		var texts []string
		for _, element := range elements(o.field(key)) {
			if element[0] != '{' {
				texts = append(texts, scalar(element)...)
			} else if nested {
				texts = append(texts, decodeObject(element).texts(keys, false)...)
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}

// Number returns the whole number under the first of the keys that holds one other
// than zero, or zero: a number, a text that is one, or a list of just one of them. It
// cuts off decimals. What is out of range becomes the largest number, or its negative.
func (a Arguments) Number(keys ...string) int64 {
	for _, o := range a.objects {
		for _, key := range keys {
			list := elements(o.field(key))
			if len(list) != 1 {
				continue
			}
			if texts := scalar(list[0]); len(texts) == 1 {
				if n := number(texts[0]); n != 0 {
					return n
				}
			}
		}
	}
	return 0
}

// Raw returns the value under the first of the keys that is there, as written: decoding
// loses digits of long numbers. If there is none, it returns "".
func (a Arguments) Raw(keys ...string) string {
	for _, o := range a.objects {
		for _, key := range keys {
			if value := o.field(key); value != nil {
				return string(value)
			}
		}
	}
	return ""
}

// elements returns the elements of a list, and any other value as the only one.
func elements(raw json.RawMessage) []json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '[' {
		return []json.RawMessage{raw}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // a list
	return list
}

// scalar returns the text of a JSON text or number, unless it is blank.
func scalar(raw json.RawMessage) []string {
	text := string(raw)
	switch c := raw[0]; {
	case c == '"':
		text = ""
		_ = json.Unmarshal(raw, &text) // a text
	case c != '-' && (c < '0' || c > '9'):
		return nil
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []string{text}
}

// number returns the whole number in a text, or zero. Commas may separate thousands.
func number(text string) int64 {
	text = strings.ReplaceAll(strings.TrimSpace(text), ",", "")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return max(n, -math.MaxInt64)
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite if it is out of range
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= -math.MaxInt64:
		return -math.MaxInt64
	}
	return int64(f)
}
