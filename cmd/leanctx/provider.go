// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file asks a model: within a budget, again where that may help, and with a record.

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
)

// provider says which model to ask, and how.
type provider struct {
	model, url, api, key string
	budget               int64
	most                 int // tokens of an answer
	retries              int
	timeout              time.Duration
	stream               bool
}

// retryPause is how long to wait before the first retry; each further one waits twice as long.
var retryPause = time.Second

func (p *provider) flags(f *flag.FlagSet) {
	f.StringVar(&p.model, "model", "", "the model's name, or the id of an endpoint of Ark")
	f.StringVar(&p.url, "base-url", "", "where the API is; without it, the provider's own address")
	f.StringVar(&p.api, "api", "openai", "openai, which most providers speak, or ark")
	f.StringVar(&p.key, "key", "", "the environment variable that holds the key; by default OPENAI_API_KEY or ARK_API_KEY")
	f.Int64Var(&p.budget, "max-tokens", 2_000_000, "the most tokens to spend, in prompts and answers; what earlier starts spent counts")
	f.IntVar(&p.most, "max-answer", 2048, "the most tokens of one answer")
	f.IntVar(&p.retries, "retries", 5, "how often to ask again after a failure that may pass")
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

// open makes the model. Retries of the adapters are off: ours know the budget.
func (p *provider) open(ctx context.Context) (*meter, error) {
	var m model.BaseChatModel
	var err error
	if p.api == "ark" {
		none := 0
		m, err = ark.NewChatModel(ctx, &ark.ChatModelConfig{APIKey: os.Getenv(p.key), BaseURL: p.url, Model: p.model, MaxTokens: &p.most, RetryTimes: &none, Timeout: &p.timeout})
	} else {
		m, err = openai.NewChatModel(ctx, &openai.ChatModelConfig{APIKey: os.Getenv(p.key), BaseURL: p.url, Model: p.model, MaxTokens: &p.most, Timeout: p.timeout})
	}
	if err != nil {
		return nil, fail(exitUsage, "%s: %w", p.model, err)
	}
	return &meter{provider: p, inner: m}, nil
}

// meter is the model as agents see it. It is not safe for concurrent use.
type meter struct {
	*provider
	inner model.BaseChatModel
	spent int64 // of the budget
	over  bool  // the next request would not fit
	fatal error // a failure that asking again does not mend

	before, in, cached, out int64 // of one task
	calls                   int
	exchanges               []exchangeLine
}

// exchangeLine is a request with its answer, as leanctxtest records them.
type exchangeLine struct {
	Messages []*schema.Message  `json:"messages"`
	Tools    []*schema.ToolInfo `json:"tools,omitempty"`
	Answer   []*schema.Message  `json:"answer"`
}

// begin begins a task.
func (m *meter) begin() {
	m.before, m.in, m.cached, m.out, m.calls, m.exchanges = m.spent, 0, 0, 0, 0, nil
}

var errBudget = errors.New("the budget is spent")

// Generate asks, and asks again.
func (m *meter) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	if m.fatal != nil {
		return nil, m.fatal
	}
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	reserve := m.reserve(in, tools)
	for try := 0; ; try++ {
		if m.spent+reserve > m.budget {
			m.over = true
			return nil, errBudget
		}
		m.spent += reserve
		m.calls++
		answer, err := m.ask(ctx, in, opts)
		if err == nil {
			m.settle(reserve, answer)
			m.exchanges = append(m.exchanges, exchangeLine{in, tools, []*schema.Message{answer}})
			return answer, nil
		}
		if refused(err) { // nothing was read, so nothing is paid
			m.spent -= reserve
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case lasting(err):
			m.fatal = err
			return nil, err
		case try >= m.retries:
			return nil, fmt.Errorf("after %d tries: %w", try+1, err)
		}
		if err := m.wait(ctx, try); err != nil {
			return nil, err
		}
	}
}

// Stream is Generate: agents of a comparison do not stream, whatever the provider does.
func (m *meter) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	answer, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{answer}), nil
}

// wait waits before another try.
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

// reserve is more than a request and its answer can take, in tokens: hardly a token of any
// tokenizer is shorter than two bytes on the average.
func (m *meter) reserve(in []*schema.Message, tools []*schema.ToolInfo) int64 {
	text, err := json.Marshal(exchangeLine{Messages: in})
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
	return int64(n/2 + m.most)
}

// ask asks once.
func (m *meter) ask(ctx context.Context, in []*schema.Message, opts []model.Option) (*schema.Message, error) {
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

// settle replaces what was reserved by what the provider counted, if it did.
func (m *meter) settle(reserve int64, answer *schema.Message) {
	if answer.ResponseMeta == nil || answer.ResponseMeta.Usage == nil {
		return
	}
	u := answer.ResponseMeta.Usage
	in, out := int64(u.PromptTokens), int64(u.CompletionTokens)
	m.in, m.out, m.cached = m.in+in, m.out+out, m.cached+int64(u.PromptTokenDetails.CachedTokens)
	if in+out > 0 {
		m.spent += in + out - reserve
	}
}

var statusCode = regexp.MustCompile(`(?i)(?:status[ _]?code|error code|http)[^0-9]{0,12}([45]\d\d)\b`)

// status is the HTTP status in an error, empty if there is none.
func status(err error) string {
	if m := statusCode.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// refused reports whether the provider did not take the request.
func refused(err error) bool { return status(err) != "" }

// lasting reports whether asking again would get the same answer.
func lasting(err error) bool {
	code := status(err)
	return strings.HasPrefix(code, "4") && code != "408" && code != "409" && code != "425" && code != "429"
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
