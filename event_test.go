// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einolean_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

var kinds = []einolean.Kind{
	einolean.KindCatalogChanged, einolean.KindToolsSearched, einolean.KindToolsPrefetched, einolean.KindToolsLoaded,
	einolean.KindToolsUnloaded, einolean.KindToolsDenied, einolean.KindToolsNotHidden, einolean.KindNothingHidden, einolean.KindCallGated, einolean.KindSourceFailed,
	einolean.KindIndexFailed, einolean.KindResultTruncated, einolean.KindResultKept, einolean.KindResultReferred,
	einolean.KindResultRead, einolean.KindResultCleared, einolean.KindClearDone, einolean.KindStoreFailed,
	einolean.KindReadToolNotAdded, einolean.KindOverflow, einolean.KindSessionRestarted, einolean.KindServerUp, einolean.KindServerDown, einolean.KindServerListed,
	einolean.KindToolRefused,
}

// fill sets every field below v to something that is not its zero value, or, for
// pointers and errors, sometimes to nothing.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <&> \u2028 \x1b[2J é", r.IntN(1000)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + r.Int64N(1_000_000))
	case reflect.Float64:
		v.SetFloat(float64(1+r.IntN(1000)) / 8)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{"excluded": 1 + r.IntN(9)}))
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMilli(r.Int64N(1e12)).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(fmt.Errorf("failure %d", r.IntN(1000))))
	}
}

func randomEvent(r *rand.Rand) (e einolean.Event) {
	fill(r, reflect.ValueOf(&e).Elem())
	e.Kind = kinds[r.IntN(len(kinds))]
	return e
}

func TestEvent_RoundTripsThroughJSON(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2_000 {
		before := randomEvent(r)
		data, err := json.Marshal(before)
		require.NoError(t, err)
		var after einolean.Event
		require.NoError(t, json.Unmarshal(data, &after))
		require.EqualError(t, after.Err, before.Err.Error())
		after.Err = before.Err
		require.Equal(t, before, after)
	}
}

func TestEvent_KeysAndKindsAreSnakeCase(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[einolean.Kind]bool{}
	for _, kind := range kinds {
		require.Regexp(t, snake, string(kind))
		require.False(t, seen[kind], kind)
		seen[kind] = true
	}
	var check func(any)
	check = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				require.Regexp(t, snake, key)
				check(inner)
			}
		case []any:
			for _, inner := range v {
				check(inner)
			}
		}
	}
	for range 100 {
		data, err := json.Marshal(randomEvent(r))
		require.NoError(t, err)
		var v any
		require.NoError(t, json.Unmarshal(data, &v))
		check(v)
	}
}

func TestSlog_WritesOnlySetFields(t *testing.T) {
	var out bytes.Buffer
	log := einolean.Slog(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log(context.Background(), einolean.Event{Kind: einolean.KindToolsSearched, CallID: "call_1", Search: &einolean.Search{
		Query: "time tokyo", Index: "bm25", Took: time.Millisecond, Hits: []einolean.Hit{{Name: "time__now", Score: 3}},
	}})
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "tools_searched", line["msg"])
	require.Equal(t, "INFO", line["level"])
	require.Equal(t, map[string]any{
		"call_id": "call_1",
		"search":  map[string]any{"query": "time tokyo", "index": "bm25", "took": 1e6, "hits": []any{"time__now"}},
	}, line["einolean"])
}

func TestEvent_LevelDependsOnOutcome(t *testing.T) {
	for _, c := range []struct {
		what  string
		event einolean.Event
		level slog.Level
	}{
		{"a failing store", einolean.Event{Kind: einolean.KindStoreFailed}, slog.LevelWarn},
		{"a listed server", einolean.Event{Kind: einolean.KindServerListed}, slog.LevelDebug},
		{"a server that fails to list", einolean.Event{Kind: einolean.KindServerListed, Err: context.DeadlineExceeded}, slog.LevelWarn},
		{"a denied call", einolean.Event{Kind: einolean.KindToolsDenied, CallID: "call_1"}, slog.LevelWarn},
		{"a load", einolean.Event{Kind: einolean.KindToolsLoaded}, slog.LevelInfo},
		{"a repeated load", einolean.Event{Kind: einolean.KindToolsLoaded, Repeat: true}, slog.LevelDebug},
		{"a pass that cleared", einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{Cleared: 1}}, slog.LevelInfo},
		{"a pass that cleared nothing", einolean.Event{Kind: einolean.KindClearDone, Pass: &einolean.Pass{}}, slog.LevelDebug},
	} {
		require.Equal(t, c.level, c.event.Level(), c.what)
	}
}

