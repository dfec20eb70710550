// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The package's only switch on the message type, the codec of *schema.Message, the parts of
// messages, and copies for callbacks.

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

var (
	_ codec[*schema.Message]        = plain{}
	_ codec[*schema.AgenticMessage] = agentic{}
)

// codecFor returns the codec of a message type.
func codecFor[M adk.MessageType]() codec[M] {
	var c any
	switch any(*new(M)).(type) {
	case *schema.Message:
		c = plain{}
	case *schema.AgenticMessage:
		c = agentic{}
	}
	return c.(codec[M])
}

// own returns a copy for a callback that may write to it. Values in Extra, and tools that were
// found, are shared.
func own[T any](v *T) *T {
	if v == nil {
		return nil
	}
	out := *v
	ownParts(reflect.ValueOf(&out).Elem())
	return &out
}

// messages is where the types of messages are.
var messages = reflect.TypeFor[schema.Message]().PkgPath()

// ownParts copies what a value points to.
func ownParts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		of := v.Type().Elem()
		if v.IsNil() || of.PkgPath() != messages && of.PkgPath() != "" || of == reflect.TypeFor[schema.ToolSearchResult]() {
			return
		}
		next := reflect.New(of)
		next.Elem().Set(v.Elem())
		ownParts(next.Elem())
		v.Set(next)
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		next := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(next, v)
		for i := range next.Len() {
			ownParts(next.Index(i))
		}
		v.Set(next)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		next := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			next.SetMapIndex(entries.Key(), entries.Value())
		}
		v.Set(next)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				ownParts(field)
			}
		}
	}
}

// plain is the codec of *schema.Message, where a tool result is a message.
type plain struct{}

func (plain) view(m *schema.Message) view {
	if m == nil {
		return view{}
	}
	v := view{processed: isMarked(m.Extra, processedKey), ours: isMarked(m.Extra, oursKey)}
	switch m.Role {
	case schema.Assistant:
		v.calls = make([]call, len(m.ToolCalls))
		for i := range m.ToolCalls {
			tc := &m.ToolCalls[i]
			v.calls[i] = call{index: i, id: tc.ID, name: tc.Function.Name, args: tc.Function.Arguments}
		}
	case schema.Tool:
		v.results = []result{plainResult(m)}
	}
	for i := range m.UserInputMultiContent {
		if text := m.UserInputMultiContent[i].Text; m.Role == schema.User && isMovedMedium(text) {
			v.moved = append(v.moved, text)
		}
	}
	return v
}

func (plain) media(m *schema.Message) (out []*reference) {
	if m == nil || m.Role != schema.Tool && m.Role != schema.User {
		return nil
	}
	of := 0
	if m.Role == schema.User {
		of = -1
	}
	for i := range m.UserInputMultiContent {
		if part := outputPart(&m.UserInputMultiContent[i]); mediumOf(&part) != nil {
			out = append(out, &reference{result: of, part: i, medium: &part})
		}
	}
	return out
}

func (plain) said(m *schema.Message) (user, model string) {
	if m == nil {
		return "", ""
	}
	switch m.Role {
	case schema.User:
		texts := []string{m.Content}
		for i := range m.UserInputMultiContent {
			texts = append(texts, m.UserInputMultiContent[i].Text)
		}
		return strings.Join(texts, "\n"), ""
	case schema.Assistant:
		return "", m.Content
	}
	return "", ""
}

func (plain) calls(m *schema.Message) bool {
	return m != nil && m.Role == schema.Assistant && len(m.ToolCalls) > 0
}

func (plain) resultSize(m *schema.Message, k int) int {
	if m == nil || m.Role != schema.Tool || k > 0 {
		return -1
	}
	if len(m.UserInputMultiContent) == 0 {
		return len(m.Content)
	}
	n := 0
	for i := range m.UserInputMultiContent {
		if p := &m.UserInputMultiContent[i]; p.Type == schema.ChatMessagePartTypeText {
			n += len(p.Text)
		}
	}
	return n
}

