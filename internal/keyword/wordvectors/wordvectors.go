// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package wordvectors is a small table of words as directions: words that are used alike
// point in much the same direction. Opposites are used alike as well, so directions compare
// texts, and do not say which words mean the same.
//
// README.md says where the table comes from.
package wordvectors

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"sync"
)

//go:embed table.bin
var embedded string

// Table has a direction and a weight for each of some words. It is immutable and safe for
// concurrent use. A nil Table is one without words.
type Table struct {
	words      string   // one after another, in byte order
	ends       []uint32 // of each word
	weights    string   // one byte each
	directions string   // dimensions signed bytes each
	scales     []float32
	dimensions int
}

// Default returns the table that comes with the package, read on first use. It is nil if the
// table is damaged.
var Default = sync.OnceValue(func() *Table {
	t, err := Read(embedded)
	if err != nil {
		return nil
	}
	return t
})

const (
	magic         = "LXWV1\n"
	headerBytes   = len(magic) + 2 + 4
	maxDimensions = 256
	maxWordBytes  = 64
)

var errShort = errors.New("wordvectors: the table is cut short")

// Read reads a table, and keeps data. README.md describes the format.
func Read(data string) (*Table, error) {
	if !strings.HasPrefix(data, magic) {
		return nil, errors.New("wordvectors: no table")
	}
	if len(data) < headerBytes {
		return nil, errShort
	}
	header := []byte(data[len(magic):headerBytes])
	dimensions, count := int(binary.LittleEndian.Uint16(header)), int(binary.LittleEndian.Uint32(header[2:]))
	if dimensions == 0 || dimensions > maxDimensions {
		return nil, fmt.Errorf("wordvectors: %d dimensions", dimensions)
	}
	rest := data[headerBytes:]
	if len(rest)/(1+dimensions) < count {
		return nil, errShort
	}
	split := len(rest) - count*(1+dimensions)
	t := &Table{weights: rest[split:][:count], directions: rest[split+count:], dimensions: dimensions}
	if err := t.readWords(rest[:split], count); err != nil {
		return nil, err
	}
	t.scales = make([]float32, count)
	for row := range t.scales {
		sum := 0
		for i := range dimensions {
			x := t.at(row, i)
			sum += x * x
		}
		if sum > 0 {
			t.scales[row] = float32(1 / math.Sqrt(float64(sum)))
		}
	}
	return t, nil
}

// readWords reads words, each of which is written as how many bytes it shares with the one
// before, and the bytes that follow.
func (t *Table) readWords(data string, count int) error {
	var all []byte
	t.ends = make([]uint32, count)
	start, end := 0, 0 // of the word before
	for row := range t.ends {
		shared, rest, ok := cutNumber(data)
		own, rest, known := cutNumber(rest)
		if !ok || !known || shared > uint64(end-start) || own > uint64(len(rest)) || shared+own > maxWordBytes {
			return errShort
		}
		all = append(append(all, all[start:start+int(shared)]...), rest[:own]...)
		if before, word := all[start:end], all[end:]; bytes.Compare(before, word) >= 0 {
			return fmt.Errorf("wordvectors: %q stands after %q", word, before)
		}
		start, end, data = end, len(all), rest[own:]
		t.ends[row] = uint32(end)
	}
	if data != "" {
		return fmt.Errorf("wordvectors: %d bytes too many", len(data))
	}
	t.words = string(all)
	return nil
}

// cutNumber splits the number at the start off data.
func cutNumber(data string) (n uint64, rest string, ok bool) {
	n, size := binary.Uvarint([]byte(data[:min(len(data), binary.MaxVarintLen64)]))
	if size <= 0 {
		return 0, "", false
	}
	return n, data[size:], true
}

// Len returns how many words the table has. A row is a number from 0 to Len()-1.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return len(t.ends)
}

// Dimensions returns how many a direction has.
func (t *Table) Dimensions() int {
	if t == nil {
		return 0
	}
	return t.dimensions
}

// Word returns the word of a row, as a token of package bm25.
func (t *Table) Word(row int) string {
	start := uint32(0)
	if row > 0 {
		start = t.ends[row-1]
	}
	return t.words[start:t.ends[row]]
}

// Find returns the row of a token.
func (t *Table) Find(token string) (row int, ok bool) {
	n := t.Len()
	row = sort.Search(n, func(i int) bool { return t.Word(i) >= token })
	return row, row < n && t.Word(row) == token
}

// Weight returns how much a word tells what a text is about, from 0 to 1.
func (t *Table) Weight(row int) float64 { return float64(t.weights[row]) / math.MaxUint8 }

func (t *Table) at(row, dimension int) int {
	return int(int8(t.directions[row*t.dimensions+dimension]))
}

// AddTo adds the direction of a word, with a length, to a sum of Dimensions numbers.
func (t *Table) AddTo(sum []float32, row int, length float64) {
	scale := float32(length * float64(t.scales[row]))
	direction := t.directions[row*t.dimensions:][:len(sum)]
	for i := range sum {
		sum[i] += float32(scale * float32(int8(direction[i])))
	}
}

// Pack writes the direction of a sum in one signed byte for each dimension. That of an empty
// sum is zero.
func Pack(packed []int8, sum []float32) {
	most := float32(0)
	for _, x := range sum {
		most = max(most, x, -x)
	}
	if most == 0 {
		clear(packed)
		return
	}
	scale := math.MaxInt8 / float64(most)
	for i, x := range sum {
		packed[i] = int8(math.Round(scale * float64(x)))
	}
}

// Cosine compares two directions: 1 for the same, 0 for unrelated ones, and where either
// is zero.
func Cosine(a, b []int8) float64 {
	dot, lengthA, lengthB := 0, 0, 0
	for i, x := range a {
		x, y := int(x), int(b[i])
		dot += x * y
		lengthA += x * x
		lengthB += y * y
	}
	if dot == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(lengthA)*float64(lengthB))
}
