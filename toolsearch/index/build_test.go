// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index

// Indexes are built at their first search.

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// ourIndexes are the indexes of this package.
func ourIndexes() map[string]Func {
	return map[string]Func{
		"keyword": Keyword, "bm25": BM25,
		"fused": Fuse(Keyword, BM25), "limited": TimeLimit(time.Minute, BM25),
	}
}

func TestSearch_ConcurrentFirstSearchesAgree(t *testing.T) {
	tools := make([]*schema.ToolInfo, 200)
	for i := range tools {
		tools[i] = &schema.ToolInfo{Name: fmt.Sprintf("tool_%d", i), Desc: fmt.Sprintf("Handles case %d", i%10)}
	}
	for name, f := range ourIndexes() {
		t.Run(name, func(t *testing.T) {
			x, err := f(context.Background(), tools)
			require.NoError(t, err)
			answers := make([][]Result, 8)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() {
					found, err := x.Search(context.Background(), Query{Text: "handles case 7", Limit: 3})
					if err != nil {
						t.Error(err)
					}
					_ = Explain(x, Query{Text: "case"}, "tool_7")
					answers[i] = found
				})
			}
			all.Wait()
			require.NotEmpty(t, answers[0])
			for _, a := range answers {
				require.Equal(t, answers[0], a)
			}
		})
	}
}

// A panic while an index is built fails each of its searches, and nothing else.
//
//claim:security-47
func TestSearch_FailedBuildIsAnError(t *testing.T) {
	broken := []*schema.ToolInfo{{Name: "fine"}, nil}
	for name, f := range ourIndexes() {
		t.Run(name, func(t *testing.T) {
			x, err := f(context.Background(), broken)
			require.NoError(t, err)
			for range 2 {
				_, err := x.Search(context.Background(), Query{Text: "+fine"})
				require.Error(t, err)
			}
			require.Empty(t, Explain(x, Query{Text: "fine"}, "fine"))
		})
	}
}

// built is an index whose building takes a while.
type built struct {
	at    *time.Time
	limit time.Duration
}

func (b built) Build(catalog.InternalOnly) error {
	if b.at.IsZero() {
		time.Sleep(2 * b.limit)
		*b.at = time.Now()
	}
	return nil
}

func (b built) Search(ctx context.Context, _ Query) ([]Result, error) {
	if end, ok := ctx.Deadline(); !ok || end.Sub(*b.at) < b.limit {
		return nil, fmt.Errorf("%v are left of %v", end.Sub(*b.at), b.limit)
	}
	return []Result{{Name: "found", Score: 1}}, nil
}

// The time limit applies to searching: an index that takes longer to build still answers its first search.
func TestTimeLimit_ExcludesBuilding(t *testing.T) {
	for name, made := range map[string]func(Func) Func{
		"limited": func(f Func) Func { return TimeLimit(partTimeout, f) },
		"fused":   func(f Func) Func { return Fuse(f) },
		"nested": func(f Func) Func {
			return TimeLimit(partTimeout, Fuse(TimeLimit(partTimeout, f)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, err := made(func(context.Context, []*schema.ToolInfo) (Index, error) {
					return built{new(time.Time), partTimeout}, nil
				})(context.Background(), nil)
				require.NoError(t, err)
				found, err := x.Search(context.Background(), Query{Text: "anything"})
				require.NoError(t, err)
				require.Len(t, found, 1)
			})
		})
	}
}
