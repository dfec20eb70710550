// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package wordsplit splits texts into the words that the recorded tables of vectors have, and gives
// whole texts their keys and the form of their vectors. What makes the tables and what reads them must do it alike.
package wordsplit

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	camel = regexp.MustCompile(`([a-z])([A-Z])`)
	runs  = regexp.MustCompile(`[A-Za-z]+|\p{Han}+`)
)

// Split returns the words of a text: runs of Latin letters, split at camelCase, and characters
// and pairs of characters of Chinese.
func Split(text string) (words []string) {
	for _, run := range runs.FindAllString(camel.ReplaceAllString(text, "$1 $2"), -1) {
		if run[0] < 0x80 {
			words = append(words, strings.ToLower(run))
			continue
		}
		all := []rune(run)
		for i := range all {
			words = append(words, string(all[i]))
			if i > 0 {
				words = append(words, string(all[i-1:i+1]))
			}
		}
	}
	return words
}

// Key is the key of a text in a table of vectors of texts.
func Key(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// Pack writes a vector, of an even number of dimensions, in half a byte for each, after the
// greatest of its numbers.
func Pack(v []float64) string {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	packed := make([]byte, len(v)/2)
	for i, x := range v {
		packed[i/2] |= byte(zero+math.Round(x/most*mostSteps)) << (4 * (i % 2))
	}
	return fmt.Sprintf("%.4f ", most) + base64.StdEncoding.EncodeToString(packed)
}

const zero, mostSteps = 8, 7

// Unpack reads what Pack has written.
func Unpack(most, steps string) ([]float64, error) {
	greatest, err := strconv.ParseFloat(most, 64)
	if err != nil {
		return nil, err
	}
	packed, err := base64.StdEncoding.DecodeString(steps)
	v := make([]float64, 2*len(packed))
	for i := range v {
		v[i] = (float64(packed[i/2]>>(4*(i%2))&15) - zero) / mostSteps * greatest
	}
	return v, err
}
