// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
	"github.com/einolean/einolean/toolsearch"
)

func both(t *testing.T, plain, agentic func(*testing.T)) {
	t.Run("Message", plain)
	t.Run("AgenticMessage", agentic)
}

// requests are for one tool, for several, and for none.
var requests = []string{
	`What is the SHA-256 of "hello"?`, `How hot is 100 degrees Fahrenheit in Celsius?`, `Write 1994 in Roman numerals.`,
	`Find the median of 3, 9, 4, 1 and 7`, `把 1024 写成中文数字`, `Compute the SHA-256 and the MD5 of "abc"`,
	`Reverse "abc" and take the MD5 of the result.`, `Book a flight to Rome and play some jazz`,
}

// tools are the whole library.
func tools(t *testing.T) []tool.BaseTool {
	t.Helper()
	all, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	return all
}

// asker makes a function that runs an agent over the whole library.
func asker[M adk.MessageType](t *testing.T, protocol toolsearch.Protocol, first ...adk.TypedChatModelAgentMiddleware[M]) func(question string, options ...einoleantest.Option) *einoleantest.Outcome[M] {
	t.Helper()
	cfg := toolsearch.Config{DynamicTools: tools(t), Protocol: protocol}
	search, err := toolsearch.NewTyped[M](t.Context(), &cfg)
	require.NoError(t, err)
	agent := &adk.TypedChatModelAgentConfig[M]{Model: offline.New[M](), Handlers: append(first, search)}
	return func(question string, options ...einoleantest.Option) *einoleantest.Outcome[M] {
		return einoleantest.Run(t, agent, question, options...)
	}
}

func infos(t *testing.T) []*schema.ToolInfo {
	t.Helper()
	var out []*schema.ToolInfo
	for _, tl := range tools(t) {
		info, err := tl.Info(context.Background())
		require.NoError(t, err)
		out = append(out, info)
	}
	return out
}

func generate[M adk.MessageType](t *testing.T, tools []*schema.ToolInfo, history ...M) M {
	t.Helper()
	m, err := offline.New[M]().Generate(context.Background(), history, model.WithTools(tools))
	require.NoError(t, err)
	return m
}

func TestStream_EqualsGenerate(t *testing.T) {
	both(t, streamsTheSame[*schema.Message](schema.ConcatMessages), streamsTheSame[*schema.AgenticMessage](schema.ConcatAgenticMessages))
}

func streamsTheSame[M adk.MessageType](concat func([]M) (M, error)) func(*testing.T) {
	return func(t *testing.T) {
		tools := infos(t)
		for _, request := range requests {
			history := []M{offline.User[M](request)}
			whole := generate(t, tools, history...)
			stream, err := offline.New[M]().Stream(context.Background(), history, model.WithTools(tools))
			require.NoError(t, err)
			var chunks []M
			for {
				chunk, err := stream.Recv()
				if err != nil {
					break
				}
				chunks = append(chunks, chunk)
			}
			require.NotEmpty(t, chunks, request)
			joined, err := concat(chunks)
			require.NoError(t, err)
			require.Equal(t, offline.Read(whole), offline.Read(joined), request)
		}
	}
}

func TestModel_CallsOnlyVisibleTools(t *testing.T) {
	both(t, callsVisible[*schema.Message], callsVisible[*schema.AgenticMessage])
}

func callsVisible[M adk.MessageType](t *testing.T) {
	all := infos(t)
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	calls := 0
	for round := range 60 {
		shown := slices.Clone(all)
		random.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
		shown = shown[:random.IntN(40)]
		request := requests[random.IntN(len(requests))]
		var names []string
		for _, hidden := range all {
			names = append(names, hidden.Name)
		}
		reminder := offline.User[M]("<available-deferred-tools>\n" + strings.Join(names, "\n") + "\n</available-deferred-tools>")
		for _, c := range offline.Read(generate(t, shown, reminder, offline.User[M](request))).Calls {
			calls++
			require.True(t, slices.ContainsFunc(shown, func(i *schema.ToolInfo) bool { return i.Name == c.Name }),
				"seed %d round %d: %q called %s, which it was not shown", seed, round, request, c.Name)
		}
	}
	require.Positive(t, calls)
}

func TestModel_DoesNotChangeInput(t *testing.T) {
	both(t, changesNothing[*schema.Message], changesNothing[*schema.AgenticMessage])
}

