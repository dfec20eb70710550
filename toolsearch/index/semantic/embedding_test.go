// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// embedder is an embedding model under test.
type embedder struct {
	of func(ctx context.Context, text string) ([]float64, error)

	mu    sync.Mutex
	asked []string
}

func (e *embedder) EmbedStrings(ctx context.Context, texts []string, _ ...embedding.Option) (all [][]float64, err error) {
	e.mu.Lock()
	e.asked = append(e.asked, texts...)
	e.mu.Unlock()
	for _, text := range texts {
		v, err := e.of(ctx, text)
		if err != nil {
			return nil, err
		}
		if v != nil {
			all = append(all, v)
		}
	}
	return all, nil
}

func (e *embedder) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = nil
}

// texts are what was embedded since the last forget.
func (e *embedder) texts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.asked...)
}

// concepts stand for what words mean, in any language.
var concepts = map[string]string{
	"weather": "weather", "météo": "weather", "wetter": "weather", "forecast": "weather",
	"mail": "mail", "e-mail": "mail", "courriel": "mail", "send": "send", "envoyer": "send", "event": "event", "rendez-vous": "event",
	"files": "file", "fichiers": "file", "search": "search", "chercher": "search",
}

// meaning is the sum of directions of the concepts of a text, and of its other words.
func meaning(_ context.Context, text string) ([]float64, error) {
	v := make([]float64, 64)
	v[0] = .1
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \n_.,", r) }) {
		if c, ok := concepts[word]; ok {
			word = c
		}
		for i, x := range direction(word, len(v)) {
			v[i] += x
		}
	}
	return v, nil
}

func direction(word string, n int) []float64 {
	h := fnv.New64a()
	h.Write([]byte(word))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float64, n)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

func describedDesk(t *testing.T) []*schema.ToolInfo { return infosOf(t, desk()) }

func infosOf(t *testing.T, tools []tool.BaseTool) (infos []*schema.ToolInfo) {
	for _, d := range tools {
		info, err := d.Info(context.Background())
		require.NoError(t, err)
		infos = append(infos, info)
	}
	return infos
}

func namesFound(t *testing.T, x index.Index, text string) (names []string) {
	found, err := x.Search(context.Background(), index.Query{Text: text, Limit: 3})
	require.NoError(t, err)
	for _, r := range found {
		names = append(names, r.Name)
	}
	return names
}

func embedded(t *testing.T, e embedding.Embedder, files store.Backend, infos []*schema.ToolInfo) index.Index {
	x, err := semantic.Embedding("test-1", e, files)(context.Background(), infos)
	require.NoError(t, err)
	return x
}

func TestEmbedding_FindsToolsByMeaning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &embedder{of: meaning}
		x := embedded(t, e, nil, describedDesk(t))
		require.Empty(t, e.texts(), "nothing is embedded before the first search")
		require.Empty(t, namesFound(t, x, "la météo"), "until the tools are embedded, words answer")
		synctest.Wait()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
		require.Equal(t, "mail__send", namesFound(t, x, "envoyer un courriel")[0])
		require.Equal(t, "drive__search_files", namesFound(t, x, "chercher fichiers")[0])
		e.forget()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
		require.Equal(t, "weather__forecast", namesFound(t, x, "weather forecast")[0])
		require.Equal(t, "weather__forecast", namesFound(t, x, "+weather météo")[0])
		require.Empty(t, e.texts(), "queries asked before, sure answers and required words need no vector")
		require.Equal(t, "weather", index.Explain(x, index.Query{Text: "weather"}, "weather__forecast")[0].Text)
	})
}

