// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// References in the arguments of calls: which stored values a conversation shows, and how they reach a tool.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/reference"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/truncate"
)

// recordReferences records which stored values the notices of a history show.
func (s *settings[M]) recordReferences(ctx context.Context, msgs []M) {
	lines := s.referenceTargets(msgs).Lines()
	if len(lines) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, referencesKey)
		return
	}
	_ = adk.SetRunLocalValue(ctx, referencesKey, lines)
}

// referenceTargets lists the stored values that the notices of a history show. A path counts only if it is a default
// path of one of the history's calls: tools can make up notices.
func (s *settings[M]) referenceTargets(msgs []M) reference.Targets {
	shown, ids := make(reference.Targets), make(map[string]bool)
	for _, m := range msgs {
		for p := message.Parts(m); p.Next(); {
			switch {
			case p.Kind == message.Call && message.Role(m) == schema.Assistant:
				reference.InArguments(p.Text(), func(n notice.Notice) { shown[offload.Clean(n.Path)] = n.Bytes })
			case p.Kind == message.Result && message.Role(m) != schema.Assistant:
				if hasEnvelope(p.Part) {
					shown[offload.Clean(notice.FromTexts(rounds.ResultIn(p.Part).Texts).Path)] = 0
				}
			default:
				continue
			}
			ids[backend.Component(p.ID())] = true
		}
	}
	targets := make(reference.Targets)
	for filePath, bytes := range shown {
		isText := offload.IsDefaultPath(s.cfg.RootDir, filePath) && !notice.IsMediaFile(filePath)
		if isText && offload.BelongsToAny(filePath, ids) {
			targets[filePath] = bytes
		}
	}
	return targets
}

// resolveInvokable wraps the endpoint of a tool that returns complete results, so that it gets stored values in place of
// references.
func resolveInvokable[M adk.MessageType, A, R any](
	s *settings[M], called *adk.ToolContext, endpoint func(context.Context, A, ...tool.Option) (R, error),
) func(context.Context, A, ...tool.Option) (R, error) {
	if called == nil || endpoint == nil {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (R, error) {
		argument, answer, err := resolveArgument(ctx, s, called, argument)
		if err != nil || answer != "" {
			return truncate.TextAs[R](answer), err
		}
		return endpoint(ctx, argument, opts...)
	}
}

// resolveStreamable is [resolveInvokable] for a tool that returns streams.
func resolveStreamable[M adk.MessageType, A, T any](
	s *settings[M], called *adk.ToolContext, endpoint func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error),
) func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error) {
	if called == nil || endpoint == nil {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (*schema.StreamReader[T], error) {
		argument, answer, err := resolveArgument(ctx, s, called, argument)
		if err != nil {
			return nil, err
		}
		if answer != "" {
			return schema.StreamReaderFromArray([]T{truncate.TextAs[T](answer)}), nil
		}
		return endpoint(ctx, argument, opts...)
	}
}

// resolveArgument returns the argument of a call with stored values in place of references. If answer is not empty, it
// is the answer to the call, which must not run. The given argument is not modified.
func resolveArgument[M adk.MessageType, A any](
	ctx context.Context, s *settings[M], called *adk.ToolContext, argument A,
) (resolved A, answer string, err error) {
	text := argumentText(argument)
	if text == "" || s.reader.IsReadTool(ctx, called.Name) {
		return argument, "", nil
	}
	args, refusal := s.resolver(ctx, called.Name).Resolve(ctx, text)
	switch {
	case refusal != nil && ctx.Err() != nil:
		return argument, "", ctx.Err()
	case refusal != nil:
		s.reportUnresolved(ctx, called, refusal)
		programturn.Fail(ctx, called.CallID)
		return argument, notice.Current().Refuse(refusal.Path), nil
	case args == text:
		return argument, "", nil
	}
	return withArgumentText(argument, args), "", nil
}

// argumentText is the text of an argument of either form.
func argumentText[A any](argument A) string {
	switch a := any(argument).(type) {
	case string:
		return a
	case *schema.ToolArgument:
		if a != nil {
			return a.Text
		}
	}
	return ""
}

// withArgumentText returns a copy of an argument with another text.
func withArgumentText[A any](argument A, text string) A {
	var changed any = text
	if a, ok := any(argument).(*schema.ToolArgument); ok {
		dup := *a
		dup.Text = text
		changed = &dup
	}
	return changed.(A)
}

// reportUnresolved reports content that could not be read.
func (s *settings[M]) reportUnresolved(ctx context.Context, called *adk.ToolContext, refusal *reference.Refusal) {
	if refusal.Err != nil {
		s.reporter.Send(ctx, einolean.Event{
			Kind: einolean.KindStoreFailed, Tool: called.Name, CallID: called.CallID, Err: refusal.Err,
		})
	}
}

// resolver returns what replaces references in the arguments of a tool.
func (s *settings[M]) resolver(ctx context.Context, toolName string) reference.Resolver {
	if !s.cfg.ResolveReferences {
		return reference.Resolver{}
	}
	stores := reader.Stores(s.files.Stores)
	return reference.Resolver{
		Targets: reference.ParseTargets(runLocal[[]string](ctx, referencesKey)),
		Read: func(ctx context.Context, filePath string) (string, error) {
			content, err := stores.ReadAll(ctx, filePath, reader.MaxContent)
			return string(content), err
		},
		IsFileName: truncate.NamesFile,
		TakesOnlyString: func(place []string) (onlyString, ok bool) {
			params, _ := toolschema.Text(s.parameters(ctx, toolName))
			return reference.TakesOnlyString(params, place)
		},
	}
}

// parameters returns the parameters of a tool of this run, nil if they are not known.
func (s *settings[M]) parameters(ctx context.Context, toolName string) *schema.ParamsOneOf {
	if r := runFrom(ctx, s); r != nil {
		for _, t := range r.tools {
			info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
			if err == nil && info != nil && info.Name == toolName {
				return info.ParamsOneOf
			}
		}
	}
	if hidden := programturn.ToolsOf(ctx); hidden != nil {
		if t, ok := hidden.Resolve(ctx, toolName); ok && t.Info != nil {
			return t.Info.ParamsOneOf
		}
	}
	return nil
}
