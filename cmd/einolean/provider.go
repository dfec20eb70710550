// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Calling the model within a budget, with retries, and recording the exchange.

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/cloudwego/eino-ext/components/model/ark"
	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/redact"
)

// provider holds the flags that select the model.
type provider struct {
	model, url, api, key string
	budget               int64
	limit                int // requests of a task
	most                 int // tokens of an answer
	retries              int
	timeout              time.Duration
	stream               bool
}

// firstRetries is the number of retries while the provider has not responded at all: most likely the address is
// wrong.
const firstRetries = 2

// retryPause is the wait before the first retry. It doubles with each retry.
var retryPause = time.Second

func (p *provider) flags(f *flag.FlagSet) {
	f.StringVar(&p.model, "model", "", "the model's name, or the id of an endpoint of Ark")
	f.StringVar(&p.url, "base-url", "", "where the API is; without it, the provider's own address")
	f.StringVar(&p.api, "api", "openai", "openai, which most providers speak, or ark")
	f.StringVar(&p.key, "key", "", "the environment variable that holds the key; by default OPENAI_API_KEY or ARK_API_KEY")
	f.Int64Var(&p.budget, "max-tokens", 2_000_000, "the most tokens to spend, in prompts and answers; what earlier starts spent on this model counts")
	f.IntVar(&p.most, "max-answer", 8192, "the most tokens of one answer, thinking included")
	f.IntVar(&p.retries, "retries", 7, "how often to ask again after a failure that may pass")
	f.DurationVar(&p.timeout, "timeout", 2*time.Minute, "how long an answer may take")
	f.BoolVar(&p.stream, "stream", false, "have answers streamed")
}

func (p *provider) check() error {
	switch {
	case p.model == "":
		return fail(exitUsage, "--model is missing: the name of the model, such as gpt-5")
	case p.api != "openai" && p.api != "ark":
		return fail(exitUsage, "--api is openai or ark, not %q", p.api)
	case p.budget < 1 || p.most < 1 || p.retries < 0 || p.timeout <= 0:
		return fail(exitUsage, "--max-tokens, --max-answer and --timeout are above 0, and --retries is at least 0")
	}
	if p.key == "" {
		p.key = strings.ToUpper(p.api) + "_API_KEY"
	}
	if os.Getenv(p.key) == "" {
		return fail(exitUsage, "the environment variable %s is not set: put the key there, or any text for a server that needs none", p.key)
	}
	return nil
}

// open creates the model.
func (p *provider) open(ctx context.Context, pay func(tokens int64) error) (*meter, error) {
	inner, err := p.dial(ctx, false)
	if err != nil {
		return nil, fail(exitUsage, "%s: %w", p.model, p.redacted(err))
	}
	return &meter{provider: p, inner: inner, pay: pay}, nil
}

// dial creates the adapter. Its own retries are off because they would bypass the budget. renamed selects
// max_completion_tokens as the name of the answer limit.
func (p *provider) dial(ctx context.Context, renamed bool) (model.BaseChatModel, error) {
	key := os.Getenv(p.key)
	if p.api == "ark" {
		noRetries := 0
		return ark.NewChatModel(ctx, &ark.ChatModelConfig{APIKey: key, BaseURL: p.url, Model: p.model,
			MaxTokens: &p.most, RetryTimes: &noRetries, Timeout: &p.timeout})
	}
	c := &openai.ChatModelConfig{APIKey: key, BaseURL: p.url, Model: p.model, Timeout: p.timeout}
	if renamed {
		c.MaxCompletionTokens = &p.most
	} else {
		c.MaxTokens = &p.most
	}
	return openai.NewChatModel(ctx, c)
}