// Whatever an embedder returns, the results are those of the words.
func TestEmbedding_WorthlessEmbedderChangesNothing(t *testing.T) {
	words, err := index.BM25(context.Background(), describedDesk(t))
	require.NoError(t, err)
	noise := rand.New(rand.NewPCG(1, 2))
	n := 0
	for name, of := range map[string]func(context.Context, string) ([]float64, error){
		"noise": func(context.Context, string) ([]float64, error) {
			return direction(fmt.Sprint(noise.Uint64()), 32), nil
		},
		"NaN":   func(context.Context, string) ([]float64, error) { return []float64{1, math.NaN()}, nil },
		"zero":  func(context.Context, string) ([]float64, error) { return make([]float64, 8), nil },
		"empty": func(context.Context, string) ([]float64, error) { return []float64{}, nil },
		"other dimensions": func(ctx context.Context, text string) ([]float64, error) {
			n++
			return direction(text, 8+n%2), nil
		},
		"too few": func(_ context.Context, text string) ([]float64, error) {
			if strings.Contains(text, "weather") {
				return nil, nil
			}
			return direction(text, 8), nil
		},
		"fails":  func(context.Context, string) ([]float64, error) { return nil, errors.New("out of order") },
		"panics": func(context.Context, string) ([]float64, error) { panic("oops") },
		"hangs": func(ctx context.Context, _ string) ([]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"queries fail": func(ctx context.Context, text string) ([]float64, error) {
			if !strings.Contains(text, "_") && strings.Contains(text, "day for") {
				return nil, errors.New("out of order")
			}
			return meaning(ctx, text)
		},
		"queries of other dimensions": func(ctx context.Context, text string) ([]float64, error) {
			if strings.Contains(text, "day for") {
				return direction(text, 7), nil
			}
			return meaning(ctx, text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := embedded(t, &embedder{of: of}, nil, describedDesk(t))
				for range 2 {
					for _, text := range []string{"a day for a haircut", haircut, "weather", "send", ""} {
						if strings.HasPrefix(name, "queries") && text != "a day for a haircut" {
							continue
						}
						require.Equal(t, namesFound(t, words, text), namesFound(t, x, text), "%q", text)
					}
					synctest.Wait()
				}
				time.Sleep(time.Hour) // what still runs comes to its end
			})
		})
	}
}

func TestEmbedding_SlowEmbedderIsPausedAfterDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		e := &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
			if slow.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return meaning(ctx, text)
		}}
		x := embedded(t, e, nil, describedDesk(t))
		namesFound(t, x, "first")
		synctest.Wait()
		slow.Store(true)
		e.forget()
		for i := range 3 {
			start := time.Now()
			namesFound(t, x, fmt.Sprint("la météo ", i))
			require.Equal(t, time.Second, time.Since(start), "the words' answer comes at the deadline")
		}
		start := time.Now()
		namesFound(t, x, "la météo 4")
		require.Zero(t, time.Since(start), "after three in a row it is not asked")
		require.Len(t, e.texts(), 3*3, "each query with its two controls")
		slow.Store(false)
		time.Sleep(30 * time.Second)
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo 5")[0], "after a while it is asked again")

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := x.Search(ctx, index.Query{Text: "la météo 6"})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// An embedder that ends its goroutine has failed: no search waits for it, and it is called again later.
//
//claim:security-52
func TestEmbedding_RetriesAfterGoexitInEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ends atomic.Bool
		ends.Store(true)
		x := embedded(t, &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
			if ends.Load() {
				runtime.Goexit()
			}
			return meaning(ctx, text)
		}}, nil, describedDesk(t))
		namesFound(t, x, "first")
		synctest.Wait()
		ends.Store(false)
		time.Sleep(time.Minute)
		namesFound(t, x, "second")
		synctest.Wait()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
		ends.Store(true)
		began := time.Now()
		namesFound(t, x, "la météo 2")
		require.Zero(t, time.Since(began))
	})
}

// If the goroutine of a store ends while vectors are read, the vectors are missing only until the next attempt.
func TestEmbedding_RetriesAfterGoexitInStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := &exiting{Memory: backend.NewMemory(0), ends: true}
		x := embedded(t, &embedder{of: meaning}, files, describedDesk(t))
		namesFound(t, x, "first")
		synctest.Wait()
		files.ends = false
		time.Sleep(time.Minute)
		namesFound(t, x, "second")
		synctest.Wait()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
	})
}

// exiting ends the goroutine that writes to it.
type exiting struct {
	*backend.Memory
	ends bool
}

func (e *exiting) Write(ctx context.Context, r *filesystem.WriteRequest) error {
	if e.ends {
		runtime.Goexit()
	}
	return e.Memory.Write(ctx, r)
}

// withOtherDimensions is a store with vectors of other dimensions than those of [meaning]. It must be called in a bubble
// of package synctest.
func withOtherDimensions(t *testing.T, infos []*schema.ToolInfo) *backend.Memory {
	files := backend.NewMemory(0)
	short := &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
		v, err := meaning(ctx, text)
		return v[:32], err
	}}
	namesFound(t, embedded(t, short, files, infos), "weather")
	synctest.Wait()
	return files
}

// Stored vectors of other dimensions are embedded again once. A model whose queries still have other dimensions is
// not used.
func TestEmbedding_ReplacesVectorsOfOtherDimensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		infos := describedDesk(t)
		files := withOtherDimensions(t, infos)

		e := &embedder{of: meaning}
		x := embedded(t, e, files, infos)
		namesFound(t, x, "weather")
		synctest.Wait()
		require.Empty(t, namesFound(t, x, "la météo"), "the words answer")
		require.Empty(t, namesFound(t, x, "la météo"))
		synctest.Wait()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])

		mad := &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
			v, err := meaning(ctx, text)
			return v[:32+len(text)%2], err
		}}
		x = embedded(t, mad, backend.NewMemory(0), infos)
		for range 5 {
			namesFound(t, x, "la météo")
			synctest.Wait()
		}
	})
}

