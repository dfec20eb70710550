// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package vectors

// Sets of vectors as text: stores hold text, and read it by lines.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Key identifies the text that a vector represents.
type Key [16]byte

// KeyOf returns the key of a text.
func KeyOf(text string) Key {
	sum := sha256.Sum256([]byte(text))
	return Key(sum[:16])
}

const (
	format    = "einolean.vectors/1"
	keySize   = len(Key{})
	scaleSize = 4
	lineSize  = 3 << 10 // bytes of a line before they become base64
)

// Encode writes a set with the key of each vector. Decode reads what it wrote.
func Encode(keys []Key, s *Set) string {
	body := make([]byte, 0, len(keys)*(keySize+scaleSize+s.dim))
	for i, key := range keys {
		body = append(body, key[:]...)
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(s.scales[i]))
		for _, x := range s.at(i) {
			body = append(body, byte(x))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %d %x\n", format, len(keys), s.dim, sha256.Sum256(body))
	for len(body) > 0 {
		n := min(lineSize, len(body))
		b.WriteString(base64.StdEncoding.EncodeToString(body[:n]) + "\n")
		body = body[n:]
	}
	return b.String()
}

var errDamaged = errors.New("the stored vectors are damaged")

// Decode returns the keys and the vectors of an encoded set. Others than Encode may have
// written it.
func Decode(text string) ([]Key, *Set, error) {
	n, dim, body, ok := records(text)
	if !ok {
		return nil, nil, errDamaged
	}
	size := keySize + scaleSize + dim
	keys, s := make([]Key, n), &Set{}
	for i := range keys {
		record := body[i*size : (i+1)*size]
		keys[i] = Key(record[:keySize])
		steps := make([]int8, dim)
		for j, x := range record[keySize+scaleSize:] {
			steps[j] = int8(x)
		}
		scale := math.Float32frombits(binary.LittleEndian.Uint32(record[keySize:]))
		if !(scale >= 0 && scale <= 1) { // no number either
			return nil, nil, errDamaged
		}
		if err := s.add(scale, steps); err != nil {
			return nil, nil, errDamaged
		}
	}
	return keys, s, nil
}

// records returns the number of vectors, their dimensions, and their records one after another.
func records(text string) (n, dim int, body []byte, ok bool) {
	head, rest, _ := strings.Cut(text, "\n")
	var name, sum string
	if _, err := fmt.Sscanf(head, "%s %d %d %s", &name, &n, &dim, &sum); err != nil || name != format || dim < 0 || dim > MaxDimensions {
		return 0, 0, nil, false
	}
	for line := range strings.Lines(rest) {
		part, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
		if err != nil {
			return 0, 0, nil, false
		}
		body = append(body, part...)
	}
	size := keySize + scaleSize + dim
	whole := len(body)%size == 0 && len(body)/size == n // no product of what is written there
	return n, dim, body, whole && fmt.Sprintf("%x", sha256.Sum256(body)) == sum
}