func changesNothing[M adk.MessageType](t *testing.T) {
	tools := infos(t)
	out := asker[M](t, toolsearch.Keyword)(`Reverse "abc" and take the MD5 of the result.`)
	history := append([]M{offline.User[M]("hello")}, out.Messages...)
	before := dump(t, history, tools)
	generate(t, tools, history...)
	require.Equal(t, before, dump(t, history, tools))
}

func dump[M adk.MessageType](t *testing.T, history []M, tools []*schema.ToolInfo) string {
	t.Helper()
	b, err := json.Marshal([]any{history, tools})
	require.NoError(t, err)
	return string(b)
}

func TestModel_ReportsMissingTools(t *testing.T) {
	both(t, admits[*schema.Message], admits[*schema.AgenticMessage])
}

func admits[M adk.MessageType](t *testing.T) {
	for request, want := range map[string]string{
		"What is 2 + 2?": "I have no tool for this: What is 2 + 2",
		"北京现在几点？":        "我没有能做这件事的工具：北京现在几点",
		"":               "What can I do for you?",
	} {
		require.Equal(t, want, offline.Read(generate(t, nil, offline.User[M](request))).Text)
	}
}

func TestModel_SecondRequestBuildsOnFirst(t *testing.T) {
	both(t, goesOn[*schema.Message], goesOn[*schema.AgenticMessage])
}

func goesOn[M adk.MessageType](t *testing.T) {
	runs, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: javascript.New(javascript.Limits{})})
	require.NoError(t, err)
	for _, c := range []struct {
		name     string
		protocol toolsearch.Protocol
		first    []adk.TypedChatModelAgentMiddleware[M]
	}{
		{"Keyword", toolsearch.Keyword, nil}, {"Regexp", toolsearch.Regexp, nil}, {"SearchLoad", toolsearch.SearchLoad, nil}, {"SearchCall", toolsearch.SearchCall, nil},
		{"programs", toolsearch.SearchCall, []adk.TypedChatModelAgentMiddleware[M]{runs}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := asker(t, c.protocol, c.first...)
			first := ask(`What is the SHA-1 of "abc"?`, einoleantest.Streaming())
			second := ask(`What about "abd"?`, einoleantest.After(first.Messages...))
			require.Equal(t, "cb4cc28df0fdbe0ecf9d9662e294b118092a5735", second.Answer)
			for _, m := range second.Messages[len(first.Messages):] {
				for _, call := range offline.Read(m).Calls {
					require.NotEqual(t, "tool_search", call.Name, "what was found in the first run need not be searched for again")
				}
			}
		})
	}
}

func TestCost_CountsMessagesAndDefinitions(t *testing.T) {
	tool := &schema.ToolInfo{Name: "tool", Desc: "does it"}
	text, definitions := offline.Cost([]*schema.Message{
		schema.UserMessage("12345678"),
		schema.AssistantMessage("", []schema.ToolCall{{Function: schema.FunctionCall{Name: "tool", Arguments: "1234"}}}),
		schema.ToolMessage("1234", "id"),
	}, []*schema.ToolInfo{tool})
	require.Equal(t, (8+8+4)/4, text)
	require.Equal(t, len(`{"description":"does it","name":"tool","parameters":null}`)/4, definitions)
}

func FuzzModel(f *testing.F) {
	for _, request := range requests {
		f.Add(request)
	}
	f.Add("\x00 \"“ [ { ``` 3,,4 and and then 1e999 --- /[/ of it")
	var tools []*schema.ToolInfo
	for _, name := range []string{"text__reverse", "math__add", "time__now"} {
		tools = append(tools, &schema.ToolInfo{Name: name, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			"text": {Type: schema.String, Required: true}, "numbers": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.Number}},
			"mode": {Type: schema.String, Enum: []string{"fast", "slow"}}, "deep": {Type: schema.Boolean},
		})})
	}
	f.Fuzz(func(t *testing.T, request string) {
		turn := offline.Read(generate(t, tools, schema.UserMessage(request)))
		require.NotEqual(t, turn.Text == "", len(turn.Calls) == 0, "either text or calls")
		for _, c := range turn.Calls {
			require.True(t, json.Valid([]byte(c.Args)), c.Args)
		}
	})
}
