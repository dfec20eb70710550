// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Made returns n texts: hexadecimal sums, UUIDs, base64, tables of numbers, logs, JSON.
func Made(seed uint64, n int) (out []Doc) {
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	kinds := []struct {
		name string
		line func() string
	}{
		{"hex", func() string { return m.hex(32) }}, {"uuid", m.uuid}, {"base64", func() string { return base64.StdEncoding.EncodeToString(m.bytes(57)) }},
		{"numbers", m.numbers}, {"csv", m.record}, {"log", m.log}, {"json", m.pretty}, {"json lines", m.compact},
	}
	for i := range n {
		var b strings.Builder
		k := kinds[i%len(kinds)]
		for size := 500 + m.IntN(6000); b.Len() < size; {
			b.WriteString(k.line())
			b.WriteByte('\n')
		}
		out = append(out, Doc{Kind: k.name, Name: fmt.Sprint(seed, i), Text: b.String(), Made: true})
	}
	return out
}

type maker struct{ *rand.Rand }

func (m maker) bytes(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(m.IntN(256))
	}
	return out
}

func (m maker) hex(n int) string { return hex.EncodeToString(m.bytes(n)) }

func (m maker) uuid() string {
	return strings.Join([]string{m.hex(4), m.hex(2), m.hex(2), m.hex(2), m.hex(6)}, "-")
}

func (m maker) time() time.Time { return time.Unix(m.Int64N(2e9), m.Int64N(1e9)).UTC() }

func (m maker) numbers() string {
	var cells []string
	for range 8 {
		cells = append(cells, fmt.Sprintf("%.*f", m.IntN(4), m.NormFloat64()*1000))
	}
	return strings.Join(cells, ",")
}

func (m maker) record() string {
	return fmt.Sprintf("%s,%d,%s,%.2f", m.time().Format(time.DateTime), m.IntN(100_000), m.hex(4), m.Float64()*100)
}

func (m maker) log() string {
	return fmt.Sprintf("%s %s [%d] request_id=%s status=%d took=%dms path=/v1/items/%d", m.time().Format(time.RFC3339Nano),
		[]string{"INFO", "WARN", "ERROR"}[m.IntN(3)], m.IntN(30_000), m.hex(8), 200+m.IntN(300), m.IntN(3000), m.IntN(1_000_000))
}

func (m maker) pretty() string {
	text, _ := json.MarshalIndent(map[string]any{"id": m.IntN(1_000_000_000), "uuid": m.hex(16), "price": m.Float64() * 100,
		"active": m.IntN(2) == 0, "tags": []string{"a", "blue", "new"}, "at": m.time()}, "", "  ")
	return string(text)
}

func (m maker) compact() string {
	text, _ := json.Marshal(map[string]any{"id": m.IntN(1_000_000), "name": m.hex(3), "lat": m.Float64()*180 - 90,
		"lon": m.Float64() * 360, "count": m.IntN(500)})
	return string(text)
}