func (plain) eachNoticed(msgs []*schema.Message, f func(result)) {
	for _, m := range msgs {
		if m == nil || m.Role != schema.Tool {
			continue
		}
		may := endsLikeNotice(m.Content)
		for i := range m.UserInputMultiContent {
			may = may || endsLikeNotice(m.UserInputMultiContent[i].Text)
		}
		if may {
			f(plainResult(m))
		}
	}
}

func plainResult(m *schema.Message) result {
	r := result{id: m.ToolCallID, name: m.ToolName, handled: isMarked(m.Extra, processedKey)}
	if len(m.UserInputMultiContent) == 0 {
		r.texts = []string{m.Content}
		return r
	}
	for i := range m.UserInputMultiContent {
		switch p := &m.UserInputMultiContent[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			if isMovedMedium(p.Text) {
				r.moved = append(r.moved, p.Text)
			} else {
				r.texts = append(r.texts, p.Text)
			}
		case schema.ChatMessagePartTypeToolSearchResult:
			r.search = true
		}
	}
	return r
}

func (plain) result(m *schema.Message, _ int) *schema.ToolResult {
	parts := resultParts(m)
	if len(parts) == 0 {
		return textResult(m.Content)
	}
	out := &schema.ToolResult{Parts: make([]schema.ToolOutputPart, len(parts))}
	for i := range parts {
		out.Parts[i] = outputPart(&parts[i])
	}
	return out
}

// resultParts are the parts of a message with a result. They include the deprecated
// field only if there are no others.
func resultParts(m *schema.Message) []schema.MessageInputPart {
	if len(m.UserInputMultiContent) > 0 {
		return m.UserInputMultiContent
	}
	out := make([]schema.MessageInputPart, 0, len(m.MultiContent))
	for _, p := range m.MultiContent {
		part := schema.MessageInputPart{Type: p.Type, Text: p.Text}
		switch {
		case p.ImageURL != nil:
			part.Image = &schema.MessageInputImage{MessagePartCommon: byURL(p.ImageURL.URL, p.ImageURL.MIMEType), Detail: p.ImageURL.Detail}
		case p.AudioURL != nil:
			part.Audio = &schema.MessageInputAudio{MessagePartCommon: byURL(p.AudioURL.URL, p.AudioURL.MIMEType)}
		case p.VideoURL != nil:
			part.Video = &schema.MessageInputVideo{MessagePartCommon: byURL(p.VideoURL.URL, p.VideoURL.MIMEType)}
		case p.FileURL != nil:
			part.File = &schema.MessageInputFile{MessagePartCommon: byURL(p.FileURL.URL, p.FileURL.MIMEType), Name: p.FileURL.Name}
		}
		out = append(out, part)
	}
	return out
}

func byURL(url, mimeType string) schema.MessagePartCommon {
	return schema.MessagePartCommon{URL: &url, MIMEType: mimeType}
}

