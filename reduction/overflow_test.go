// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field Overflow: requests that a provider refuses as too long.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func TestOverflow_KnowsErrorsOfProviders(t *testing.T) {
	for _, r := range refusals {
		tokens, ok := reduction.ParseOverflow(fmt.Errorf("asking the model: %w", errors.New(r.text)))
		require.True(t, ok, r.source)
		require.Equal(t, r.tokens, tokens, r.source)
	}
	for _, text := range others {
		_, ok := reduction.ParseOverflow(errors.New(text))
		require.False(t, ok, text)
	}
	_, ok := reduction.ParseOverflow(nil)
	require.False(t, ok)
}

// refusals are errors of requests that are too long, with the tokens that they name.
var refusals = []struct {
	source, text string
	tokens       int64
}{
	{"OpenAI", "error, status code: 400, status: 400 Bad Request, message: This model's maximum context length is 128000 tokens. However, your messages resulted in 135112 tokens. Please reduce the length of the messages.", 128000},
	{"OpenAI, by code", `{"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 0},
	{"OpenAI, Responses", "Your input exceeds the context window of this model. Please adjust your input and try again.", 0},
	{"Azure", "This model's maximum context length is 16385 tokens, however you requested 20000 tokens (15000 in your prompt; 5000 for the completion). Please reduce your prompt; or completion length.", 16385},
	{"Anthropic", `POST "https://api.anthropic.com/v1/messages": 400 Bad Request {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, 200000},
	{"Anthropic, with max_tokens", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again", 200000},
	{"Gemini", "Error 400, Message: The input token count (1200042) exceeds the maximum number of tokens allowed (1048576)., Status: INVALID_ARGUMENT", 1048576},
	{"Gemini, shorter", "The input token count exceeds the maximum number of tokens allowed 1048576.", 0},
	{"Ark", "Error code: 400 - {'code': 'InvalidParameter', 'message': 'Total tokens of image and text exceed max message tokens. Request id: 021'}", 0},
	{"Doubao", "InvalidParameter: Input length 140000 exceeds the maximum length 131072. Request id: 02", 131072},
	{"DeepSeek", "This model's maximum context length is 65536 tokens. However, you requested 70107 tokens (66011 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.", 65536},
	{"Qwen", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129024},
	{"Bailian", `{"code":"InvalidParameter","message":"Range of input length should be [1, 30720]"}`, 30720},
	{"Kimi", "Invalid request: Your request exceeded model token limit: 131072", 131072},
	{"GLM", `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, 0},
	{"GLM, in Chinese", `{"error":{"code":"1261","message":"Prompt 超长"}}`, 0},
	{"SiliconFlow", `{"code":20015,"message":"length of prompt_tokens (40123) must be less than max_seq_len (32768).","data":null}`, 32768},
	{"vLLM", "This model's maximum context length is 4096 tokens. However, your request has 5210 input tokens. Please reduce the length of the input messages.", 4096},
	{"vLLM, older", "The decoder prompt (length 5210) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller", 4096},
	{"Ollama", "the input length exceeds the context length", 0},
	{"Ollama, cloud", "prompt too long; exceeded max context length by 1027 tokens", 0},
	{"llama.cpp", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, 0},
	{"llama.cpp, newer", `request (5210 tokens) exceeds the available context size (4096 tokens), try increasing it`, 4096},
	{"LiteLLM", "litellm.BadRequestError: litellm.ContextWindowExceededError: the model says no", 0},
	{"LiteLLM around Anthropic", "litellm.ContextWindowExceededError: AnthropicException - prompt is too long: 208,310 tokens > 200,000 maximum", 200000},
	{"OpenRouter", "This endpoint's maximum context length is 131072 tokens. However, you requested about 140217 tokens (139000 of text input, 1217 of tool input). Please reduce the length of either one, or use the \"middle-out\" transform", 131072},
	{"a gateway", "Input is too long for requested model.", 0},
}

// others are errors that speak of tokens or of length, and do not go away with a shorter request.
var others = []string{
	"Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 28000, Requested 5000. Please try again in 6s.",
	"error, status code: 429, status: 429 Too Many Requests, message: Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.",
	"This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 1, model: claude). ",
	"Number of request tokens has exceeded your per-minute rate limit",
	"You exceeded your current quota, please check your plan and billing details. * Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000",
	"Error code: 429 - {'code': 'ModelAccountTpmRateLimitExceeded', 'message': 'The Tokens Per Minute (TPM) limit of the associated model for your account has been exceeded.'}",
	"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 20 seconds.",
	"Throttling.AllocationQuota: Allocated quota exceeded, please increase your quota limit.",
	"Requests rate limit exceeded, please try again later.",
	"Your account org reached max TPM: 32000, current: 33000", "您的账户已达到速率限制，请您控制请求频率", "限流：每分钟输入 token 超过上限",
	"TPM limit reached. Request was rejected due to rate limiting. Details: tokens per minute", "litellm.RateLimitError: RateLimitError: the prompt is too long for the tokens per minute of this key",
	"Rate limit exceeded: free-models-per-day", "the engine is currently overloaded, please try again later", "max_tokens is too large: 40000. This model supports at most 16384 completion tokens, whereas you provided 40000.",
	"max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens", "tools.0.custom.name: String should have at most 128 characters", "context deadline exceeded", "context canceled",
	"Too many tokens per day, please wait before trying again.", "the request timed out: it took too long", "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
}

// A request that is refused as too long is shortened and asked again, and what was learned counts for
// the rest of the run.
//
//claim:migration-12
func TestOverflow_TooLongRequestDoesNotEndRun(t *testing.T) {
	adktest.Both(t, testOverflowTooLongRequestDoesNotEndRun[*schema.Message], testOverflowTooLongRequestDoesNotEndRun[*schema.AgenticMessage])
}

func testOverflowTooLongRequestDoesNotEndRun[M adk.MessageType](t *testing.T, streaming bool) {
	for _, names := range []bool{true, false} {
		for _, inside := range []bool{false, true} {
			r := newNarrow[M](12, 20_000, names, inside)
			out := r.play(t, streaming)
			require.NoError(t, out.Err)
			require.Equal(t, "the answer", out.Answer())
			require.Len(t, r.Wires(), 13, "no call of the model is lost")
			require.NotEmpty(t, r.events)
			require.Len(t, r.events, len(r.Refused()), "each refusal is followed by a request that is not refused")
			require.LessOrEqual(t, len(r.Refused()), 3, "what was learned counts")
			for _, e := range r.events {
				require.Equal(t, slog.LevelWarn, e.Level())
				require.Less(t, e.Pass.After, e.Pass.Before)
				require.Less(t, e.Pass.Target, e.Pass.Before)
				require.Equal(t, names, e.Pass.Threshold == 5000)
				require.Error(t, e.Err)
			}
			for _, w := range r.Wires() {
				require.Equal(t, "look at everything", adktest.Text(w.Messages[0]), "the user's words stay")
			}
			// Without it, the run ends.
			r = newNarrow[M](12, 20_000, names, inside)
			r.cfg.Overflow = nil
			require.Error(t, r.play(t, streaming).Err)
			r = newNarrow[M](12, 20_000, names, inside)
			r.cfg.SkipClear = true
			require.Error(t, r.play(t, streaming).Err)
			require.Empty(t, r.events)
		}
	}
}

// narrow is a model of a window in bytes of text, which it does or does not name.
func narrow[M adk.MessageType](window int, names bool, turns ...adktest.Turn) *adktest.Narrow[M] {
	return &adktest.Narrow[M]{Model: adktest.Script[M](turns...), Refuse: func(input []M) error {
		switch size := adktest.Bytes(input); {
		case size <= window:
			return nil
		case names:
			return fmt.Errorf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens", window/4, size/4)
		}
		return errors.New("Your input exceeds the context window of this model.")
	}}
}

// narrowRun is a conversation of a model with a narrow window that calls a tool with long results.
type narrowRun[M adk.MessageType] struct {
	*adktest.Narrow[M]
	cfg       *reduction.TypedConfig[M]
	calls     int
	result    func(n int) string
	configure func(*adk.TypedChatModelAgentConfig[M])
	events    []einolean.Event
}

func (r *narrowRun[M]) play(t *testing.T, streaming bool) adktest.Outcome[M] {
	shell := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shell", Desc: "runs"}, func(_ context.Context, args string) (string, error) {
		var call struct{ N int }
		if err := json.Unmarshal([]byte(args), &call); err != nil {
			return "", err
		}
		return args + r.result(call.N), nil
	})
	return adktest.Agent[M]{Model: r.Model, Tools: []tool.BaseTool{shell}, Streaming: streaming, Max: r.calls + 2, Handlers: adktest.Handlers(typed(t, r.cfg)),
		Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.Model = r.Narrow
			if r.configure != nil {
				r.configure(c)
			}
		}}.Run(context.Background(), []M{adktest.User[M]("look at everything")})
}

func newNarrow[M adk.MessageType](calls, window int, names, inside bool) *narrowRun[M] {
	r := &narrowRun[M]{calls: calls, result: func(int) string { return strings.Repeat("a line of a long result, 0 1 2 3\n", 120) }}
	var turns []adktest.Turn
	for i := range calls {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "shell", Args: fmt.Sprintf(`{"n":%d}`, i)}))
	}
	r.Narrow = narrow[M](window, names, append(turns, adktest.Say("the answer"))...)
	r.Inside = inside
	r.cfg = reduction.RecommendedTyped[M](store.NewMemory(0))
	r.cfg.DedupeResults = false
	r.cfg.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindOverflow {
			r.events = append(r.events, e)
		}
	}
	return r
}

// What is shortened because of a refusal is that request. The next ones keep to the window that was
// learned, and show what they show without a refusal: the newest result is whole.
func TestOverflow_ResultsAfterRefusalAreWhole(t *testing.T) {
	adktest.Both(t, testOverflowResultsAfterRefusalAreWhole[*schema.Message], testOverflowResultsAfterRefusalAreWhole[*schema.AgenticMessage])
}

func testOverflowResultsAfterRefusalAreWhole[M adk.MessageType](t *testing.T, streaming bool) {
	for _, names := range []bool{true, false} {
		r := newNarrow[M](24, 20_000, names, streaming)
		r.result = func(int) string { return strings.Repeat("a line of some result, 0 1 2\n", 60) } // less than a round's share
		refusedAt := map[int]bool{}
		r.cfg.OnEvent = func(_ context.Context, e einolean.Event) {
			if e.Kind == einolean.KindOverflow {
				refusedAt[len(r.Wires())] = true
			}
		}
		require.NoError(t, r.play(t, streaming).Err)
		require.NotEmpty(t, refusedAt)
		for n, w := range r.Wires()[1:] {
			whole := fmt.Sprintf(`{"n":%d}`, n)+r.result(n) == adktest.Text(w.Messages[len(w.Messages)-1])
			require.True(t, whole || refusedAt[n+1], "the result of call %d, names %v", n, names)
		}
	}
}

// Each model call of a run may be refused once: what was learned from text is too much for other text.
func TestOverflow_EachModelCallMayBeRefused(t *testing.T) {
	adktest.Both(t, testOverflowEachModelCallMayBeRefused[*schema.Message], testOverflowEachModelCallMayBeRefused[*schema.AgenticMessage])
}

func testOverflowEachModelCallMayBeRefused[M adk.MessageType](t *testing.T, streaming bool) {
	for _, names := range []bool{true, false} {
		r := newNarrow[M](24, 20_000, names, streaming)
		r.result = func(n int) string {
			if n < 10 {
				return strings.Repeat("0 1 2 3 4 5 6 7 8 9 ", 200) // a token for a byte or two
			}
			return strings.Repeat("international considerations ", 200) // one for a dozen
		}
		out := r.play(t, streaming)
		require.NoError(t, out.Err)
		require.Equal(t, "the answer", out.Answer())
		require.Greater(t, len(r.Refused()), 1)
		require.Len(t, r.events, len(r.Refused()), "none is refused twice")
	}
}

// If what remains is too long, the provider's own error ends the run, after one more request.
func TestOverflow_ReturnsProviderErrorIfNothingFits(t *testing.T) {
	adktest.Both(t, testOverflowReturnsProviderErrorIfNothingFits[*schema.Message], testOverflowReturnsProviderErrorIfNothingFits[*schema.AgenticMessage])
}

func testOverflowReturnsProviderErrorIfNothingFits[M adk.MessageType](t *testing.T, streaming bool) {
	r := newNarrow[M](3, 10, true, false)
	out := r.play(t, streaming)
	require.ErrorContains(t, out.Err, "maximum context length is 2 tokens")
	require.Len(t, r.Refused(), 1, "nothing could be shortened")
	require.Empty(t, r.events)

	r = newNarrow[M](3, 900, true, false)
	out = r.play(t, streaming)
	require.ErrorContains(t, out.Err, "your messages resulted in")
	require.Len(t, r.Refused(), 2, "asked again once")

	r = newNarrow[M](12, 20_000, true, false)
	r.cfg.Overflow = func(error) (int64, bool) { panic("wrong") }
	require.ErrorContains(t, r.play(t, streaming).Err, "maximum context length", "a panic is no overflow")

	r = newNarrow[M](12, 20_000, true, false)
	r.cfg.Overflow = func(error) (int64, bool) { runtime.Goexit(); return 0, true }
	require.ErrorContains(t, r.play(t, streaming).Err, "maximum context length", "nor is the end of its goroutine")
}

// Eino's retries and its failover see one call: what was refused and asked again is no failure of
// theirs, and none of their attempts is shortened and asked again twice.
func TestOverflow_RetriesDoNotCountTwice(t *testing.T) {
	adktest.Both(t, testOverflowRetriesDoNotCountTwice[*schema.Message], testOverflowRetriesDoNotCountTwice[*schema.AgenticMessage])
}

func testOverflowRetriesDoNotCountTwice[M adk.MessageType](t *testing.T, streaming bool) {
	retried := 0
	retry := &adk.TypedModelRetryConfig[M]{MaxRetries: 2, IsRetryAble: func(context.Context, error) bool { retried++; return true }}
	r := newNarrow[M](12, 20_000, true, false)
	r.configure = func(c *adk.TypedChatModelAgentConfig[M]) { c.ModelRetryConfig = retry }
	require.NoError(t, r.play(t, streaming).Err)
	require.Zero(t, retried)
	require.Len(t, r.events, len(r.Refused()))

	r = newNarrow[M](3, 900, true, false)
	r.configure = func(c *adk.TypedChatModelAgentConfig[M]) { c.ModelRetryConfig = retry }
	require.Error(t, r.play(t, streaming).Err)
	require.Len(t, r.events, 1, "one shortening for a model call")
	require.Len(t, r.Refused(), 2+2, "the two retries of Eino's ask once each")

	// A model that takes over gets the request in short.
	r = newNarrow[M](3, 900, true, false)
	spare := narrow[M](3000, false, adktest.Say("from the spare"))
	r.configure = func(c *adk.TypedChatModelAgentConfig[M]) {
		c.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{MaxRetries: 1, ShouldFailover: func(context.Context, M, error) bool { return true },
			GetFailoverModel: func(context.Context, *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
				return spare, nil, nil
			}}
	}
	out := r.play(t, streaming)
	require.NoError(t, out.Err)
	require.Equal(t, "from the spare", out.Answer())
	require.Len(t, r.events, 1)
	require.Empty(t, spare.Refused())
}

// A window far below the refused request is a number that means something else. The run does not keep to it.
func TestOverflow_WindowBelowFiftiethIsUnknown(t *testing.T) {
	adktest.Both(t, testOverflowWindowBelowFiftiethIsUnknown[*schema.Message], testOverflowWindowBelowFiftiethIsUnknown[*schema.AgenticMessage])
}

func testOverflowWindowBelowFiftiethIsUnknown[M adk.MessageType](t *testing.T, streaming bool) {
	r := newNarrow[M](24, 20_000, false, streaming)
	r.result = func(int) string { return strings.Repeat("a line of some result, 0 1 2\n", 60) }
	refuse := r.Refuse
	r.Refuse = func(input []M) error {
		if refuse(input) != nil {
			return errors.New("input tokens exceed the maximum of 16 tokens")
		}
		return nil
	}
	refusedAt := map[int]bool{}
	r.cfg.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindOverflow {
			refusedAt[len(r.Wires())] = true
			require.Zero(t, e.Pass.Threshold, "the number is no window")
		}
	}
	require.NoError(t, r.play(t, streaming).Err)
	require.NotEmpty(t, refusedAt)
	for n, w := range r.Wires()[1:] {
		whole := fmt.Sprintf(`{"n":%d}`, n)+r.result(n) == adktest.Text(w.Messages[len(w.Messages)-1])
		require.True(t, whole || refusedAt[n+1], "the result of call %d", n)
	}
}

// A recovery that fails teaches nothing: what follows is as long as without it.
func TestOverflow_FailedRecoveryIsForgotten(t *testing.T) {
	adktest.Both(t, testOverflowFailedRecoveryIsForgotten[*schema.Message], testOverflowFailedRecoveryIsForgotten[*schema.AgenticMessage])
}

func testOverflowFailedRecoveryIsForgotten[M adk.MessageType](t *testing.T, streaming bool) {
	for _, text := range []string{"input tokens exceed the maximum of 500 tokens", "Input is too long for requested model."} {
		r := newNarrow[M](8, 0, false, streaming)
		left := 2 // refusals: of the request, and of the shorter one
		r.Refuse = func(input []M) error {
			if len(input) > 8 && left > 0 {
				left--
				return errors.New(text)
			}
			return nil
		}
		r.configure = func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 1, IsRetryAble: func(context.Context, error) bool { return true }}
		}
		require.NoError(t, r.play(t, streaming).Err)
		require.Len(t, r.Refused(), 2)
		wires := r.Wires()
		last := wires[len(wires)-1].Messages
		for i, m := range last {
			if adktest.Role(m) == "tool" {
				require.Contains(t, adktest.Text(m), "a line of a long result", "message %d", i)
			}
		}
	}
}

// A pass that removes nothing is no attempt: nothing is sent again.
func TestOverflow_UnchangedRequestIsNotSentAgain(t *testing.T) {
	adktest.Both(t, testOverflowUnchangedRequestIsNotSentAgain[*schema.Message], testOverflowUnchangedRequestIsNotSentAgain[*schema.AgenticMessage])
}

func testOverflowUnchangedRequestIsNotSentAgain[M adk.MessageType](t *testing.T, streaming bool) {
	r := newNarrow[M](3, 30, false, false)
	r.cfg.DedupeResults = false
	r.result = func(int) string { return "short" } // no notice is shorter
	retried := 0
	r.configure = func(c *adk.TypedChatModelAgentConfig[M]) {
		c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 1, IsRetryAble: func(context.Context, error) bool { retried++; return true }}
	}
	require.Error(t, r.play(t, streaming).Err)
	require.Len(t, r.Refused(), 2, "once, and once by Eino's retry")
	require.Empty(t, r.events)
}

// A later run of the same conversation reaches the provider, whatever the run before it has tried.
func TestOverflow_LaterRunReachesProvider(t *testing.T) {
	adktest.Both(t, testOverflowLaterRunReachesProvider[*schema.Message], testOverflowLaterRunReachesProvider[*schema.AgenticMessage])
}

func testOverflowLaterRunReachesProvider[M adk.MessageType](t *testing.T, streaming bool) {
	r := newNarrow[M](3, 900, true, false)
	require.Error(t, r.play(t, streaming).Err)
	refused := len(r.Refused())
	r.Refuse = func([]M) error { return nil }
	require.NoError(t, r.play(t, streaming).Err)
	require.Len(t, r.Refused(), refused)
	last := r.Wires()[len(r.Wires())-1]
	require.Contains(t, adktest.Text(last.Messages[len(last.Messages)-1]), "a line of a long result")
}
