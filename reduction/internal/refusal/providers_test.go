// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOverflow_ProviderErrors(t *testing.T) {
	for _, e := range overflowErrors {
		t.Run(e.source, func(t *testing.T) {
			tokens, ok := Overflow(e.text)
			require.True(t, ok, e.text)
			require.Equal(t, e.tokens, tokens, e.text)
		})
	}
	for _, e := range otherErrors {
		t.Run(e.source, func(t *testing.T) {
			_, ok := Overflow(e.text)
			require.False(t, ok, e.text)
		})
	}
}

// overflowErrors are errors of requests that are too long, none of them with a known sentence's source, with the tokens
// that they name. They are those of public documentation and of issues, with other numbers.
var overflowErrors = []struct {
	source, text string
	tokens       int64
}{
	{"SGLang", "Input length (265330) exceeds model's maximum context length (262144).", 262144},
	{"SGLang, with units", "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.", 59862},
	{"SGLang, requested", "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 133120 tokens: 125120 tokens from the input messages and 8000 tokens for the completion.", 131072},
	{"SiliconFlow, newer", `openai adapter status=400 body={"code":20015,"message":"number of input tokens (204703) has exceeded max_prompt_tokens (202752) limit.","data":null}`, 202752},
	{"Groq", `Error code: 400 - {'error': {'message': 'Please reduce the length of the messages or completion.', 'type': 'invalid_request_error', 'param': 'messages'}}`, 0},
	{"xAI", `400 "This model's maximum prompt length is 131072 but the request contains 136973 tokens."`, 131072},
	{"Mistral", `{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","param":null,"code":"3051"}`, 32768},
	{"MiniMax", "invalid params, context window exceeds limit (2013)", 0},
	{"Snowflake", "Error code: 400 - max tokens of 128000 exceeded", 128000},
	{"TGI", "Input validation error: `inputs` must have less than 4095 tokens. Given: 6190", 4095},
	{"TGI, with the answer", `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1900 `inputs` tokens and 512 `max_new_tokens`" + `","error_type":"validation"}`, 2048},
	{"Cohere", "CohereError: too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.", 2048},
	{"Cohere, chat", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs, or setting prompt_truncation='AUTO'.", 0},
	{"LM Studio", "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input. Error Data: n/a, Additional Data: n/a", 4096},
	{"LM Studio, newer", "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input.", 0},
	{"LM Studio, MLX", "Context size has been exceeded.", 0},
	{"GitHub Models", `{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens.","details":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, 8000},
	{"GitHub Copilot", `{"error":{"message":"prompt token count of 141432 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`, 128000},
	{"Cerebras", `Error code: 400 - {'message': 'Please reduce the length of the messages or completion. Current length is 9873 while limit is 8192', 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}`, 8192},
	{"Anthropic, 413", `API Error: 413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}} (Status: 413)`, 0},
	{"Anthropic, Python", "anthropic._exceptions.RequestTooLargeError: Error code: 413 - {'error': {'type': 'request_too_large', 'message': 'Request exceeds the maximum size'}}", 0},
	{"a reverse proxy", "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>", 0},
	{"Gemini, by a proxy", `{"error":{"message":"Maximum request body size 1048576 exceeded, actual body size 1056562","code":413,"status":"Request Entity Too Large"}}`, 0},
	{"Hugging Face", "unexpected status 413 Payload Too Large: request entity too large", 0},
	{"Bedrock, Mantle", `{"error":{"code":"validation_error","message":"prompt tokens (400007) exceed model maximum (278528) for openai.gpt-5.5","param":null,"type":"invalid_request_error"}}`, 278528},
	{"Bedrock, Titan", "ValidationException: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 11861", 8192},
	{"Bedrock, bytes", "ValidationException: The model returned the following errors: too many total text bytes: 25871430 > 24000000", 0},
	{"Moonshot", "Error code: 400 - {'error': {'message': 'Input token length too long', 'type': 'invalid_request_error'}}", 0},
	{"OpenAI, Responses with a number", `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301233 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages"}}`, 272000},
	{"OpenAI, one text", "Invalid 'input[3].output': string too long. Expected a string with maximum length 10485760, but got a string with length 12433920 instead.", 0},
	{"vLLM, characters", "You passed 74655 input characters and requested 4000 output tokens. However, the model's context length is only 32000 tokens, resulting in a maximum input length of 28000 tokens (at most 112000 characters). Please reduce the length of the input prompt. (parameter=input_text, value=74655)", 28000},
	{"a small server", `{"error":{"message":"Prompt tokens (70231) exceeds context size (65536)","type":"context_exceeded","n_prompt_tokens":70231,"n_ctx":65536}}`, 65536},
	{"a gateway, with units", "Model context window is 128k tokens, you requested 256k tokens: context window exceeded", 128000},
	{"a gateway, with spaces", "The request has 140 300 input tokens, which is more than the limit of 131 072 tokens", 131072},
	{"a gateway, with points", "Prompt too large for this model: the maximum is 131.072 tokens", 131072},
	{"a gateway, in millions", "Input exceeds the model's 1M token context window", 1000000},
	{"Together", `{"error":{"message":"Input is longer than the model's context length. Given 34512, limit 32769","type":"invalid_request_error"}}`, 32769},
	{"Vertex", "Unable to submit request because the input token count is 1200042 but model only supports up to 1048576. Reduce the input token count and try again.", 1048576},
	{"Baidu", `{"error_code":336007,"error_msg":"the max input characters is 20000"}`, 0},
	{"a Chinese gateway", "请求失败：输入内容过长，超过模型最大上下文 12.8万 tokens，请精简对话后重试", 128000},
	{"another Chinese gateway", "上下文长度超限，当前 40211 tokens，上限 32768 tokens", 32768},
}

// otherErrors are errors that a shorter request does not avoid, or that concern something else.
var otherErrors = []struct{ source, text string }{
	{"Bedrock, throttling", "ThrottlingException: Too many tokens, please wait before trying again."},
	{"Bedrock, status", "API Error (429 Too many tokens, please wait before trying again.)"},
	{"Kimi, per day", "request reached organization TPD rate limit, current: 1506556, limit: 1500000"},
	{"Kimi, concurrency", "Your account d31 request reached max organization concurrency: 3, please try again after 1 seconds"},
	{"Anthropic, per minute", "Error code: 429 - {'error': {'code': 'rate_limit_error', 'message': 'This request would exceed the rate limit for your organization of 20,000 input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits. Please reduce the prompt length or the maximum tokens requested, or try again later.', 'type': 'invalid_request_error'}}"},
	{"Anthropic, usage", "Claude AI usage limit reached. Your limit will reset at 3pm; messages are limited until then."},
	{"Groq, per minute", "413 Request too large for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14711, please reduce your message size and try again."},
	{"LiteLLM, budget", `{"error":{"message":"LiteLLM User: engineer-1, exceeded budget for model=claude-opus-4-8","type":"budget_exceeded","param":null,"code":"429"}}`},
	{"LiteLLM, spend", "ExceededBudget: End User=ana over budget. Spend=0.00088, Budget=0.0001"},
	{"OpenRouter, credits", "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 2666. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account"},
	{"DeepSeek, balance", "Error code: 402 - {'error': {'message': 'Insufficient Balance', 'type': 'unknown_error'}}"},
	{"Gemini, quota", "429 RESOURCE_EXHAUSTED. You exceeded your current quota. Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 1000000. Please retry in 38s."},
	{"a daily limit of messages", "You have reached your daily message limit for this model."},
	{"a limit per second", "Too many tokens: the limit is 4000 tokens per second for this key"},
	{"Groq, answer", "Error code: 400 - {'error': {'message': 'max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000', 'type': 'invalid_request_error'}}"},
	{"Qwen, answer", "400: <400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"},
	{"DeepSeek, answer", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"},
	{"Ark, answer", "The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 16384 instead. Request id: 0217"},
	{"Novita, answer", "Error code: 400 - {'code': 400, 'reason': 'INVALID_REQUEST_BODY', 'message': 'max_tokens (current value: 4096) must be between 0 and 4000 ', 'metadata': {}}"},
	{"Anthropic, thinking", "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"},
	{"Anthropic, parameter", "temperature: Input should be less than or equal to 1"},
	{"Anthropic, cache", "messages.0.content.1: A maximum of 4 blocks with cache_control may be provided. Found 5."},
	{"Anthropic, one image", "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5327908 bytes > 5242880 bytes"},
	{"Anthropic, dimensions", "messages.19.content.27.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"},
	{"Anthropic, pages", "messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided."},
	{"OpenAI, call id", "Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead."},
	{"OpenAI, tool name", "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 71 instead."},
	{"OpenAI, calls", "Invalid 'input[7].call_id': string too long. Expected a string with maximum length 64, but got a string with length 83 instead."},
	{"OpenAI, filter", "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning"},
	{"Azure, filter", "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry. To learn more about our content filtering policies and their limits, see the documentation."},
	{"a quotation of the user's text", `Failed to parse tool arguments: unexpected end of JSON input near "the prompt is too long for the model, reduce it"`},
	{"a quotation in JSON", `{"error":{"message":"The text \"please make sure that the input is too long for the window\" violates the content policy","type":"invalid_request_error"}}`},
	{"a window that is too small", "Model context window too small (minimum is 128k tokens)"},
	{"Gemini, cache", "Cached content is too small. total_token_count=812, min_total_token_count=4096"},
	{"Go, deadline", `Post "https://api.openai.com/v1/chat/completions": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`},
	{"Python, retries", "HTTPSConnectionPool(host='api.mistral.ai', port=443): Max retries exceeded with url: /v1/messages (Caused by NewConnectionError('Failed to establish a new connection'))"},
	{"a login", "401 Unauthorized: the access token has exceeded its maximum lifetime"},
	{"a queue", `{"message":"Model busy, maximum queue length of 64 messages exceeded"}`},
	{"Chinese, rate", "请求过于频繁，输入 tokens 超过每分钟上限，请稍后再试"},
	{"Chinese, timeout", "请求超时，请检查网络后重试"},
	{"the answer's parameter next to the window",
		"400 max_tokens must be less than or equal to 8192, the maximum value for max_tokens is less than the context_window for this model"},
	{"the answer's parameter, written out",
		"ValidationException: The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096."},
	{"a message that could not be finished",
		"Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens."},
}