// outputPart is an input part as a tool would have returned it. A part of a kind that
// tools cannot return keeps its type and loses its content, which is restored when
// the result is written.
func outputPart(p *schema.MessageInputPart) schema.ToolOutputPart {
	switch {
	case p.Type == schema.ChatMessagePartTypeText:
		return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: p.Text, Extra: p.Extra}
	case p.Type == schema.ChatMessagePartTypeImageURL && p.Image != nil:
		return mediaPart(schema.ToolPartTypeImage, p.Image.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeAudioURL && p.Audio != nil:
		return mediaPart(schema.ToolPartTypeAudio, p.Audio.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeVideoURL && p.Video != nil:
		return mediaPart(schema.ToolPartTypeVideo, p.Video.MessagePartCommon, p.Extra)
	case p.Type == schema.ChatMessagePartTypeFileURL && p.File != nil:
		return mediaPart(schema.ToolPartTypeFile, p.File.MessagePartCommon, p.Extra)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartType(p.Type), ToolSearchResult: p.ToolSearchResult, Extra: p.Extra}
}

func (c plain) apply(m *schema.Message, e edit) *schema.Message {
	out := *m
	out.Extra = maps.Clone(m.Extra)
	if e.mark {
		out.Extra = marked(m.Extra, processedKey, oursKey)
	}
	if len(e.args) > 0 {
		out.ToolCalls = slices.Clone(m.ToolCalls)
		for i, args := range e.args {
			out.ToolCalls[i].Function.Arguments = args
		}
	}
	if len(e.media) > 0 {
		out.UserInputMultiContent = slices.Clone(m.UserInputMultiContent)
	}
	for _, moved := range e.media {
		out.UserInputMultiContent[moved.part] = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: moved.text}
	}
	for _, r := range e.results {
		c.replace(&out, r)
		if r.mark {
			out.Extra = marked(out.Extra, processedKey)
		}
	}
	return &out
}

// replace puts r into a copy of a message.
func (plain) replace(m *schema.Message, r replacement) {
	switch {
	case r.keep:
	case len(m.UserInputMultiContent) == 0 && r.parts == nil:
		m.Content = r.text
	case len(m.UserInputMultiContent)+len(m.MultiContent) == 0 && len(r.parts) == 1 && r.parts[0].Type == schema.ToolPartTypeText:
		m.Content = r.parts[0].Text
	case r.parts == nil:
		m.UserInputMultiContent = noticeInput(m.UserInputMultiContent, r.text)
	default:
		parts, ok := inputParts(resultParts(m), r.parts)
		if !ok {
			return
		}
		if len(m.UserInputMultiContent) == 0 {
			m.Content = "" // it was the result itself
		}
		m.UserInputMultiContent, m.MultiContent = parts, nil
	}
}

// noticeInput is withNotice for the parts of a message.
func noticeInput(parts []schema.MessageInputPart, notice string) []schema.MessageInputPart {
	return oneText(parts, func(p *schema.MessageInputPart) bool {
		return p.Type == schema.ChatMessagePartTypeText && !isMovedMedium(p.Text)
	}, func(p *schema.MessageInputPart) { p.Text = notice })
}

// inputParts turns what a handler returned into parts of a message. A part that was
// in the message before is taken from there, with everything that a tool result
// cannot express, such as the name of a file.
func inputParts(before []schema.MessageInputPart, parts []schema.ToolOutputPart) ([]schema.MessageInputPart, bool) {
	out := make([]schema.MessageInputPart, 0, len(parts))
	for i := range parts {
		j := slices.IndexFunc(before, func(p schema.MessageInputPart) bool {
			old := outputPart(&p)
			return samePart(&old, &parts[i])
		})
		if j >= 0 {
			out = append(out, before[j])
			continue
		}
		conv, err := (&schema.ToolResult{Parts: parts[i : i+1]}).ToMessageInputParts()
		if err != nil {
			return nil, false
		}
		out = append(out, conv...)
	}
	return out, true
}

func (plain) clone(m *schema.Message) *schema.Message { return own(m) }

// A tool message is its result.
func (plain) withoutResults(*schema.Message) (*schema.Message, bool) { return nil, false }

func (p plain) onlyResults(m *schema.Message) *schema.Message { return p.clone(m) }

