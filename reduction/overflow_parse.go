// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Recognizes the errors by which providers say that a request is too long.

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/safe"
)

//go:embed overflow.txt
var overflowPatternText string

// overflowPatterns match the errors of providers that say that a request is too long.
var overflowPatterns = sync.OnceValue(func() (all []*regexp.Regexp) {
	for line := range strings.Lines(overflowPatternText) {
		if source, pattern, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(source, "#") {
			all = append(all, regexp.MustCompile(pattern))
		}
	}
	return all
})

// rateLimitPattern matches errors about tokens in a period of time, which pass by themselves.
var rateLimitPattern = regexp.MustCompile(`rate.?limit|too many requests|per (?:min|minute|hour|day)\b|/min\b|\b[tr]p[md]\b|quota|throttl|(?:status|code|http)["': ]*429|速率|频率|限流`)

// ParseOverflow reports whether an error says that a request is too long for the model, and how many
// tokens the model takes, zero if the error does not name it. It knows the errors of OpenAI, Azure,
// Anthropic, Gemini, Ark, DeepSeek, Qwen, Kimi, GLM, SiliconFlow, vLLM, Ollama, llama.cpp, LiteLLM and
// OpenRouter. Rate limits, which speak of tokens as well, are none.
func ParseOverflow(err error) (tokens int64, ok bool) {
	text := strings.ToLower(safe.ErrorText(err))
	if text == "" || rateLimitPattern.MatchString(text) {
		return 0, false
	}
	for _, pattern := range overflowPatterns() {
		found := pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		ok = true
		for _, number := range found[1:] {
			if n, err := strconv.ParseInt(strings.ReplaceAll(number, ",", ""), 10, 64); err == nil && n > 0 {
				return n, true
			}
		}
	}
	return 0, ok
}
