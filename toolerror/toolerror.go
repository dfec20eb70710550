// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolerror keeps the error of a tool from ending the run of a CloudWeGo
// Eino agent: the model reads the error as the tool's answer, and can correct its
// arguments or try another way.
//
//	answerErrors, err := toolerror.New(ctx, nil)
//	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
//		Model:    chatModel,
//		Handlers: []adk.ChatModelAgentMiddleware{answerErrors, search, reduce},
//	})
//
// Place it before the handlers and tools whose errors it should answer. If the agent uses package
// programs, place it directly after programs.New, which comes first.
//
// Some errors always end the run, or pause it, as they do without this package:
// interrupts, the end of the run's own context, a cancellation of the run, and Eino's
// limits on iterations, steps and retries. A call of a tool that the agent does not
// have never reaches a handler: set UnknownToolsHandler of compose.ToolsNodeConfig for
// it.
package toolerror

import (
	"context"
	"embed"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/safe"
)

// Config configures the handler. Both functions must be safe for concurrent use;
// if one panics, the default takes its place.
type Config struct {
	// Pass reports whether an error of a tool ends the run. If nil, only the errors
	// that always end a run do.
	Pass func(ctx context.Context, tool string, err error) bool

	// Text returns what the model reads in place of an error, whose own text may name
	// machines, files and accounts. If nil, the model reads the error's text, at most
	// 4,000 bytes of it, and what to do about it, in the language of adk.SetLanguage.
	Text func(ctx context.Context, tool string, err error) string
}

// New returns the handler. If config is nil, every error is answered in the
// default way. The handler serves any number of agents and runs at once.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped is [New] for agents of either message type.
func NewTyped[M adk.MessageType](_ context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	h := &handler[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}}
	if config != nil {
		h.config = *config
	}
	return h, nil
}

type handler[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	config Config
}

// WrapInvokableToolCall answers the error of a tool that returns text.
func (h *handler[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, call *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		result, err := safe.Value(call.Name, func() (string, error) { return next(ctx, args, opts...) })
		if text, ok := h.config.answer(ctx, call.Name, err); ok {
			return text, nil
		}
		return result, err
	}, nil
}

// WrapEnhancedInvokableToolCall answers the error of a tool that returns parts.
func (h *handler[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, call *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		result, err := safe.Value(call.Name, func() (*schema.ToolResult, error) { return next(ctx, args, opts...) })
		if text, ok := h.config.answer(ctx, call.Name, err); ok {
			return parts(text), nil
		}
		return result, err
	}, nil
}

// WrapStreamableToolCall answers the error of a tool that streams text: in place
// of a stream that never began, and at the end of one that failed.
func (h *handler[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, call *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	same := func(text string) string { return text }
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		stream, err := safe.Value(call.Name, func() (*schema.StreamReader[string], error) { return next(ctx, args, opts...) })
		return answered(h.config.forCall(ctx, call.Name), same, stream, err)
	}, nil
}

// WrapEnhancedStreamableToolCall is WrapStreamableToolCall for a tool that streams
// parts.
func (h *handler[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, call *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		stream, err := safe.Value(call.Name, func() (*schema.StreamReader[*schema.ToolResult], error) { return next(ctx, args, opts...) })
		return answered(h.config.forCall(ctx, call.Name), parts, stream, err)
	}, nil
}

func parts(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// answered returns a stream that ends with the answer to its error.
func answered[T any](answer func(error) (string, bool), chunk func(string) T, stream *schema.StreamReader[T], err error) (*schema.StreamReader[T], error) {
	if text, ok := answer(err); ok {
		return schema.StreamReaderFromArray([]T{chunk(text)}), nil
	}
	if err != nil || stream == nil {
		return stream, err
	}
	same := func(c T) (T, error) { return c, nil }
	last, failed := "", false
	// Eino closes the streams that it sends as events once more, in a finalizer.
	// With this set first, that is harmless.
	stream.SetAutomaticClose()
	read := schema.StreamReaderWithConvert(stream, same, schema.WithErrWrapper(func(err error) error {
		if text, ok := answer(err); ok {
			last, failed = text, true
			return io.EOF
		}
		return err
	}))
	return schema.StreamReaderWithConvert(readOnce(read), same, schema.WithOnEOF(func() (any, error) {
		if !failed {
			return nil, io.EOF
		}
		return chunk("\n" + last), nil
	})), nil
}

// readOnce returns a reader that does not ask stream again once it has ended: a tool
// that forgets to close what it has failed to write would block the next read.
func readOnce[T any](stream *schema.StreamReader[T]) *schema.StreamReader[T] {
	readers := stream.Copy(2)
	readers[1].Close()
	return readers[0]
}

// forCall is answer for one call.
func (c *Config) forCall(ctx context.Context, name string) func(error) (string, bool) {
	return func(err error) (string, bool) { return c.answer(ctx, name, err) }
}

// answer is what the model reads in place of an error; ok is false if there is
// none, or if it passes.
func (c *Config) answer(ctx context.Context, name string, err error) (text string, ok bool) {
	if err == nil || passes(ctx, err) {
		return "", false
	}
	if c.Pass != nil {
		pass, failed := safe.Value("Pass", func() (bool, error) { return c.Pass(ctx, name, err), nil })
		if failed == nil && pass {
			return "", false
		}
	}
	programturn.Fail(ctx, compose.GetToolCallID(ctx)) // a program reads it as a failure
	if c.Text != nil {
		text, failed := safe.Value("Text", func() (string, error) { return c.Text(ctx, name, err), nil })
		if failed == nil {
			return text, true
		}
	}
	return defaultText(name, err), true
}

// passes reports whether an error is one by which Eino steers the run, or the end
// of the run itself.
func passes(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	if _, ok := compose.IsInterruptRerunError(err); ok {
		return true
	}
	if _, ok := compose.ExtractInterruptInfo(err); ok {
		return true
	}
	if _, ok := schema.GetSourceName(err); ok {
		return true // one source of a merged stream has ended
	}
	var canceled *adk.CancelError
	if errors.As(err, &canceled) {
		return true
	}
	for _, limit := range []error{adk.ErrStreamCanceled, adk.ErrExceedMaxIterations, adk.ErrExceedMaxRetries, compose.ErrExceedMaxSteps} {
		if errors.Is(err, limit) {
			return true
		}
	}
	return false
}

//go:embed answer.en.tmpl answer.zh.tmpl
var answerFiles embed.FS

var answers = prompt.Load(answerFiles, ".")

func defaultText(name string, err error) string {
	message, failed := safe.Value("Error", func() (string, error) { return err.Error(), nil })
	if failed != nil {
		message = failed.Error()
	}
	return answers.Current().Render("answer", struct{ Tool, Error string }{name, shortened(strings.ToValidUTF8(message, "\uFFFD"))})
}

// shortened keeps the start of a message and its end, where the cause often stands.
func shortened(message string) string {
	const most, end, gap = 4_000, 1_500, "\n…\n"
	if len(message) <= most {
		return message
	}
	head, tail := most-end-len(gap), len(message)-end
	for !utf8.RuneStart(message[head]) {
		head--
	}
	for !utf8.RuneStart(message[tail]) {
		tail++
	}
	return message[:head] + gap + message[tail:]
}
