// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

const silence = "(no output)"

type quiet struct{}

func (quiet) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "quiet", Desc: "Does something and says nothing."}, nil
}

type quietText struct {
	quiet
	text string
}

func (q quietText) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return q.text, nil
}

type quietStream struct {
	quiet
	chunks []string
}

func (q quietStream) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray(q.chunks), nil
}

type quietParts struct {
	quiet
	result *schema.ToolResult
}

func (q quietParts) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return q.result, nil
}

type quietPartStream struct {
	quiet
	chunks []*schema.ToolResult
}

func (q quietPartStream) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray(q.chunks), nil
}

func parts(texts ...string) *schema.ToolResult {
	r := &schema.ToolResult{}
	for _, text := range texts {
		r.Parts = append(r.Parts, schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: text})
	}
	return r
}

// quietTools return nothing in every form that a tool can have.
func quietTools() map[string]tool.BaseTool {
	return map[string]tool.BaseTool{
		"no text":                    quietText{},
		"white space":                quietText{text: " \n\t"},
		"a stream without a chunk":   quietStream{},
		"empty chunks":               quietStream{chunks: []string{"", "", " "}},
		"no result":                  quietParts{},
		"no parts":                   quietParts{result: parts()},
		"empty texts":                quietParts{result: parts("", " ")},
		"parts, but not a chunk":     quietPartStream{},
		"a chunk that is nil":        quietPartStream{chunks: []*schema.ToolResult{nil}},
		"chunks that are nil":        quietPartStream{chunks: []*schema.ToolResult{nil, nil}},
		"chunks without parts":       quietPartStream{chunks: []*schema.ToolResult{parts(), parts()}},
		"chunks with an empty text":  quietPartStream{chunks: []*schema.ToolResult{parts(""), parts("\n")}},
		"one chunk of an empty text": quietPartStream{chunks: []*schema.ToolResult{parts("")}},
	}
}

// handlersOf are the two middlewares, alone and together, also where they have nothing to do.
func handlersOf[M adk.MessageType](t *testing.T, hidden tool.BaseTool) map[string][]handler[M] {
	search := func() handler[M] { return searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}) }
	hides := func() handler[M] {
		return searchOf[M](t, toolsearch.Config{DynamicTools: append(dynamicTools(), hidden), AllowUnloadedCalls: true})
	}
	reduce := func() handler[M] {
		return reductionOf(t, reduction.TypedConfig[M]{Backend: store.NewMemory(0)})
	}
	off := func() handler[M] {
		return reductionOf(t, reduction.TypedConfig[M]{SkipTruncation: true, SkipClear: true})
	}
	return map[string][]handler[M]{
		"toolsearch":                 {search()},
		"toolsearch that hides it":   {hides()},
		"toolsearch without tools":   {searchOf[M](t, toolsearch.Config{DeferMarkedTools: true})},
		"reduction":                  {reduce()},
		"reduction that is off":      {off()},
		"reduction, recommended":     {reductionOf(t, *reduction.RecommendedTyped[M](store.NewMemory(0)))},
		"both":                       {search(), reduce()},
		"both, the other way around": {reduce(), search()},
	}
}

// An empty result stays as Eino has it, in events and in the conversation; only the model reads that
// it is empty.
//
//claim:migration-10
func TestEmptyResult_OnlyModelReadsThatItIsEmpty(t *testing.T) {
	adktest.Both(t, readsNothing[message], readsNothing[agenticMessage])
}

func readsNothing[M adk.MessageType](t *testing.T, streaming bool) {
	for form, silent := range quietTools() {
		for by, handlers := range handlersOf[M](t, silent) {
			t.Run(form+"/"+by, func(t *testing.T) {
				own := []tool.BaseTool{silent}
				if by == "toolsearch that hides it" {
					own = nil
				}
				turns := []adktest.Turn{call("1", "quiet", nil), call("2", "quiet", nil)}
				out, wires := run(streaming, own, user[M](), turns, handlers...)
				require.NoError(t, out.Err)
				require.Len(t, wires, 3)
				require.Equal(t, silence, resultIn(wires[1].Messages, "1"))
				require.Equal(t, silence, resultIn(wires[2].Messages, "1"))
				require.Equal(t, silence, resultIn(wires[2].Messages, "2"))
				require.NotContains(t, resultIn(out.Messages, "1"), silence)
				require.NotContains(t, resultIn(out.Messages, "2"), silence)
			})
		}
	}
}

// A history may come from anywhere, with results that are empty in any form.
func TestEmptyResult_OfHistoryIsReported(t *testing.T) {
	adktest.Both(t, emptyHistory[message], emptyHistory[agenticMessage])
}

