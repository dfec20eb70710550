// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package vectors holds embeddings in one byte a dimension, finds the nearest by comparing
// all, and writes them as text for a store.
package vectors

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/einolean/einolean/internal/keyword/names"
)

// MaxDimensions is the most that a vector may have.
const MaxDimensions = 8192

// Set is a list of vectors of one length, each scaled to length 1. The zero value is
// empty. It is safe for concurrent use once nothing is added any more.
type Set struct {
	dim    int
	scales []float32 // of one step of each vector
	data   []int8
}

// Len returns the number of vectors.
func (s *Set) Len() int { return len(s.scales) }

// Dimensions returns the length of the vectors; 0 if there is none yet.
func (s *Set) Dimensions() int { return s.dim }

// IsWhole reports whether each vector has a direction.
func (s *Set) IsWhole() bool { return !slices.Contains(s.scales, 0) }

// Add adds a vector, which must be as long as the others. One that is zero or not finite is
// like no other.
func (s *Set) Add(v []float64) error {
	if len(v) == 0 || len(v) > MaxDimensions {
		return fmt.Errorf("a vector of %d dimensions", len(v))
	}
	scale, steps, err := quantize(v)
	if err != nil {
		scale, steps = 0, make([]int8, len(v))
	}
	return s.add(scale, steps)
}

func (s *Set) add(scale float32, steps []int8) error {
	if s.dim == 0 {
		s.dim = len(steps)
	}
	if len(steps) != s.dim {
		return fmt.Errorf("a vector of %d dimensions among those of %d", len(steps), s.dim)
	}
	s.scales = append(s.scales, scale)
	s.data = append(s.data, steps...)
	return nil
}

// Copy adds the vector at a place of another set.
func (s *Set) Copy(from *Set, at int) error { return s.add(from.scales[at], from.at(at)) }

func (s *Set) at(i int) []int8 { return s.data[i*s.dim : (i+1)*s.dim] }

const mostSteps = 127

func quantize(v []float64) (scale float32, steps []int8, err error) {
	sum, most := 0.0, 0.0
	for _, x := range v {
		sum += x * x
		most = max(most, math.Abs(x))
	}
	if most == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, nil, errors.New("a vector that is zero or not finite")
	}
	steps = make([]int8, len(v))
	for i, x := range v {
		steps[i] = int8(math.Round(x / most * mostSteps))
	}
	return float32(most / math.Sqrt(sum) / mostSteps), steps, nil
}

// ErrDimensions is the error where a vector is not as long as those of a set.
var ErrDimensions = errors.New("a vector of other dimensions")

// Neighbour is a vector of a set.
type Neighbour struct {
	// At is its place, in the order in which vectors were added.
	At int
	// Similarity is the cosine, from -1 to 1.
	Similarity float32
	// Deviations is by how many standard deviations that is more than the mean of the set.
	Deviations float32
}

// Nearest returns the k vectors most similar to v, most similar first.
func (s *Set) Nearest(v []float64, k int) ([]Neighbour, error) {
	near, _, err := s.Compare(v, k, nil)
	return near, err
}

// Compare returns the k vectors most similar to v, most similar first, and those at places, in
// the order of places.
func (s *Set) Compare(v []float64, k int, places []int) (near, those []Neighbour, err error) {
	scale, steps, err := quantize(v)
	if err != nil {
		return nil, nil, err
	}
	if len(v) != s.dim {
		return nil, nil, fmt.Errorf("%w: %d for those of %d", ErrDimensions, len(steps), s.dim)
	}
	at := func(i int) Neighbour {
		return Neighbour{At: i, Similarity: float32(product(s.at(i), steps)) * s.scales[i] * scale}
	}
	best := names.NewTopK(max(0, min(k, s.Len())), func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.At, b.At))
	})
	sum, squares := 0.0, 0.0
	for i := range s.scales {
		x := at(i)
		sum += float64(x.Similarity)
		squares += float64(x.Similarity) * float64(x.Similarity)
		best.Add(x)
	}
	near, those = best.Sorted(), make([]Neighbour, len(places))
	for i, place := range places {
		those[i] = at(place)
	}
	n := float64(s.Len())
	if spread := math.Sqrt(max(0, squares/n-sum/n*sum/n)); spread > 1e-6 {
		for _, list := range [][]Neighbour{near, those} {
			for i, x := range list {
				list[i].Deviations = float32((float64(x.Similarity) - sum/n) / spread)
			}
		}
	}
	return near, those, nil
}

// Cosine compares two vectors: 1 for the same direction, 0 where they do not compare.
func Cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, lengthA, lengthB := 0.0, 0.0, 0.0
	for i, x := range a {
		dot += x * b[i]
		lengthA += x * x
		lengthB += b[i] * b[i]
	}
	cosine := dot / math.Sqrt(lengthA*lengthB)
	if math.IsNaN(cosine) || math.IsInf(cosine, 0) {
		return 0
	}
	return cosine
}

func product(a, b []int8) (sum int32) {
	b = b[:len(a)]
	for i, x := range a {
		sum += int32(x) * int32(b[i])
	}
	return sum
}