func (plain) weigh(w *weight, m *schema.Message) (usage int) {
	if m == nil {
		return 0
	}
	w.tokens += messageOverhead
	w.text(m.ReasoningContent)
	if m.Role == schema.Tool {
		w.result(m.Content)
	} else {
		w.text(m.Content)
	}
	if m.Role == schema.Assistant {
		if m.ResponseMeta != nil && m.ResponseMeta.Usage != nil {
			usage = m.ResponseMeta.Usage.PromptTokens
		}
		w.edited = isMarked(m.Extra, processedKey)
		for i := range m.ToolCalls {
			f := &m.ToolCalls[i].Function
			w.call(f.Name, f.Arguments)
		}
	}
	if len(m.UserInputMultiContent) > 0 {
		weighInput(w, m.UserInputMultiContent)
	}
	if len(m.AssistantGenMultiContent) > 0 {
		weighOutput(w, m.AssistantGenMultiContent)
	}
	if len(m.MultiContent) > 0 {
		weighOld(w, m)
	}
	return usage
}

func weighInput(w *weight, parts []schema.MessageInputPart) {
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			w.result(p.Text)
		case schema.ChatMessagePartTypeToolSearchResult:
			w.search(p.ToolSearchResult)
		default:
			w.tokens += mediaTokens
		}
	}
}

func weighOutput(w *weight, parts []schema.MessageOutputPart) {
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			w.text(p.Text)
		case schema.ChatMessagePartTypeReasoning:
			if p.Reasoning != nil {
				w.text(p.Reasoning.Text)
			}
		default:
			w.tokens += mediaTokens
		}
	}
}

// weighOld weighs the older, deprecated field.
func weighOld(w *weight, m *schema.Message) {
	for i := range m.MultiContent {
		if p := &m.MultiContent[i]; p.Type == schema.ChatMessagePartTypeText {
			w.text(p.Text)
		} else {
			w.tokens += mediaTokens
		}
	}
}

// oneText returns a copy of parts with the first text as set leaves it, and without the
// other texts.
func oneText[P any](parts []P, isText func(*P) bool, set func(*P)) []P {
	out := make([]P, 0, len(parts))
	found := false
	for _, p := range parts {
		if isText(&p) {
			if found {
				continue
			}
			found = true
			set(&p)
		}
		out = append(out, p)
	}
	return out
}

// samePart reports whether a and b are the same medium or search result.
func samePart(a, b *schema.ToolOutputPart) bool {
	if a.Type != b.Type || a.Type == schema.ToolPartTypeText {
		return false
	}
	if a.ToolSearchResult != nil || b.ToolSearchResult != nil {
		return a.ToolSearchResult == b.ToolSearchResult
	}
	x, y := mediumOf(a), mediumOf(b)
	return x != nil && y != nil && x.MIMEType == y.MIMEType &&
		deref(x.URL) == deref(y.URL) && deref(x.Base64Data) == deref(y.Base64Data)
}

// mediumOf returns the data of a media part, or nil.
func mediumOf(p *schema.ToolOutputPart) *schema.MessagePartCommon {
	switch {
	case p.Type == schema.ToolPartTypeImage && p.Image != nil:
		return &p.Image.MessagePartCommon
	case p.Type == schema.ToolPartTypeAudio && p.Audio != nil:
		return &p.Audio.MessagePartCommon
	case p.Type == schema.ToolPartTypeVideo && p.Video != nil:
		return &p.Video.MessagePartCommon
	case p.Type == schema.ToolPartTypeFile && p.File != nil:
		return &p.File.MessagePartCommon
	}
	return nil
}

// mediaPart makes a media part of the given type.
func mediaPart(t schema.ToolPartType, c schema.MessagePartCommon, extra map[string]any) schema.ToolOutputPart {
	p := schema.ToolOutputPart{Type: t, Extra: extra}
	switch t {
	case schema.ToolPartTypeImage:
		p.Image = &schema.ToolOutputImage{MessagePartCommon: c}
	case schema.ToolPartTypeAudio:
		p.Audio = &schema.ToolOutputAudio{MessagePartCommon: c}
	case schema.ToolPartTypeVideo:
		p.Video = &schema.ToolOutputVideo{MessagePartCommon: c}
	case schema.ToolPartTypeFile:
		p.File = &schema.ToolOutputFile{MessagePartCommon: c}
	}
	return p
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
