// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package parts

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/message"
)

// random is a part of few different texts, so that equal ones are met.
func random(r *rand.Rand) Part {
	word := func() string { return []string{"", "a", "b", "/tmp/a.txt"}[r.IntN(4)] }
	p := Part{Kind: Kind(r.IntN(int(Tool))), Tool: word(), CallID: word(), Text: word(), Label: word()}
	if r.IntN(4) == 0 {
		p = Part{Kind: Tool, Tool: "t", Info: schema.ToolInfo{Name: "t", Desc: word()}}
	}
	return p
}

// Parts are equal if their hashes are, and what is left of a result keeps its key.
func TestAnalyze_EqualPartsHaveEqualHash(t *testing.T) {
	seed := rand.Uint64()
	r, hash := rand.New(rand.NewPCG(seed, 1)), maphash.MakeSeed()
	equal := 0
	for range 20_000 {
		a, b := random(r), random(r)
		same := a.Equals(&b)
		a.Analyze(hash)
		b.Analyze(hash)
		require.Equal(t, same, a.Hash == b.Hash, "seed %d: %+v %+v", seed, a, b)
		if same {
			equal++
			require.Equal(t, a.Facts, b.Facts, "seed %d", seed)
		}
		if a.Kind == Result && a.CallID != "" {
			cleared := a
			cleared.Text = "[Old tool result content cleared]"
			cleared.Analyze(hash)
			require.Equal(t, a.Key, cleared.Key, "seed %d", seed)
			require.Equal(t, "cleared", cleared.Notice.Rule)
		}
	}
	require.Greater(t, equal, 10)
}

// A path in the arguments of a call has the same hash as in the notice of a result.
func TestAnalyze_CallHasPathHashOfNotice(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, path := range []string{"/tmp/trunc/c1", "/a/b-c_d.json"} {
		notice := Part{Kind: Result, CallID: "c", Text: "<persisted-output>\nOutput too large (12345 bytes). Full output saved to: " + path + ". Preview:\nx\n</persisted-output>"}
		notice.Analyze(seed)
		require.Equal(t, Notice{Rule: "cut", Path: path, PathHash: maphash.String(seed, path), Bytes: 12345}, notice.Notice)
		for _, arguments := range []string{`{"file_path":%q}`, `{"command":"cat %s | head"}`, `{"command":"grep x '%s'"}`} {
			call := Part{Kind: Call, CallID: "d", Text: fmt.Sprintf(arguments, path)}
			call.Analyze(seed)
			require.Contains(t, call.PathHashes, notice.Notice.PathHash, arguments)
		}
	}
}

// A result that was cleared and not stored is recognized in both languages, and Eino's too: a text that only begins like
// it is a result.
func TestAnalyze_RecognizesClearedResults(t *testing.T) {
	for _, text := range []string{
		"[Earlier result removed. It was not saved.]", "[较早的结果已移除，未保存。]",
		"[Old tool result content cleared]", "[工具输出结果已清理]",
	} {
		for suffix, rule := range map[string]string{"": "cleared", " in a log file": ""} {
			p := Part{Kind: Result, CallID: "c", Text: text + suffix}
			p.Analyze(maphash.MakeSeed())
			require.Equal(t, rule, p.Notice.Rule, p.Text)
		}
	}
}

func testAnswer[M adk.MessageType](t *testing.T) {
	text, calls, _ := Answer(maphash.MakeSeed(), message.NewCallMessage[M]([]message.ToolCall{{ID: "1", Name: "one", Args: `{"a":"/b/c"}`}, {ID: "2", Name: "two", Args: "{}"}}))
	require.Empty(t, text)
	require.Len(t, calls, 2)
	require.Equal(t, []string{"one", "two"}, []string{calls[0].Tool, calls[1].Tool})
	require.NotEmpty(t, calls[0].PathHashes)
	var kinds []Kind
	EachPart(message.NewResultMessage[M]("1", "one", message.NewText("x")), new(Part), func(p *Part) {
		kinds = append(kinds, p.Kind)
		require.Equal(t, []string{"1", "x"}, []string{p.CallID, p.Text})
	})
	require.Equal(t, []Kind{Result}, kinds)
}

// Both message types have the same parts.
func TestAnswer_IsReadPartByPart(t *testing.T) {
	testAnswer[*schema.Message](t)
	testAnswer[*schema.AgenticMessage](t)
}
