// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestEmbedding_LogsFailures(t *testing.T) {
	outOfOrder := func(context.Context, string) ([]float64, error) { return nil, errors.New("out of order") }
	for name, c := range map[string]struct {
		of   func(context.Context, string) ([]float64, error)
		want string // "" for no warning
	}{
		"works":       {meaning, ""},
		"tools fail":  {outOfOrder, "embedder_failed"},
		"no use":      {func(context.Context, string) ([]float64, error) { return []float64{1, 0}, nil }, "embedder_disabled"},
		"query fails": {failsFor("day for"), "embedder_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			before := slog.Default()
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			t.Cleanup(func() { slog.SetDefault(before) })
			synctest.Test(t, func(t *testing.T) {
				x := embedded(t, &embedder{of: c.of}, nil, describedDesk(t))
				for range 3 {
					namesFound(t, x, "a day for a haircut")
					synctest.Wait()
				}
			})
			if c.want == "" {
				require.Empty(t, log.String())
				return
			}
			require.Equal(t, 1, strings.Count(log.String(), c.want), log.String())
			require.Contains(t, log.String(), "semantic: Embedding: ")
			if c.want == "embedder_failed" {
				require.Contains(t, log.String(), "out of order")
			}
		})
	}
}

// failsFor returns an embedder of meanings that fails for texts with certain words.
func failsFor(words string) func(context.Context, string) ([]float64, error) {
	return func(ctx context.Context, text string) ([]float64, error) {
		if strings.Contains(text, words) {
			return nil, errors.New("out of order")
		}
		return meaning(ctx, text)
	}
}
