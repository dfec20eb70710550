// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStreamToDisk pairs a stream into the directory store with the same
// stream into a plain file, synced as well.
func BenchmarkStreamToDisk(b *testing.B) {
	for _, size := range []int64{64 << 10, 100 << 20} {
		b.Run(fmt.Sprintf("%dKB/plain", size>>10), func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(size)
			b.ReportAllocs()
			for i := range b.N {
				f, err := os.Create(filepath.Join(dir, fmt.Sprint(i%4)))
				require.NoError(b, err)
				_, err = io.Copy(f, io.LimitReader(zeros{}, size))
				require.NoError(b, err)
				require.NoError(b, f.Sync())
				require.NoError(b, f.Close())
			}
		})
		b.Run(fmt.Sprintf("%dKB/store", size>>10), func(b *testing.B) {
			d, err := NewDir(b.TempDir())
			require.NoError(b, err)
			defer d.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for i := range b.N {
				name := fmt.Sprint("tmp/trunc/", i%4)
				require.NoError(b, d.Create(b.Context(), name, io.LimitReader(zeros{}, size)))
				b.StopTimer()
				require.NoError(b, d.root.Remove(name))
				b.StartTimer()
			}
		})
	}
}

func BenchmarkComponent(b *testing.B) {
	for name, id := range map[string]string{"well formed": "call_00_Ab3dEf", "hostile": "../../etc/passwd", "long": strings.Repeat("x/", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Component(id)
			}
		})
	}
}
