// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// chances makes what a decider may be asked about.
type chances struct {
	*rand.Rand
	Decider
	memory *backend.Memory
	stores []*offload.Store // one that can do everything, one that can only write, and none

	answers map[string]Answer // of a user's handler, by the id of the call
	failed  int               // reported failures
}

func newChances(seed uint64) *chances {
	files := &offload.Offloader{Showable: notice.Showable}
	c := &chances{Rand: rand.New(rand.NewPCG(seed, 1)), memory: backend.NewMemory(0), answers: map[string]Answer{}}
	c.stores = []*offload.Store{files.Open(c.memory), files.Open(backendtest.NewFaulty(backend.NewMemory(0), nil).WriteOnly()), nil}
	c.Decider = *Decider{
		Root: "/tmp", MinSavingBytes: 1, MaxArgumentBytes: 500, IsResult: readtool.AllowBelow("/tmp/clear", "/tmp/trunc"),
	}.ForRun("read_file", c)
	return c
}

func (c *chances) OffloadPath(_ context.Context, _ *Candidate, defaultPath string) (string, error) {
	return defaultPath, nil
}

func (c *chances) HandleResult(_ context.Context, r *Candidate) (Answer, error) {
	return c.answers[r.Call.ID], nil
}

func (c *chances) ReportFailure(context.Context, *Candidate, error) { c.failed++ }

// text is one of a result, perhaps a notice already: true, or made up by a tool.
func (c *chances) text(id string) string {
	text := strings.Repeat(fmt.Sprintf("line %d of what a tool says\n", c.IntN(100)), c.IntN(200))
	switch c.IntN(6) {
	case 0:
		return "ok"
	case 1:
		file := offload.DefaultPath("/tmp", offload.TruncDir, id)
		if c.IntN(2) == 0 {
			_ = c.memory.Write(context.Background(), &filesystem.WriteRequest{FilePath: file, Content: text})
		}
		return c.Decider.renderer.notices.RenderExcerpt(text, notice.Data{Path: file}, 1500)
	case 2:
		return c.Decider.renderer.notices.Fill(c.Decider.renderer.notices.Cleared, notice.Data{Path: "/tmp/clear/" + id, Bytes: 10})
	}
	return text
}

// result is one of any tool, with any policy.
func (c *chances) result() *Candidate {
	id := fmt.Sprintf("call_%d", c.Int())
	call := rounds.Call{ID: id, Name: "shell", Args: fmt.Sprintf(`{"of": %d, "script": %q}`, c.IntN(9), strings.Repeat("echo ", c.IntN(500)))}
	pair := rounds.Pair{Call: call, HasResult: true, MessageIndex: 1, Result: rounds.Result{ID: id}}
	for range 1 + c.IntN(2) {
		pair.Result.Texts = append(pair.Result.Texts, c.text(id))
	}
	policy := toolpolicy.ToolPolicy{Store: c.stores[c.IntN(len(c.stores))], HasHandler: c.handles(id)}
	if policy.Store != nil && c.IntN(4) == 0 {
		policy.IsReadTool, pair.Call.Args = true, fmt.Sprintf(`{"file_path": "/tmp/clear/%s"}`, id)
		_ = c.memory.Write(context.Background(), &filesystem.WriteRequest{FilePath: "/tmp/clear/" + id, Content: "a file of which this may be a page"})
	}
	r := NewCandidate(rounds.Round{Pairs: []rounds.Pair{pair}}, &pair, policy)
	r.Tokens = TextTokens(pair.Result.Texts)
	c.Complete(&r)
	return &r
}

// handles makes up what a user's handler says of a call, if there is one.
func (c *chances) handles(id string) bool {
	answer := Answer{Replaces: c.IntN(4) > 0}
	switch c.IntN(12) {
	case 0:
		answer = Answer{ByDefault: true}
	case 1:
		answer.Parts = []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: "replaced"}}
	case 2:
		answer.Args = new(string)
	case 3:
		answer.Stores, answer.Path, answer.Content = true, "/tmp/mine", "kept"
	default:
		return false
	}
	c.answers[id] = answer
	return true
}

// describe is everything that is known of a result, as text.
func describe(r *Candidate) string {
	return fmt.Sprintf("%+v %+v %d %+v %d %d %+v", r.Call, r.Result, r.MessageIndex, r.Notice, r.Size, r.Tokens, r.argumentRefs)
}