// meter is the model as agents see it. It is not safe for concurrent use.
type meter struct {
	*provider
	inner model.BaseChatModel
	pay   func(tokens int64) error // records spent tokens; negative values are returned

	spent      int64               // of the budget
	overBudget bool                // the next request would exceed the budget
	requests   map[string][]string // by setting: the requests of its task, and the first of all
	fatal      error               // ends the comparison: neither a retry nor another task would help
	renamed    bool                // use max_completion_tokens
	answered   bool                // the model has answered once

	current   trial      // what is being done
	unfit     error      // why the provider refused a request of it
	exchanges []struct { // requests with their answers, as einoleantest records them
		Messages []*schema.Message  `json:"messages"`
		Tools    []*schema.ToolInfo `json:"tools,omitempty"`
		Answer   []*schema.Message  `json:"answer"`
	}
}

// begin starts a task.
func (m *meter) begin(t trial) {
	m.current, m.unfit, m.exchanges = t, nil, nil
	if earlier := m.requests[t.Arm]; len(earlier) > 1 {
		m.requests[t.Arm] = earlier[:1]
	}
}

var (
	errBudget = errors.New("the budget is spent")
	errCalls  = errors.New("it took as many requests as --max-calls allows")
)

// Generate calls the model and retries where that may help. A failure that affects every request ends the
// comparison and does not count against the setting. A rejected request that only this setting sends, such as
// one with too many tools, does count.
func (m *meter) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	for try := 1; m.fatal == nil; try++ {
		answer, err := m.attempt(ctx, in, opts)
		switch {
		case err == nil || ctx.Err() != nil || m.overBudget || m.fatal != nil || errors.Is(err, errCalls):
			return answer, err
		case !m.renamed && wantsRenamed(err):
			m.renamed = true
			if m.inner, m.fatal = m.dial(ctx, true); m.fatal == nil {
				try--
				continue
			}
		case refusal(err) == refusedRequest && m.answers(ctx):
			m.unfit = err
			return nil, err
		case refusal(err) != refusedNow:
			m.fatal = err
		case m.gaveUp(err, try):
			m.fatal = fmt.Errorf("after %s: %w", plural(try, "attempt"), err)
		default:
			if err := m.wait(ctx, try-1); err != nil {
				return nil, err
			}
		}
	}
	return nil, m.fatal
}

// gaveUp reports whether the retries are used up.
func (m *meter) gaveUp(err error, tries int) bool {
	return tries > m.retries || tries > firstRetries && !m.answered && nobody(err)
}

// Stream is Generate: agents of a comparison do not stream, whatever the provider does.
func (m *meter) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{answer}), nil
}

// answers checks once whether the model responds at all.
func (m *meter) answers(ctx context.Context) bool {
	if !m.answered {
		trialBefore, exchangesBefore := m.current, m.exchanges
		_, err := m.attempt(ctx, []*schema.Message{schema.UserMessage("Say yes.")}, nil)
		m.current, m.exchanges = trialBefore, exchangesBefore
		m.answered = err == nil
	}
	return m.answered
}

// attempt sends one request within the budget. It records the highest possible cost beforehand, so that the
// spending of a killed program counts as well.
func (m *meter) attempt(ctx context.Context, in []*schema.Message, opts []model.Option) (*schema.Message, error) {
	if len(m.exchanges) >= m.limit {
		return nil, errCalls
	}
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	reserve := m.reserve(in, tools)
	if m.overBudget = m.spent+reserve > m.budget; m.overBudget {
		return nil, errBudget
	}
	if m.spend(reserve); m.fatal != nil {
		return nil, m.fatal
	}
	m.current.Calls++
	common, size, text := m.shared(in, opts)
	answer, err := m.ask(ctx, in, opts)
	switch {
	case err == nil:
		m.answered = true
		x := appendZero(&m.exchanges)
		x.Messages, x.Tools, x.Answer = in, tools, []*schema.Message{answer}
		if spent := m.count(common, size, text, answer); spent > 0 {
			m.spend(spent - reserve) // on failure the reserved amount counts
		}
	case status(err) != "" || wantsRenamed(err): // the provider processed nothing, so nothing is charged
		m.spend(-reserve)
	}
	return answer, err
}

