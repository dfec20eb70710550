// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package operations tells what a request asks for, and what a tool does: whether it reads, creates,
// updates or deletes. It knows English and Chinese verbs by a list of general ones; a text with none of
// them, or with several that disagree, has an unknown operation.
package operations

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

// Operation is what a request asks for, or what a tool does.
type Operation uint8

// The operations. Run is any that is none of the others.
const (
	Unknown Operation = iota
	Read
	Create
	Update
	Delete
	Run

	question // a word that asks for something to read
	other    // a word that only begins like a verb
)

var operationNames = map[string]Operation{
	"read": Read, "create": Create, "update": Update, "delete": Delete, "run": Run, "question": question, "other": other,
}

//go:embed verbs.txt
var verbList string

// longestVerb is the number of characters of the longest Chinese entry.
const longestVerb = 3

var verbs = sync.OnceValue(func() map[string]Operation {
	all := make(map[string]Operation)
	analysis.EachLine(verbList, func(fields []string) {
		for _, verb := range fields[1:] {
			all[verb] = operationNames[fields[0]]
		}
	})
	return all
})

// OfTool returns what a tool does: by what its server says, by the verb at the start or else at the end
// of its name, by another verb of the name, or by the first verb of its description.
func OfTool(name, description string, hints keyword.Hints) Operation {
	if hints.ReadOnly {
		return Read
	}
	op := ofName(name)
	if op == Unknown {
		op = ofDescription(description)
	}
	if op == Unknown && hints.Additive {
		return Create
	}
	return op
}

func ofName(name string) Operation {
	var parts []Operation
	analysis.EachRun(name, func(r analysis.Run) {
		if r.Unspaced {
			parts = append(parts, startingVerb(r.Text))
			return
		}
		analysis.EachPart(r.Text, func(part string) { parts = append(parts, ofVerb(strings.ToLower(part))) })
	})
	if len(parts) == 0 {
		return Unknown
	}
	if last := parts[len(parts)-1]; parts[0] == Unknown && last != Unknown {
		return last
	}
	for _, op := range parts {
		if op != Unknown {
			return op
		}
	}
	return Unknown
}

// ofVerb returns the operation of an English verb in small letters.
func ofVerb(word string) Operation {
	if op := verbs()[word]; op < question {
		return op
	}
	return Unknown
}

// openingWords is how many words of a description are looked at for its verb.
const openingWords = 3

// ofDescription returns the operation of the first verb at the start of a description: "Lists the
// files", "Tool to list files", "列出文件".
func ofDescription(text string) (op Operation) {
	words := 0
	text = text[:min(len(text), maxOpening)]
	analysis.EachRun(text, func(r analysis.Run) {
		if words++; words > openingWords || op != Unknown {
			return
		}
		if r.Unspaced {
			op = startingVerb(r.Text)
			return
		}
		op = ofVerbForm(strings.ToLower(r.Text))
	})
	return op
}

const maxOpening = 100 // bytes of a description

// ofVerbForm is ofVerb of a verb, or of its third person.
func ofVerbForm(word string) Operation {
	for _, ending := range [...]string{"", "s", "es"} {
		if verb, ok := strings.CutSuffix(word, ending); ok {
			if op := ofVerb(verb); op != Unknown {
				return op
			}
		}
	}
	if verb, ok := strings.CutSuffix(word, "ies"); ok {
		return ofVerb(verb + "y")
	}
	return Unknown
}

// startingVerb returns the operation of the longest Chinese verb that text starts with.
func startingVerb(text string) Operation {
	op, _ := longestEntry(text)
	if op >= question {
		return Unknown
	}
	return op
}

// longestEntry returns the longest entry of the list that text starts with, and its size in bytes.
func longestEntry(text string) (op Operation, size int) {
	end := 0
	for range longestVerb {
		_, n := utf8.DecodeRuneInString(text[end:])
		if n == 0 {
			break
		}
		end += n
		if found, ok := verbs()[text[:end]]; ok {
			op, size = found, end
		}
	}
	return op, size
}