// Nothing is known but the result, its policy and a store: no message, no agent.
func TestDecider_DecidesByCandidateAlone(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, ctx, seen := newChances(seed), context.Background(), map[string]int{}
	for range 1500 {
		c.MinSavingBytes = 1 + c.IntN(2)*c.IntN(300)
		r := c.result()
		before := describe(r)
		e, why, err := c.Decide(ctx, r)
		require.Equal(t, before, describe(r), "deciding changes nothing that is known")
		if err != nil {
			require.ErrorIs(t, err, toolpolicy.ErrNoStore)
			seen["error"]++
			continue
		}
		again, reason, err := c.Decide(ctx, r)
		require.NoError(t, err)
		require.Equal(t, why, reason)
		require.Equal(t, fmt.Sprintf("%+v %+v", e.replacement, e.Plan.file), fmt.Sprintf("%+v %+v", again.replacement, again.Plan.file), "and it is the same again")
		require.True(t, why != "" || e.Replaces() && e.replacement.Mark == (e.Plan.answer != nil), "%+v", e)
		switch {
		case why != "":
			seen[string(why)]++
		case e.Plan.answer != nil:
			seen["replaced by the handler"]++
		case e.replacement.KeepContent:
			seen["arguments"]++
			require.Nil(t, e.Plan.file.item.Store, "what stays is not stored")
		default:
			seen[saysWhere(t, c, e)]++
		}
		if why == "" && len(e.Plan.argumentRefs) > 0 {
			require.True(t, json.Valid([]byte(*e.newArgs)), "%s", *e.newArgs)
			require.Less(t, len(*e.newArgs), len(e.Plan.Candidate.Call.Args))
		}
	}
	for _, way := range []string{"error", string(toolpolicy.NotSmaller), string(toolpolicy.Handler), "replaced by the handler", "arguments", "stored", "a page", "stored before", "nowhere"} {
		require.Positive(t, seen[way], "%s: %v", way, seen)
	}
}

// saysWhere checks that a notice in place of a result saves enough and names the file of the content, also
// if the store puts that elsewhere.
func saysWhere(t *testing.T, c *chances, e Change) (where string) {
	require.GreaterOrEqual(t, e.Plan.Candidate.Size-len(e.replacement.Text), c.MinSavingBytes)
	require.Equal(t, e.Plan.file.path, notice.FromTexts([]string{e.replacement.Text}).Path)
	switch {
	case e.Plan.file.item.Store != nil:
		require.Equal(t, strings.Join(e.Plan.Candidate.Result.Texts, ""), e.Plan.file.item.Content)
		if is := e.Plan; !is.file.pathCertain {
			is.file.path += offload.Padding
			elsewhere, _ := c.render(is)
			require.GreaterOrEqual(t, e.Plan.Candidate.Size-len(elsewhere.replacement.Text), c.MinSavingBytes)
			require.Equal(t, is.file.path, notice.FromTexts([]string{elsewhere.replacement.Text}).Path)
		}
		return "stored"
	case e.Plan.file.isPage:
		require.Equal(t, readtool.Path(e.Plan.Candidate.Call.Args), e.Plan.file.path)
		return "a page"
	case e.Plan.file.path != "":
		require.Equal(t, e.Plan.Candidate.Notice.Path, e.Plan.file.path)
		return "stored before"
	}
	require.Nil(t, e.Plan.Candidate.Policy.Store)
	return "nowhere"
}

func TestDecider_ExcerptKeepsToTokensOrMinimum(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, ctx, shorter := newChances(seed), context.Background(), 0
	for range 800 {
		r := c.result()
		if r.Policy.Store == nil || r.Notice.IsPlaceholder() {
			continue
		}
		file, err := c.locate(ctx, r, false)
		require.NoError(t, err)
		most := 1 + c.IntN(2*r.Tokens+1)
		e, ok := c.render(Plan{Candidate: r, file: file, maxTokens: most})
		require.Equal(t, ok, !e.replacement.KeepContent)
		if !ok {
			require.Equal(t, r.Tokens, e.resultTokens())
			continue
		}
		shorter++
		require.Less(t, e.bytesAfter, r.Size)
		require.Equal(t, file.path, notice.FromTexts([]string{e.replacement.Text}).Path)
		if !file.isPage {
			require.True(t, e.resultTokens() <= most || e.bytesAfter <= minExcerptBytes, "%d tokens of %d, %d bytes", e.resultTokens(), most, e.bytesAfter)
		}
	}
	require.Greater(t, shorter, 200)
}

func TestLevelSize_IsGreatestWithinBudget(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 1500 {
		sizes, sum := make([]int, r.IntN(10)), 0
		for i := range sizes {
			sizes[i] = r.IntN(1000)
			sum += sizes[i]
		}
		cut := func(most int) (n int) {
			for _, size := range sizes {
				n += min(size, most)
			}
			return n
		}
		budget := r.IntN(sum + 2)
		if most := levelSize(sizes, budget); sum <= budget {
			require.Equal(t, sum, cut(most), "%v %d", sizes, budget)
		} else {
			require.LessOrEqual(t, cut(most), budget, "%v %d", sizes, budget)
			require.Greater(t, cut(most+1), budget, "%v %d", sizes, budget)
		}
	}
}
