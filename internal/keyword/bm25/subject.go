// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file holds the memory for computing what a text is about.

import "github.com/leanctx/leanctx/internal/keyword/wordvectors"

// maxReordered is the number of the best answers that are compared.
const maxReordered = 100

// about is scratch memory for computing the subject of a text.
type about struct {
	sum     []float32
	rows    []int32 // of a segment's tokens in the table; -1: none
	query   []int8
	cosines [maxReordered]float64
}

// reset makes the sum that of no words.
func (a *about) reset(table *wordvectors.Table) {
	if len(a.sum) != table.Dimensions() {
		a.sum, a.query = make([]float32, table.Dimensions()), make([]int8, table.Dimensions())
	}
	clear(a.sum)
}