// spend counts tokens against the budget.
func (m *meter) spend(tokens int64) {
	m.spent += tokens
	if err := m.pay(tokens); err != nil {
		m.fatal = err
	}
}

// wait waits before a retry.
func (m *meter) wait(ctx context.Context, try int) error {
	const longest = time.Minute
	timer := time.NewTimer(min(longest, retryPause<<min(try, 10)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// reserve returns an upper limit of the tokens of a request and its answer: no token is shorter than a byte.
func (m *meter) reserve(in []*schema.Message, tools []*schema.ToolInfo) int64 {
	text, err := json.Marshal(in)
	n := len(text)
	if err != nil {
		n = 0
	}
	for _, t := range tools {
		n += len(t.Name) + len(t.Desc) + 100
		if s, err := t.ToJSONSchema(); err == nil {
			text, _ := json.Marshal(s) // a schema always can be
			n += len(text)
		}
	}
	return int64(n + m.most)
}

// redacted removes the key and the secrets of the address from an error.
func (p *provider) redacted(err error) error {
	if err == nil {
		return nil
	}
	return &safeError{err, redact.Text(err.Error(), append(redact.InURL(p.url), os.Getenv(p.key))...)}
}

// safeError replaces the text of an error.
type safeError struct {
	err  error
	text string
}

func (e *safeError) Error() string { return e.text }
func (e *safeError) Unwrap() error { return e.err }

// ask sends one request.
func (m *meter) ask(ctx context.Context, in []*schema.Message, opts []model.Option) (*schema.Message, error) {
	answer, err := m.send(ctx, in, opts)
	return answer, m.redacted(err)
}

func (m *meter) send(ctx context.Context, in []*schema.Message, opts []model.Option) (*schema.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	if !m.stream {
		return m.inner.Generate(ctx, in, opts...)
	}
	chunks, err := m.inner.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	answer, err := schema.ConcatMessageStream(chunks)
	if err == nil && (answer.ResponseMeta == nil || answer.ResponseMeta.FinishReason == "") {
		return nil, errors.New("the stream ended early")
	}
	return answer, err
}

var statusCode = regexp.MustCompile(`(?i)(?:status[ _]?code|error code|http)[^0-9]{0,12}([45]\d\d)\b`)

// status returns the HTTP status in an error, or "".
func status(err error) string {
	if m := statusCode.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// Whether a retry may help after a failure.
const (
	refusedNow     = iota // it may help: the provider is busy, slow or broken
	refusedRequest        // not for this request
	refusedAll            // for none: of the key, the account, the address or the model
)

func refusal(err error) int {
	switch status(err) {
	case "400", "413", "414", "422":
		return refusedRequest
	case "401", "402", "403", "404", "405":
		return refusedAll
	}
	return refusedNow
}

// nobody reports whether no server received the request. Ark's adapter gives such errors a status.
func nobody(err error) bool { return status(err) == "" || strings.Contains(err.Error(), "dial tcp") }

// wantsRenamed reports whether the model accepts the answer limit only as max_completion_tokens.
func wantsRenamed(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "max_completion_tokens") || strings.Contains(text, "maxcompletiontokens")
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// save writes the requests and answers of a task into a folder, if there is one.
func (m *meter) save(folder string, t trial) error {
	if folder == "" || len(m.exchanges) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fail(exitInput, "%s: %w", folder, unnamed(err))
	}
	var b strings.Builder
	for _, x := range m.exchanges {
		line, err := json.Marshal(x)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	name := strings.Trim(notInNames.ReplaceAllString(fmt.Sprintf("%s-%s-%d", t.Arm, t.Task, t.Run), "-"), "-") + ".jsonl"
	return os.WriteFile(filepath.Join(folder, name), []byte(b.String()), 0o600)
}