// Two searches at once that meet stored vectors of other dimensions have these embedded again once, as one search does.
func TestEmbedding_ConcurrentSearchesReplaceVectorsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		infos := describedDesk(t)
		files := withOtherDimensions(t, infos)

		delays := map[string]time.Duration{"la météo": time.Millisecond, "un courriel": 100 * time.Millisecond}
		x := embedded(t, &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
			time.Sleep(delays[text])
			return meaning(ctx, text)
		}}, files, infos)
		namesFound(t, x, "weather")
		synctest.Wait()
		var searches sync.WaitGroup
		for query := range delays {
			searches.Go(func() { namesFound(t, x, query) })
		}
		searches.Wait()
		namesFound(t, x, "weather")
		synctest.Wait()
		require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
	})
}

// Each tool is embedded once, whatever searches run meanwhile.
func TestEmbedding_EmbedsEachToolOnce(t *testing.T) {
	for _, texts := range [][]string{{"weather", "la météo", "mail"}, {"la météo", "la météo"}, {"+weather", "", "la météo"}, {"", "weather forecast"}} {
		synctest.Test(t, func(t *testing.T) {
			e, infos := &embedder{of: meaning}, describedDesk(t)
			x := embedded(t, e, backend.NewMemory(0), infos)
			var wg sync.WaitGroup
			for _, text := range texts {
				wg.Go(func() { namesFound(t, x, text) })
			}
			wg.Wait()
			synctest.Wait()
			for _, text := range texts {
				namesFound(t, x, text)
			}
			asked := map[string]int{}
			for _, text := range e.texts() {
				asked[text]++
			}
			docs := 0
			for text, n := range asked {
				if strings.Contains(text, "\n") && !strings.Contains(text, "météo") {
					docs++
					require.Equal(t, 1, n, "%q", text)
				}
			}
			require.Equal(t, len(infos), docs)
		})
	}
}

func TestEmbedding_ReusesStoredVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := backend.NewMemory(0)
		e := &embedder{of: meaning}
		start := func(infos []*schema.ToolInfo) []string {
			e.forget()
			x := embedded(t, e, files, infos)
			namesFound(t, x, "weather")
			synctest.Wait()
			asked := e.texts()
			require.Equal(t, "weather__forecast", namesFound(t, x, "la météo")[0])
			return asked
		}
		infos := describedDesk(t)
		require.Len(t, start(infos), len(infos)*2, "each tool, and each name to see whether the vectors are of use")
		require.Empty(t, start(infos), "the second start embeds nothing")

		changed := *infos[0]
		changed.Desc = "Sends letters."
		asked := start(append([]*schema.ToolInfo{&changed}, infos[1:]...))
		require.Contains(t, asked[0], "Sends letters.")
		require.NotContains(t, strings.Join(asked, "\n"), "Returns the weather", "only what has changed")
		require.Empty(t, start(infos), "the earlier version is still there")

		e.of = func(_ context.Context, text string) ([]float64, error) {
			v, err := meaning(context.Background(), text)
			return append(v, 1), err
		}
		asked = start(append([]*schema.ToolInfo{{Name: "new_one", Desc: "A new one."}}, infos...))
		require.Contains(t, strings.Join(asked, "\n"), "Returns the weather", "vectors of other dimensions are of no use")
	})
}

// The words are searched once, whatever the vectors return.
func TestEmbedding_EqualsWordsWhereTheyAreSure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := embedded(t, &embedder{of: meaning}, nil, describedDesk(t))
		words, err := index.BM25(context.Background(), describedDesk(t))
		require.NoError(t, err)
		namesFound(t, x, "first")
		synctest.Wait()
		for _, q := range []index.Query{{Text: "weather forecast", Limit: 1}, {Text: "create event", Limit: 2}, {Text: "weather forecast"}} {
			want, err := words.Search(context.Background(), q)
			require.NoError(t, err)
			found, err := x.Search(context.Background(), q)
			require.NoError(t, err)
			require.Equal(t, want, found, "%v", q)
		}
	})
}

