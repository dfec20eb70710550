// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Arguments are decoded arguments. The zero value has none. They are immutable.
type Arguments struct {
	objects   []object
	bareTexts []string
}

// object is the members of a JSON object, in order. Of those with the same key the last
// one counts.
type object []member

type member struct{ key, value string }

// DecodeArguments decodes the arguments of a tool call.
func DecodeArguments(text string) Arguments {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	var value string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &value) == nil {
		// Some models encode the object a second time.
		if value = strings.TrimSpace(value); !strings.HasPrefix(value, "{") {
			return bareArguments(value)
		}
		text = value
	}
	switch {
	case text == "null" || text == "true" || text == "false":
		return Arguments{}
	case !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "["):
		return bareArguments(strings.Trim(text, `"`))
	}
	if text[0] == '{' && json.Valid([]byte(text)) { // the usual case, read only once
		return Arguments{objects: []object{decodeObject(text)}}
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&raw) != nil { // ignores what follows
		return Arguments{}
	}
	return collect(string(raw))
}

// collect returns an object, or what a list holds, as arguments.
func collect(raw string) (a Arguments) {
	for _, element := range elements(raw) {
		if element[0] == '{' {
			a.objects = append(a.objects, decodeObject(element))
		} else if text, ok := scalar(element); ok {
			a.bareTexts = append(a.bareTexts, text)
		}
	}
	return a
}

// bareArguments returns arguments that consist of one text.
func bareArguments(text string) Arguments {
	if strings.TrimSpace(text) == "" {
		return Arguments{}
	}
	return Arguments{bareTexts: []string{text}}
}

// decodeObject returns the members of a valid object. Their values are parts of it: to
// decode them into a map takes an allocation for each.
func decodeObject(raw string) object {
	o := make(object, 0, 4)
	for key, value, at, ok := Member(raw, 1); ok; key, value, at, ok = Member(raw, at) {
		o = append(o, member{Unescape(key), value})
	}
	return o
}

// field returns the value under key, or under the first key that differs from it only
// in case and punctuation. Key itself wins.
func (o object) field(key string) string {
	best := -1
	for i, m := range o {
		switch {
		case m.key == key:
			best = i
		case best >= 0 && o[best].key == key, !SimilarKeys(key, m.key):
		case best < 0 || m.key <= o[best].key:
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return o[best].value
}

// SimilarKeys reports whether two keys have the same letters and digits, apart from case,
// and at least one of them.
func SimilarKeys(a, b string) bool {
	i, j, common := 0, 0, 0
	for {
		for i < len(a) && letterOrDigit(a[i]) == 0 {
			i++
		}
		for j < len(b) && letterOrDigit(b[j]) == 0 {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b) && common > 0
		}
		if letterOrDigit(a[i]) != letterOrDigit(b[j]) {
			return false
		}
		i, j, common = i+1, j+1, common+1
	}
}

// letterOrDigit returns an ASCII letter in lower case, a digit, or 0 for anything else.
func letterOrDigit(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return c
	}
	return 0
}

// BareTexts returns the texts of arguments that are not an object: a text, a number, the
// texts and numbers of a list, or words that are not JSON. None of them is blank.
func (a Arguments) BareTexts() []string { return a.bareTexts }

// Texts returns the texts under the first of the keys that holds any: a text, a
// number, a list of them, or an object that has them under one of the keys. None of
// them is blank. In a list of objects, those of each object follow one another.
func (a Arguments) Texts(keys ...string) []string {
	if len(a.objects) == 1 {
		return a.objects[0].texts(keys, true)
	}
	var all []string
	for _, o := range a.objects {
		all = append(all, o.texts(keys, true)...)
	}
	return all
}

func (o object) texts(keys []string, nested bool) []string {
	for _, key := range keys {
		value := o.field(key)
		if value == "" {
			continue
		}
		if value[0] != '[' && value[0] != '{' {
			if text, ok := scalar(value); ok {
				return []string{text}
			}
			continue
		}
		var texts []string
		for _, element := range elements(value) {
			if text, ok := scalar(element); ok {
				texts = append(texts, text)
			} else if element[0] == '{' && nested {
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
			value := o.field(key)
			if list := elements(value); len(list) == 1 {
				value = list[0]
			}
			if text, ok := scalar(value); ok {
				if n := number(text); n != 0 {
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
			if value := o.field(key); value != "" {
				return value
			}
		}
	}
	return ""
}

// elements returns the elements of a list, and of an object this itself; of any other value
// none.
func elements(raw string) (list []string) {
	switch {
	case strings.HasPrefix(raw, "{"):
		return []string{raw}
	case !strings.HasPrefix(raw, "["):
		return nil
	}
	for item, at, ok := Item(raw, 1); ok; item, at, ok = Item(raw, at) {
		list = append(list, item)
	}
	return list
}

// scalar returns the text of a JSON text or number. It returns false if it is blank, or
// another value.
func scalar(raw string) (text string, ok bool) {
	if len(raw) == 0 {
		return "", false
	}
	switch c := raw[0]; {
	case c == '"':
		text = Unescape(raw[1 : len(raw)-1])
	case c == '-' || '0' <= c && c <= '9':
		text = raw
	}
	return text, strings.TrimSpace(text) != ""
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
