// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// Vectors by how often words stand together: the positive pointwise mutual information with the commonest words,
// reduced by singular values (Levy and Goldberg, NIPS 2014; Halko, Martinsson and Tropp, SIAM Review 2011).

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

const (
	dimensions = 48
	window     = 8
	contexts   = 6000
	common     = 9000 // words that are learned beside those wanted, for a space of the whole language
	spare      = 12   // dimensions that make the others exact
	rounds     = 4
	least      = 4 // times that a word stands somewhere
	shift      = math.Ln2
)

// matrix has numbers by rows.
type matrix struct {
	width int
	cells []float32
}

func newMatrix(height, width int) matrix { return matrix{width, make([]float32, height*width)} }

func (m matrix) height() int         { return len(m.cells) / m.width }
func (m matrix) row(i int) []float32 { return m.cells[i*m.width : (i+1)*m.width] }

func learn(texts []string, counts map[string]int, wanted map[string]bool) map[string][]float64 {
	known := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	rows, columns := map[string]int{}, map[string]int{}
	for i, w := range known {
		if counts[w] < least {
			break
		}
		if i < contexts {
			columns[w] = i
		}
		if i < common || wanted[w] {
			rows[w] = len(rows)
		}
	}
	m := together(texts, rows, columns)
	m.information()
	reduced := m.reduce(dimensions, .5)
	out := map[string][]float64{}
	for w, i := range rows {
		if wanted[w] {
			out[w] = reduced[i]
		}
	}
	return out
}

// together counts how often words stand near each other, the nearer the more.
func together(texts []string, rows, columns map[string]int) matrix {
	m := newMatrix(len(rows), contexts)
	for _, text := range texts {
		words := strings.Fields(text)
		for i, w := range words {
			r, ok := rows[w]
			if !ok {
				continue
			}
			for j := max(0, i-window); j < min(len(words), i+window+1); j++ {
				if c, ok := columns[words[j]]; ok && j != i {
					m.row(r)[c] += float32(1 / math.Sqrt(math.Abs(float64(j-i))))
				}
			}
		}
	}
	return m
}

// information replaces counts by how much more often words meet than by chance.
func (m matrix) information() {
	across, down, smooth := make([]float64, m.height()), make([]float64, m.width), 0.0
	for r := range across {
		for c, v := range m.row(r) {
			across[r] += float64(v)
			down[c] += float64(v)
		}
	}
	for c, v := range down {
		down[c] = math.Pow(v, .75) // rare contexts would count too much
		smooth += down[c]
	}
	for r := range across {
		row := m.row(r)
		for c, v := range row {
			if v > 0 {
				row[c] = float32(max(0, math.Log(float64(v)*smooth/(across[r]*down[c]))-shift))
			}
		}
	}
}

// reduce returns the rows in the dimensions of the greatest singular values, each divided by a power of its own. If
// the power is zero, products of rows stay what they are, as far as so few dimensions can have them.
func (m matrix) reduce(dimensions int, power float64) [][]float64 {
	size := dimensions + spare
	random := rand.New(rand.NewPCG(1, 2))
	right := newMatrix(m.width, size)
	for i := range right.cells {
		right.cells[i] = float32(random.NormFloat64())
	}
	left := newMatrix(m.height(), size)
	for range rounds {
		m.times(right, left)
		left.orthogonal()
		m.transposedTimes(left, right)
		right.orthogonal()
	}
	m.times(right, left)
	values, turn := eigen(left.squared())
	order := make([]int, size)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	out := make([][]float64, m.height())
	for r := range out {
		out[r] = make([]float64, dimensions)
		for d, which := range order[:dimensions] {
			for i, x := range left.row(r) {
				out[r][d] += float64(x) * turn[i][which]
			}
			out[r][d] /= math.Pow(values[which], power/2)
		}
	}
	return out
}

// times sets out to m·b.
func (m matrix) times(b, out matrix) {
	const parts = 4
	var all sync.WaitGroup
	for p := range parts {
		all.Go(func() {
			for r := p * m.height() / parts; r < (p+1)*m.height()/parts; r++ {
				row := out.row(r)
				clear(row)
				for c, v := range m.row(r) {
					add(row, b, c, v)
				}
			}
		})
	}
	all.Wait()
}

// transposedTimes sets out to mᵀ·b.
func (m matrix) transposedTimes(b, out matrix) {
	clear(out.cells)
	for r := range m.height() {
		for c, v := range m.row(r) {
			add(out.row(c), b, r, v)
		}
	}
}

// add adds a row of b, v times.
func add(to []float32, b matrix, row int, v float32) {
	if v == 0 {
		return
	}
	for i, x := range b.row(row) {
		to[i] += v * x
	}
}

// orthogonal makes the columns orthogonal and of length 1.
func (m matrix) orthogonal() {
	dot := func(a, b int) (sum float64) {
		for r := range m.height() {
			sum += float64(m.row(r)[a]) * float64(m.row(r)[b])
		}
		return sum
	}
	for c := range m.width {
		for range 2 { // once is not exact
			for before := range c {
				shared := float32(dot(before, c))
				for r := range m.height() {
					m.row(r)[c] -= shared * m.row(r)[before]
				}
			}
		}
		length := float32(math.Sqrt(dot(c, c)))
		if length == 0 {
			continue
		}
		for r := range m.height() {
			m.row(r)[c] /= length
		}
	}
}

// squared returns mᵀ·m.
func (m matrix) squared() [][]float64 {
	out := make([][]float64, m.width)
	for i := range out {
		out[i] = make([]float64, m.width)
	}
	for r := range m.height() {
		row := m.row(r)
		for i, x := range row {
			for j, y := range row {
				out[i][j] += float64(x) * float64(y)
			}
		}
	}
	return out
}

// eigen returns the eigenvalues of a symmetric matrix, which it changes, and the eigenvectors in columns (Jacobi).
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	const sweeps = 30
	n := len(a)
	for i := range n {
		vectors = append(vectors, make([]float64, n))
		vectors[i][i] = 1
	}
	for range sweeps {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if math.Abs(a[p][q]) > 1e-12 {
					rotate(a, vectors, p, q)
				}
			}
		}
	}
	for i := range n {
		values = append(values, a[i][i])
	}
	return values, vectors
}

func rotate(a, vectors [][]float64, p, q int) {
	ratio := (a[q][q] - a[p][p]) / (2 * a[p][q])
	tangent := math.Copysign(1/(math.Abs(ratio)+math.Sqrt(ratio*ratio+1)), ratio)
	c := 1 / math.Sqrt(tangent*tangent+1)
	s := tangent * c
	for i := range a {
		a[i][p], a[i][q] = c*a[i][p]-s*a[i][q], s*a[i][p]+c*a[i][q]
	}
	for i := range a {
		a[p][i], a[q][i] = c*a[p][i]-s*a[q][i], s*a[p][i]+c*a[q][i]
	}
	for i := range vectors {
		vectors[i][p], vectors[i][q] = c*vectors[i][p]-s*vectors[i][q], s*vectors[i][p]+c*vectors[i][q]
	}
}
