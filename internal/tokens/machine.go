// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokens

// Kinds of bytes. Those of a character beyond ASCII tell its script, roughly.
const (
	lowerCase = iota
	upperCase
	digit
	space
	tab
	newline
	carriageReturn
	control
	lead2     // two bytes: Latin with marks, Greek, Cyrillic, Hebrew, Arabic
	leadE0    // three bytes: India, South East Asia; punctuation and symbols
	leadE3    // kana, CJK punctuation
	ideograph // most Chinese characters
	hangul
	leadEE           // full-width forms
	lead4            // emoji, rare characters
	continuationByte // any further byte
	punctuation
	kinds = punctuation + 32 // each ASCII punctuation mark is a kind of its own
)

// Groups of kinds: a run is of one group.
const (
	letters = iota
	digits
	blanks
	lineEnds
	wide
	marks
)

var (
	kindOf  = kindsOfBytes()
	groupOf = groupsOfKinds()

	// letterRun and otherRun put lengths of runs into buckets.
	letterRun = [maxRun + 1]uint8{0, 0, 0, 1, 2, 3, 3, 4, 4, 4, 5}
	otherRun  = [maxRun + 1]uint8{0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3}
)

const (
	maxRun  = 10 // longer runs count as this long
	maxMood = 31 // of the sum; moodStep of it are one mood

	moodStep  = (maxMood + 1) / moods
	digitMood = moodStep // what letters next to digits begin with, at least
)

func kindsOfBytes() (out [256]uint8) {
	mark := uint8(punctuation)
	for i := range out {
		switch b := byte(i); {
		case 'a' <= b && b <= 'z':
			out[i] = lowerCase
		case 'A' <= b && b <= 'Z':
			out[i] = upperCase
		case '0' <= b && b <= '9':
			out[i] = digit
		case b >= 0x80:
			out[i] = wideKind(b)
		default:
			out[i] = mark
			switch b {
			case ' ':
				out[i] = space
			case '\t':
				out[i] = tab
			case '\n':
				out[i] = newline
			case '\r':
				out[i] = carriageReturn
			default:
				if b < ' ' || b == 0x7f {
					out[i] = control
				} else {
					mark++
				}
			}
		}
	}
	return out
}

func wideKind(b byte) uint8 {
	switch {
	case b < 0xc0:
		return continuationByte
	case b < 0xe0:
		return lead2
	case b < 0xe3:
		return leadE0
	case b == 0xe3:
		return leadE3
	case b < 0xea:
		return ideograph
	case b < 0xee:
		return hangul
	case b < 0xf0:
		return leadEE
	}
	return lead4
}

func groupsOfKinds() (out [kinds]uint8) {
	for k := range out {
		switch {
		case k <= upperCase:
			out[k] = letters
		case k == digit:
			out[k] = digits
		case k <= tab:
			out[k] = blanks
		case k <= carriageReturn:
			out[k] = lineEnds
		case k < punctuation:
			out[k] = wide
		default:
			out[k] = marks
		}
	}
	return out
}

// machine is the state of the pass over a text. A text begins as if after the end of a line.
type machine struct {
	kind, group uint8 // of the byte before
	letter      uint8 // if it is one, from 0 to 25
	runLength   int   // length of its run so far, at most maxRun
	mood        int   // how much of what stands here was rare pairs, at most maxMood
	rarity      string
}

func start(rarity string) machine {
	return machine{kind: newline, group: lineEnds, runLength: 1, rarity: rarity}
}

// next takes a byte and returns its cell.
func (m *machine) next(b byte) int {
	k := kindOf[b]
	if k > upperCase {
		return m.nextOther(k)
	}
	l := (b | 0x20) - 'a'
	if m.group != letters || m.kind == lowerCase && k == upperCase {
		return m.nextWord(k, l)
	}
	mode := 0
	if m.kind == upperCase {
		mode = 1 + int(k)
	}
	pair := int(m.letter)*26 + int(l)
	cell := ((mode*runs+int(letterRun[m.runLength]))*moods+m.mood/moodStep)*pairCells + pair
	m.mood = min(maxMood, m.mood+int(m.rarity[pair]-'0'))
	m.runLength = min(maxRun, m.runLength+1)
	m.letter, m.kind = l, k
	return cell
}

func (m *machine) nextWord(k, l uint8) int {
	cell := m.pair(k)
	switch m.group {
	case letters:
		m.mood /= 2
	case digits:
		m.mood = min(maxMood, m.mood+digitMood)
	default:
		m.mood /= 4
	}
	m.letter, m.kind, m.group, m.runLength = l, k, letters, 1
	return cell
}

// nextOther takes a byte that is not a letter.
func (m *machine) nextOther(k uint8) int {
	cell := m.pair(k)
	g := groupOf[k]
	if g != m.group {
		m.runLength = 0
	}
	if g != digits {
		m.mood /= 2
	}
	m.runLength = min(maxRun, m.runLength+1)
	m.kind, m.group = k, g
	return cell
}

func (m *machine) pair(k uint8) int {
	return letterCells + (int(otherRun[m.runLength])*kinds+int(m.kind))*kinds + int(k)
}

// Coarser returns two coarser views of a cell, each as a number: its situation without
// the pair of characters, and its pair without the situation.
func Coarser(cell int) (situation, pair int) {
	if cell < letterCells {
		return cell / pairCells, cell/pairCells/runs/moods*pairCells + cell%pairCells
	}
	cell -= letterCells
	run, before, now := cell/kinds/kinds, cell/kinds%kinds, cell%kinds
	return letterCells + (run*kinds+int(groupOf[before]))*kinds + int(groupOf[now]), letterCells + before*kinds + now
}