func TestEmbedding_NeedsModelAndEmbedder(t *testing.T) {
	_, err := semantic.Embedding("", &embedder{}, nil)(context.Background(), nil)
	require.ErrorContains(t, err, "model")
	_, err = semantic.Embedding("m", (*embedder)(nil), nil)(context.Background(), nil)
	require.ErrorContains(t, err, "embedder")
	x := embedded(t, &embedder{of: meaning}, nil, nil)
	require.Empty(t, namesFound(t, x, "anything"))
}

func TestPhrasesKey_AddsWaysToAsk(t *testing.T) {
	opaque := func(phrases any) []tool.BaseTool {
		info := &schema.ToolInfo{Name: "tx_a10", Desc: "Posts an entry."}
		if phrases != nil {
			info.Extra = map[string]any{toolset.PhrasesKey: phrases}
		}
		return append(desk(), adktest.Tool(adktest.Invokable, info, nil))
	}
	first := func(f index.Func, tools []tool.BaseTool) string {
		var infos []*schema.ToolInfo
		for _, d := range tools {
			info, err := d.Info(context.Background())
			require.NoError(t, err)
			infos = append(infos, info)
		}
		x, err := f(context.Background(), infos)
		require.NoError(t, err)
		found, err := x.Search(context.Background(), index.Query{Text: "book the electricity bill", Limit: 1})
		require.NoError(t, err)
		if len(found) == 0 {
			return ""
		}
		return found[0].Name
	}
	require.Empty(t, first(index.BM25, opaque(nil)))
	for _, phrases := range []any{[]string{"write down what we paid", "book a bill"}, []any{"book a bill", 7}} {
		require.Equal(t, "tx_a10", first(index.BM25, opaque(phrases)))
		require.NotEqual(t, "tx_a10", first(index.Keyword, opaque(phrases)), "the specified score reads names and descriptions")
		docs, err := semantic.Documents(context.Background(), opaque(phrases))
		require.NoError(t, err)
		require.Contains(t, docs[len(docs)-1].Content, "book a bill")
	}
	require.Equal(t, "tx_a10", first(index.BM25, opaque("book a bill")), "a text is one way to ask")
}

// Work in the background stops when its index is unreachable, whoever searched first.
func TestEmbedding_StopsWithItsIndex(t *testing.T) {
	var tools []tool.BaseTool
	for i := range 1000 {
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: fmt.Sprint("tool_", i), Desc: "Does it."}, nil))
	}
	for name, search := range map[string]func(*testing.T, index.Func) any{
		"by hand": func(t *testing.T, f index.Func) any {
			x, err := f(context.Background(), infosOf(t, tools))
			require.NoError(t, err)
			namesFound(t, x, "tool")
			return x
		},
		"in a run": func(t *testing.T, f index.Func) any {
			h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: tools, NewIndex: f})
			require.NoError(t, err)
			model := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "a", Name: "tool_search", Args: `{"query":"tool"}`}))
			out := adktest.Agent[*schema.Message]{Model: model, Handlers: adktest.Handlers(h)}.Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
			require.NoError(t, out.Err)
			return h
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stopsWithItsIndex(t, search) })
		})
	}
}

func stopsWithItsIndex(t *testing.T, search func(*testing.T, index.Func) any) {
	free := make(chan struct{})
	e := &embedder{of: func(ctx context.Context, text string) ([]float64, error) {
		<-free
		return meaning(ctx, text)
	}}
	var gone atomic.Bool
	func() {
		holds := search(t, func(ctx context.Context, infos []*schema.ToolInfo) (index.Index, error) {
			x, err := semantic.Embedding("test-1", e, nil)(ctx, infos)
			runtime.SetFinalizer(x, func(any) { gone.Store(true) })
			return x, err
		})
		synctest.Wait()
		runtime.KeepAlive(holds)
	}()
	require.Len(t, e.texts(), 64)
	for range 1000 {
		if runtime.GC(); gone.Load() {
			break
		}
	}
	close(free)
	synctest.Wait()
	require.Equal(t, 64, len(e.texts()), "the first batch was the last")
}

func TestSearch_CanceledReturnsContextError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, f := range map[string]index.Func{
		"keyword": index.Keyword, "bm25": index.BM25, "fuse": index.Fuse(index.Keyword, index.BM25),
		"embedding": semantic.Embedding("test-1", &embedder{of: meaning}, nil), "limit": index.TimeLimit(time.Hour, index.BM25),
	} {
		x, err := f(context.Background(), describedDesk(t))
		require.NoError(t, err)
		for _, text := range []string{"weather", "+weather mail", "天气", "send a mail, and then find files"} {
			_, err = x.Search(ctx, index.Query{Text: text})
			require.ErrorIs(t, err, context.Canceled, "%s: %q", name, text)
		}
	}
}
