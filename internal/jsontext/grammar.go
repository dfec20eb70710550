// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

// The grammar of JSON, byte by byte: for readers that take a text in pieces, and for those that read
// on where one breaks off. They keep what is open; nothing else need be known.

import "strings"

// Place is what may come next outside of strings, numbers and words. The zero value is before
// everything.
type Place uint8

const (
	wantValue Place = iota
	wantItem        // the first one, or the end of the list
	wantNextItem
	wantKey // the first one, or the end of the object
	wantNextKey
	wantColon
	wantMember // the value of one
	behindItem
	behindMember
	behindAll
	places
)

// PlaceAfterValue is the place after a value inside an object ('{'), a list ('[') or neither (0).
func PlaceAfterValue(open byte) Place {
	switch open {
	case '{':
		return behindMember
	case '[':
		return behindItem
	}
	return behindAll
}

// Token is what begins with a byte.
type Token uint8

// The tokens.
const (
	Invalid Token = iota // nothing that JSON allows there
	Open                 // an object or a list
	Close                // its end
	Comma
	Colon
	Key  // a string that is the key of a member
	Text // a string that is a value
	Number
	Word // true, false or null
)

// step is the token that begins with a byte at a place, and the place behind it.
type step struct {
	token Token
	place Place
}

var grammar = func() (set [places][256]step) {
	put := func(at Place, bytes string, t Token, behind Place) {
		for _, c := range []byte(bytes) {
			set[at][c] = step{t, behind}
		}
	}
	for at, behind := range map[Place]Place{wantValue: behindAll, wantItem: behindItem, wantNextItem: behindItem, wantMember: behindMember} {
		put(at, "{", Open, wantKey)
		put(at, "[", Open, wantItem)
		put(at, `"`, Text, behind)
		put(at, "-0123456789", Number, behind)
		put(at, "tfn", Word, behind)
	}
	for _, at := range []Place{wantKey, wantNextKey} {
		put(at, `"`, Key, wantColon)
	}
	put(wantColon, ":", Colon, wantMember)
	put(behindItem, ",", Comma, wantNextItem)
	put(behindMember, ",", Comma, wantNextKey)
	for _, at := range []Place{wantItem, behindItem} {
		put(at, "]", Close, behindAll)
	}
	for _, at := range []Place{wantKey, behindMember} {
		put(at, "}", Close, behindAll)
	}
	return set
}()

// Next is the token that begins with c, and the place behind it; behind the end of what was open it is
// that of Behind.
func (p Place) Next(c byte) (Token, Place) {
	s := &grammar[p][c]
	return s.token, s.place
}

// WordAt is the word that begins with a byte, "" if none does.
func WordAt(c byte) string {
	switch c {
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return ""
}

var isSpace = [256]bool{' ': true, '\n': true, '\t': true, '\r': true}

// Space is where white space ends that begins at i.
func Space(s string, i int) int {
	for i < len(s) && isSpace[s[i]] {
		i++
	}
	return i
}

// StringEnd is behind the quote that closes the string at i. ok is false if none does.
func StringEnd(s string, i int) (end int, ok bool) {
	at := i + 1
	n := strings.IndexByte(s[at:], '"')
	switch {
	case n < 0:
		return len(s), false
	case s[at+n-1] != '\\':
		return at + n + 1, true
	}
	for at < len(s) && s[at] != '"' { // where there is one escape, there mostly are many
		if s[at] == '\\' {
			at++
		}
		at++
	}
	return min(at+1, len(s)), at < len(s)
}

// NumberPlace is a place in a number. The zero value is before it.
type NumberPlace uint8

const (
	beforeNumber NumberPlace = iota
	minus
	zero
	integer
	point
	fraction
	exponent
	exponentSign
	exponentDigits
	digitPlaces
)

// steps are the steps through a number, by the place and the next byte; there is none to before.
var steps = func() (out [digitPlaces][256]NumberPlace) {
	step := func(from NumberPlace, bytes string, to NumberPlace) {
		for _, b := range []byte(bytes) {
			out[from][b] = to
		}
	}
	const nonZero, digits = "123456789", "0123456789"
	step(beforeNumber, "-", minus)
	for _, from := range []NumberPlace{beforeNumber, minus} {
		step(from, "0", zero)
		step(from, nonZero, integer)
	}
	step(integer, digits, integer)
	step(zero, ".", point)
	step(integer, ".", point)
	step(point, digits, fraction)
	step(fraction, digits, fraction)
	for _, from := range []NumberPlace{zero, integer, fraction} {
		step(from, "eE", exponent)
	}
	step(exponent, "+-", exponentSign)
	for _, from := range []NumberPlace{exponent, exponentSign, exponentDigits} {
		step(from, digits, exponentDigits)
	}
	return out
}()

// Read is how much of s goes on with the number, and the place behind that.
func (d NumberPlace) Read(s string) (n int, at NumberPlace) {
	for n < len(s) {
		next := steps[d][s[n]]
		if next == beforeNumber {
			break
		}
		d = next
		n++
	}
	return n, d
}

// IsComplete reports whether the value may end here.
func (d NumberPlace) IsComplete() bool {
	return d == zero || d == integer || d == fraction || d == exponentDigits
}
