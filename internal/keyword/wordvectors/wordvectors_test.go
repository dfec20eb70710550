// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wordvectors

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// entry is a word of a table that a test writes.
type entry struct {
	word      string
	weight    byte
	direction []int8
}

// written is a table of entries, which are in order.
func written(dimensions int, entries ...entry) string {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint16(b, uint16(dimensions))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)))
	before := ""
	for _, e := range entries {
		shared := 0
		for shared < min(len(e.word), len(before)) && e.word[shared] == before[shared] {
			shared++
		}
		b = binary.AppendUvarint(b, uint64(shared))
		b = binary.AppendUvarint(b, uint64(len(e.word)-shared))
		b = append(b, e.word[shared:]...)
		before = e.word
	}
	for _, e := range entries {
		b = append(b, e.weight)
	}
	for _, e := range entries {
		for _, x := range e.direction {
			b = append(b, byte(x))
		}
	}
	return string(b)
}

var small = []entry{{"mail", 255, []int8{127, 0}}, {"mailbox", 51, []int8{3, -4}}, {"weather", 0, []int8{0, 0}}}

func TestReadingGivesWhatIsWritten(t *testing.T) {
	table, err := Read(written(2, small...))
	require.NoError(t, err)
	require.Equal(t, []int{3, 2}, []int{table.Len(), table.Dimensions()})
	for at, e := range small {
		row, ok := table.Find(e.word)
		require.True(t, ok)
		require.Equal(t, at, row)
		require.Equal(t, e.word, table.Word(row))
		require.InDelta(t, float64(e.weight)/255, table.Weight(row), 1e-9)
		length := math.Hypot(float64(e.direction[0]), float64(e.direction[1]))
		sum := []float32{1, 1}
		table.AddTo(sum, row, 2)
		for i, x := range e.direction {
			require.InDelta(t, 1+2*float64(x)/max(1, length), float64(sum[i]), 1e-6)
		}
	}
	for _, word := range []string{"", "a", "mai", "mailb", "mailboxes", "zebra"} {
		_, ok := table.Find(word)
		require.False(t, ok, word)
	}
}

func TestADamagedTableIsAnError(t *testing.T) {
	good := written(2, small...)
	_, err := Read(good)
	require.NoError(t, err)
	for size := range len(good) {
		_, err := Read(good[:size])
		require.Error(t, err, "%d of %d bytes", size, len(good))
	}
	for name, data := range map[string]string{
		"another beginning": "LXWV2\n" + good[len(magic):],
		"more than a table": good + "\x00",
		"no dimensions":     written(0, entry{word: "a"}),
		"many dimensions":   written(maxDimensions+1, entry{"a", 1, make([]int8, maxDimensions+1)}),
		"words in disorder": written(1, entry{"b", 1, []int8{1}}, entry{"a", 1, []int8{1}}),
		"a word twice":      written(1, entry{"b", 1, []int8{1}}, entry{"b", 1, []int8{1}}),
		"an empty word":     written(1, entry{"", 1, []int8{1}}),
		"a long word":       written(1, entry{strings.Repeat("a", maxWordBytes+1), 1, []int8{1}}),
		"more than shared":  strings.Replace(written(1, entry{"aa", 1, []int8{1}}, entry{"ab", 1, []int8{1}}), "\x01\x01b", "\x05\x01b", 1),
	} {
		_, err := Read(data)
		require.Error(t, err, name)
	}
}

func TestNoTableHasNoWords(t *testing.T) {
	var none *Table
	require.Zero(t, none.Len())
	require.Zero(t, none.Dimensions())
	_, ok := none.Find("mail")
	require.False(t, ok)
	empty, err := Read(written(3))
	require.NoError(t, err)
	require.Zero(t, empty.Len())
	_, ok = empty.Find("mail")
	require.False(t, ok)
}

func FuzzRead(f *testing.F) {
	f.Add(written(2, small...))
	f.Add(written(1))
	f.Add("LXWV1\n\x01\x00\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, data string) {
		table, err := Read(data)
		if err != nil {
			return
		}
		sum := make([]float32, table.Dimensions())
		for row := range table.Len() {
			at, ok := table.Find(table.Word(row))
			require.True(t, ok)
			require.Equal(t, row, at)
			require.LessOrEqual(t, table.Weight(row), 1.0)
			table.AddTo(sum, row, table.Weight(row))
		}
	})
}

// maxTable is the most bytes that the table may add to a program.
const maxTable = 400 << 10

func TestTheTableIsSmallAndWhole(t *testing.T) {
	require.LessOrEqual(t, len(embedded), maxTable)
	_, err := Read(embedded)
	require.NoError(t, err)
	require.Greater(t, Default().Len(), 1000)
	require.Same(t, Default(), Default())
}

func TestWordsThatAreUsedAlikeAreNear(t *testing.T) {
	table := Default()
	direction := func(word string) []int8 {
		row, ok := table.Find(word)
		require.True(t, ok, word)
		sum := make([]float32, table.Dimensions())
		table.AddTo(sum, row, 1)
		packed := make([]int8, len(sum))
		Pack(packed, sum)
		return packed
	}
	for _, words := range [][3]string{ // the first is nearer to the second than to the third
		{"mail", "messag", "weather"},
		{"payment", "money", "music"},
		{"photo", "imag", "databas"},
		{"meet", "schedul", "video"},
		{"flight", "airlin", "code"},
	} {
		near, far := Cosine(direction(words[0]), direction(words[1])), Cosine(direction(words[0]), direction(words[2]))
		require.Greater(t, near, far, words)
	}
}

func TestPackedDirectionsKeepTheirAngle(t *testing.T) {
	packed := func(sum ...float32) []int8 {
		p := make([]int8, len(sum))
		for i := range p {
			p[i] = 9
		}
		Pack(p, sum)
		return p
	}
	require.Equal(t, []int8{127, -64, 0}, packed(2e-30, -1e-30, 0))
	require.Equal(t, []int8{0, 0}, packed(0, 0))
	require.InDelta(t, 1, Cosine(packed(1, 2, 3), packed(10, 20, 30)), 1e-9)
	require.InDelta(t, -1, Cosine(packed(1, 2, 3), packed(-1, -2, -3)), 1e-9)
	require.InDelta(t, math.Sqrt2/2, Cosine(packed(1, 0), packed(5, 5)), 1e-9)
	require.Zero(t, Cosine(packed(1, 0), packed(0, 5)))
	require.Zero(t, Cosine(packed(0, 0), packed(1, 1)))
}

func BenchmarkFind(b *testing.B) {
	table := Default()
	var words []string
	for row := 0; row < table.Len(); row += 37 {
		words = append(words, table.Word(row), table.Word(row)+"x")
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.Find(words[i%len(words)])
	}
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(embedded); err != nil {
			b.Fatal(err)
		}
	}
}