func TestEvent_StringIsOneLineWithoutControlCharacters(t *testing.T) {
	require.Equal(t, "result cleared files__read: 2,967 → 32 tokens, whole in /tmp/clear/call_1", einolean.Event{
		Kind: einolean.KindResultCleared, Tool: "files__read",
		Output: &einolean.OutputChange{Before: einolean.Size{Tokens: 2967}, After: einolean.Size{Tokens: 32}, Path: "/tmp/clear/call_1"},
	}.String())
	require.Equal(t, "tools loaded + a, b, c, d, e and 2 more (1,234 tokens)", einolean.Event{
		Kind: einolean.KindToolsLoaded, Tools: &einolean.ToolChange{Added: []string{"a", "b", "c", "d", "e", "f"}, AddedCount: 7, Tokens: 1234},
	}.String())
	r := rand.New(rand.NewPCG(2, 2))
	for range 500 {
		line := randomEvent(r).String()
		require.NotContains(t, line, "\x1b")
		require.NotContains(t, line, "\n")
		require.NotContains(t, line, "\u2028")
	}
	require.NotContains(t, einolean.Event{Tool: "a\u202eb\nc"}.String(), "\u202e")
}

func TestJSONL_ConcurrentLinesDoNotMix(t *testing.T) {
	var out bytes.Buffer
	write := einolean.JSONL(&out)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				write(context.Background(), einolean.Event{Kind: einolean.KindResultTruncated, Tool: strings.Repeat("x", 300)})
			}
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 400)
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)))
	}
}

type unreadable struct{}

func (unreadable) Error() string { panic("no text") }

func TestTee_PanicDoesNotAffectOtherReceivers(t *testing.T) {
	var got []string
	to := func(name string) func(context.Context, einolean.Event) {
		return func(context.Context, einolean.Event) { got = append(got, name) }
	}
	einolean.Tee(to("first"), nil, func(context.Context, einolean.Event) { panic("broken") }, to("last"))(context.Background(), einolean.Event{})
	require.Equal(t, []string{"first", "last"}, got)

	var out bytes.Buffer
	broken := einolean.Event{Kind: einolean.KindStoreFailed, Err: unreadable{}}
	einolean.JSONL(&out)(context.Background(), broken)
	require.Contains(t, out.String(), "Error method panics")
	require.Contains(t, broken.String(), "Error method panics")
}

func TestFieldError_NamesPackageAndField(t *testing.T) {
	cause := errors.New("is -1, and must not be negative")
	err := errors.Join(
		&einolean.FieldError{Package: "toolsearch", Field: "MaxResults", Err: cause},
		&einolean.FieldError{Package: "toolsearch", Err: errors.New("the configuration is nil")},
	)
	require.EqualError(t, err, "toolsearch: MaxResults: is -1, and must not be negative\ntoolsearch: the configuration is nil")
	require.ErrorIs(t, err, cause)
	var field *einolean.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "MaxResults", field.Field)
}

func TestJSONL_WritesNonFiniteNumbers(t *testing.T) {
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1}
	for _, score := range strange {
		for _, confidence := range strange {
			for _, term := range strange {
				e := einolean.Event{Kind: einolean.KindToolsSearched, Time: time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC), Search: &einolean.Search{Query: "miles",
					Hits: []einolean.Hit{{Name: "a", Score: 2}, {Name: "b", Score: score, Confidence: confidence, Terms: []einolean.Term{{Text: "miles", Score: term}}}}}}
				var file bytes.Buffer
				einolean.JSONL(&file)(context.Background(), e)
				var got einolean.Event
				require.NoError(t, json.Unmarshal(file.Bytes(), &got), "%v", e.Search.Hits)
				require.Equal(t, "miles", got.Search.Query)
				require.Zero(t, got.Time)
				require.Equal(t, einolean.Hit{Name: "a", Score: 2}, got.Search.Hits[0])
				hit := got.Search.Hits[1]
				for was, is := range map[*float64]float64{&score: hit.Score, &confidence: hit.Confidence, &term: hit.Terms[0].Score} {
					switch {
					case math.IsNaN(*was):
						require.Zero(t, is)
					case math.IsInf(*was, 0):
						require.Equal(t, math.Copysign(math.MaxFloat64, *was), is)
					default:
						require.Equal(t, *was, is)
					}
				}
				require.True(t, math.IsNaN(score) == math.IsNaN(e.Search.Hits[1].Score), "the event is not changed")
			}
		}
	}
}
