// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed phrases.zh.json
var chineseText []byte

// phrases are the texts of figures in another language, by the English ones with {0}, {1}, … for
// their numbers.
type phrases map[string]string

var chinese = func() (w phrases) {
	if err := json.Unmarshal(chineseText, &w); err != nil {
		panic("report: " + err.Error())
	}
	return w
}()

var number = regexp.MustCompile(`\d[\d,]*`)

// say translates a text. Names stay as they are.
func (w phrases) say(text string) string {
	n := -1
	key := number.ReplaceAllStringFunc(text, func(string) string { n++; return fmt.Sprintf("{%d}", n) })
	said, known := w[key]
	if !known {
		return text
	}
	for i, value := range number.FindAllString(text, -1) {
		said = strings.ReplaceAll(said, fmt.Sprintf("{%d}", i), value)
	}
	return said
}

// in is the figure in another language, in which a number below one begins with its zero.
func (f figure) in(w phrases) figure {
	theirs := f.format
	f.format = func(v float64) string {
		text := theirs(v)
		if strings.HasPrefix(text, ".") {
			text = "0" + text
		}
		return text
	}
	f.phrases = w
	f.title, f.subtitle, f.xTitle = w.say(f.title), w.say(f.subtitle), w.say(f.xTitle)
	f.labels, f.series = slices.Clone(f.labels), slices.Clone(f.series)
	for i, label := range f.labels {
		f.labels[i] = w.say(label)
	}
	for i, s := range f.series {
		f.series[i].name, f.series[i].note = w.say(s.name), w.say(s.note)
	}
	return f
}
