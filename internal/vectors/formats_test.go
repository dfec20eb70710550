// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package vectors_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/internal/vectors"
)

// The samples are in package formats.
func TestDecode_ReadsSamplesOfEarlierBuilds(t *testing.T) {
	texts, rows := []string{"send a mail", "delete a file", "删除文件"}, [][]float64{{1, 0, 0.5}, {0, 1, -0.25}, {0.5, 0.5, 0}}
	var keys []vectors.Key
	set := &vectors.Set{}
	for i, text := range texts {
		keys = append(keys, vectors.KeyOf(text))
		require.NoError(t, set.Add(rows[i]))
	}
	for name, stored := range formats.Samples(t, "vectors", ".text", func() string { return vectors.Encode(keys, set) }) {
		gotKeys, got, err := vectors.Decode(stored)
		require.NoError(t, err, name)
		require.Equal(t, keys, gotKeys, name)
		require.Equal(t, set.Dimensions(), got.Dimensions(), name)
		for i, row := range rows {
			near, err := got.Nearest(row, 1)
			require.NoError(t, err, name)
			require.Equal(t, i, near[0].At, name)
		}
	}
}
