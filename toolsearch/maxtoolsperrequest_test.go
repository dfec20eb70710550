// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field MaxToolsPerRequest.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
)

// However much the model loads, no request has more tools than the provider takes; what was
// used last is there, and what was left out can be loaded again.
func TestMaxToolsPerRequest_NoRequestExceedsLimit(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(race.Cases(20)) {
		testMaxToolsPerRequestNoRequestExceedsLimit[*schema.Message](t, rand.New(rand.NewPCG(seed, n)))
		testMaxToolsPerRequestNoRequestExceedsLimit[*schema.AgenticMessage](t, rand.New(rand.NewPCG(seed, n)))
	}
}

func testMaxToolsPerRequestNoRequestExceedsLimit[M adk.MessageType](t *testing.T, r *rand.Rand) {
	var tools []tool.BaseTool
	for i := range 100 {
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: fmt.Sprintf("t%02d", i), Desc: "does it"}, nil))
	}
	most := 4 + r.IntN(10)
	mw, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{DynamicTools: tools, MaxToolsPerRequest: most})
	require.NoError(t, err)
	var turns []adktest.Turn
	var last []string
	for i := range 15 {
		query, first := "select:", r.IntN(80)
		some := 1 + r.IntN(most*2)
		for k := range some {
			query += fmt.Sprintf("t%02d,", (first+k)%100)
		}
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("s", i), Name: "tool_search", Args: fmt.Sprintf(`{"query":%q}`, query)}))
		called := fmt.Sprintf("t%02d", (first+r.IntN(some))%100)
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", i), Name: called, Args: "{}"}))
		last = append(last, called)
	}
	script := adktest.Script[M](append(turns, adktest.Say("done"))...)
	out := adktest.Agent[M]{Model: script, Handlers: []adk.TypedChatModelAgentMiddleware[M]{mw}, Max: 50}.Run(t.Context(), []M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	for i, w := range script.Wires() {
		require.LessOrEqual(t, len(w.ToolNames), most)
		if i > 0 && i%2 == 0 {
			require.Contains(t, w.ToolNames, last[i/2-1], "what was called last stays")
		}
	}
}

func TestMaxToolsPerRequest_DefaultFollowsModel(t *testing.T) {
	var tools []tool.BaseTool
	queries := make([]string, 3)
	for i := range 300 {
		name := fmt.Sprintf("t%03d", i)
		tools = append(tools, adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "does it"}, nil))
		queries[i/100] += name + ","
	}
	var calls []adktest.ToolCall
	for i, names := range queries { // a search loads at most 100
		calls = append(calls, adktest.ToolCall{ID: fmt.Sprint(i), Name: "tool_search", Args: fmt.Sprintf(`{"query":"select:%s"}`, names)})
	}
	search := adktest.Do(calls...)
	script := adktest.Script[*schema.Message](search, adktest.Say("done"))
	mw, err := toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: tools, Model: gpt{script}})
	require.NoError(t, err)
	out := adktest.Agent[*schema.Message]{Model: script, Handlers: []adk.ChatModelAgentMiddleware{mw}}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	require.Len(t, script.Wires()[1].ToolNames, 128)

	_, err = toolsearch.New(t.Context(), &toolsearch.Config{DynamicTools: tools, MaxToolsPerRequest: -1})
	require.ErrorContains(t, err, "MaxToolsPerRequest")
}

type gpt struct {
	*adktest.Model[*schema.Message]
}

func (gpt) GetType() string { return "OpenAI" }