func emptyHistory[M adk.MessageType](t *testing.T, streaming bool) {
	for by, handlers := range handlersOf[M](t, big()) {
		history := []M{
			adktest.User[M]("go"),
			adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "big", Args: "{}"}, adktest.ToolCall{ID: "2", Name: "big", Args: "{}"}),
			adktest.Result[M]("1", "big", ""), adktest.Result[M]("2", "big", "something"), adktest.User[M]("and?"),
		}
		before := dumps(history)
		_, wires := run(streaming, nil, history, nil, handlers...)
		require.Len(t, wires, 1, by)
		require.Equal(t, silence, resultIn(wires[0].Messages, "1"), by)
		require.Equal(t, "something", resultIn(wires[0].Messages, "2"), by)
		require.Equal(t, before, dumps(history), "what was handed in never changes")
	}
}

func dumps[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		out = append(out, adktest.Dump(m))
	}
	return out
}

// A result that goes to the user instead of the model stays as the tool returned it, also in
// a checkpoint.
func TestEmptyResult_StaysEmptyIfReturnedDirectly(t *testing.T) {
	adktest.Both(t, directly[message], directly[agenticMessage])
}

func directly[M adk.MessageType](t *testing.T, streaming bool) {
	for form, silent := range quietTools() {
		for by, handlers := range handlersOf[M](t, big()) {
			var kept []string
			handlers = append(slices.Clone(handlers), &keeps[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}, kept: &kept})
			m := adktest.Script[M](call("0", "quiet", nil), call("1", "quiet", nil))
			agent := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{silent}, Handlers: handlers, Streaming: streaming}
			out := agent.Run(context.Background(), user[M]())
			require.NoError(t, out.Err, form, by)
			require.NotContains(t, kept, silence, "the state of the run")
			agent.Model = adktest.Script[M](call("1", "quiet", nil))
			agent.Configure = func(c *adk.TypedChatModelAgentConfig[M]) {
				c.ToolsConfig.ReturnDirectly = map[string]bool{"quiet": true}
			}
			out = agent.Run(context.Background(), user[M]())
			require.NoError(t, out.Err, form, by)
			require.NotContains(t, out.Answer(), silence, form, by)
		}
	}
}

// keeps notes the results of a conversation as a model call finds them.
type keeps[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	kept *[]string
}

func (k *keeps[M]) BeforeModelRewriteState(ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	for _, m := range s.Messages {
		for _, r := range adktest.Results(m) {
			*k.kept = append(*k.kept, r.Args)
		}
	}
	return ctx, s, nil
}

// A model reads the same text as the conversation holds, however a tool split it into chunks and parts. White space
// may be a chunk of its own.
func TestResultText_ReachesModelHoweverSplit(t *testing.T) {
	adktest.Both(t, reachesModelHoweverSplit[message], reachesModelHoweverSplit[agenticMessage])
}

func reachesModelHoweverSplit[M adk.MessageType](t *testing.T, streaming bool) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for form, newTool := range splitTools {
		for range 6 {
			split := randomSplit(r)
			given := newTool(split)
			for by, handlers := range handlersOf[M](t, given) {
				own := []tool.BaseTool{given}
				if by == "toolsearch that hides it" {
					own = nil
				}
				turns := []adktest.Turn{call("1", "quiet", nil), call("2", "quiet", nil)}
				out, wires := run(streaming, own, user[M](), turns, handlers...)
				require.NoError(t, out.Err, "%s, %s: %q", form, by, split)
				require.Len(t, wires, 3, "%s, %s: %q", form, by, split)
				text := strings.Join(slices.Concat(split...), "")
				for _, id := range []string{"1", "2"} {
					require.Equal(t, text, resultIn(out.Messages, id), "%s, %s: %q in the conversation", form, by, split)
					require.Equal(t, text, resultIn(wires[2].Messages, id), "%s, %s: %q in the request", form, by, split)
				}
			}
		}
	}
}

// splitTools make a tool of each form that returns these chunks, each of one or more texts.
var splitTools = map[string]func(chunks [][]string) tool.BaseTool{
	"invokable": func(chunks [][]string) tool.BaseTool {
		return quietText{text: strings.Join(slices.Concat(chunks...), "")}
	},
	"streamable": func(chunks [][]string) tool.BaseTool {
		return quietStream{chunks: slices.Concat(chunks...)}
	},
	"enhanced": func(chunks [][]string) tool.BaseTool {
		return quietParts{result: parts(slices.Concat(chunks...)...)}
	},
	"enhanced streamable": func(chunks [][]string) tool.BaseTool {
		s := quietPartStream{}
		for _, texts := range chunks {
			s.chunks = append(s.chunks, parts(texts...))
		}
		return s
	},
}

// randomSplit returns a text with something to see, in pieces: most are white space, some are empty.
func randomSplit(r *rand.Rand) (chunks [][]string) {
	pieces := []string{"", "\n", " ", "\t\n", "\u3000", "3", "45", " a ", "b\n"}
	for range 1 + r.IntN(5) {
		var texts []string
		for range 1 + r.IntN(3) {
			texts = append(texts, pieces[r.IntN(len(pieces))])
		}
		chunks = append(chunks, texts)
	}
	at := r.IntN(len(chunks))
	chunks[at] = append(chunks[at], "end")
	r.Shuffle(len(chunks[at]), func(i, j int) { chunks[at][i], chunks[at][j] = chunks[at][j], chunks[at][i] })
	return chunks
}
