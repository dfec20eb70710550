// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package parts splits the messages and tools of a request into parts: texts, calls, results with
// their notices, and definitions of tools.
package parts

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolnames"
)

// Kind is what a part is.
type Kind byte

// The kinds.
const (
	System Kind = iota
	User
	Assistant
	Call
	Result
	Tool
)

// Part is a part of a request with what is derived from it. After Analyze it is immutable: the
// requests of a run share it.
type Part struct {
	Kind    Kind
	Tool    string // of a definition, a call or a result: the tool that runs
	Through string // "call_tool", if the model calls the tool with it
	CallID  string
	Text    string
	Media   int // bytes that are not text
	Label   string
	Info    schema.ToolInfo // of a definition, whose text follows from it

	Facts
}

// Facts are derived from the content of a part.
type Facts struct {
	ID         uint64   // hash of the call ID
	Hash       uint64   // of all that differs on the wire
	Key        uint64   // of what stays when a result is cut or cleared
	Tokens     int      // estimated
	PathHashes []uint64 // hashes of what may be paths
	Notice     Notice
}

// Analyze sets the facts. Hashes depend on the seed.
func (p *Part) Analyze(seed maphash.Seed) {
	if p.Kind == Tool {
		p.Text = Definition(&p.Info)
	}
	var h maphash.Hash
	h.SetSeed(seed)
	_ = h.WriteByte(byte(p.Kind))
	for _, s := range []string{p.Tool, p.CallID, p.Label} {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(p.Text)
	p.ID, p.Hash, p.Tokens = maphash.String(seed, p.CallID), h.Sum64(), tokens.Of(p.Text)
	p.Key = p.Hash
	switch p.Kind {
	case Tool:
		p.Key = maphash.String(seed, "tool "+p.Tool)
	case Call:
		p.Tokens += tokens.Of(cmp.Or(p.Through, p.Tool))
		if p.CallID != "" {
			p.Key = maphash.String(seed, "call "+p.CallID)
		}
		p.PathHashes = pathsIn(seed, p.Text)
	case Result:
		if p.CallID != "" {
			p.Key = maphash.String(seed, "result "+p.CallID+" "+p.Label)
		}
		if p.Notice = readNotice(p.Text); p.Notice.Path != "" {
			p.Notice.PathHash = maphash.String(seed, p.Notice.Path)
		}
	}
	if p.Media > 0 {
		p.Tokens = mediaTokens
	}
}

// Equals reports whether two parts have the same content. Their texts are mostly the same string,
// which is fast to compare.
func (p *Part) Equals(o *Part) bool {
	if p.Kind != o.Kind || p.Tool != o.Tool || p.CallID != o.CallID || p.Label != o.Label || p.Media != o.Media {
		return false
	}
	if p.Kind == Tool {
		return p.Info.Desc == o.Info.Desc && p.Info.ParamsOneOf == o.Info.ParamsOneOf
	}
	return p.Text == o.Text
}

// mediaTokens is the estimate for one image or file: about what providers bill for an
// image of a million pixels.
const mediaTokens = 1000

// pathsIn returns the hashes of what may be the path of a file in the arguments of a
// call.
func pathsIn(seed maphash.Seed, arguments string) (all []uint64) {
	const mostPaths = 64
	for i, word := range strings.Split(arguments, `"`) {
		if i > 0 && strings.Contains(word, "/") {
			all = append(all, maphash.String(seed, word))
		}
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'`\\,;|&<>(){}[]", r) }) {
			if i := strings.IndexByte(part, '/'); i >= 0 && part != word {
				all = append(all, maphash.String(seed, strings.TrimRight(part[i:], ".:")))
			}
		}
		if len(all) >= mostPaths {
			break
		}
	}
	return all
}

// EachPart calls use with each part of a message. The part is valid until use returns.
func EachPart[M adk.MessageType](m M, one *Part, use func(*Part)) {
	pass := func(s Part) { *one = s; use(one) }
	talk := User
	switch message.Role(m) {
	case schema.System:
		talk = System
	case schema.Assistant:
		talk = Assistant
	}
	for p := message.Parts(m); p.Next(); {
		switch p.Kind {
		case message.Text:
			pass(Part{Kind: talk, Text: p.Text()})
		case message.Reasoning:
			pass(Part{Kind: talk, Label: "reasoning", Text: p.Text()})
		case message.Call:
			call := Part{Kind: Call, Tool: p.Name(), CallID: p.ID(), Text: p.Text()}
			if call.Tool == toolnames.Call {
				called := toolnames.CalledTool(jsontext.DecodeArguments(call.Text))
				call.Tool, call.Through = cmp.Or(called, call.Tool), call.Tool
			}
			pass(call)
		case message.Result:
			splitResult(&p.Part, pass)
		default:
			if label := mediaLabel(p.Type()); label != "" {
				pass(Part{Kind: talk, Label: label, Media: jsonSize(p.Raw())})
			}
		}
	}
}

// splitResult passes the text of a result, which may be empty, and its media.
func splitResult(r *message.Part, pass func(Part)) {
	base := Part{Kind: Result, Tool: r.Name(), CallID: r.ID()}
	var texts []string
	var media []Part
	for item := r.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			texts = append(texts, item.Text())
		case message.Tools:
			found, _ := json.Marshal(item.Value()) // empty on an error
			texts = append(texts, string(found))
		case message.Medium:
			one := base
			one.Label, one.Media = mediaLabel(item.Type()), jsonSize(item.Raw())
			media = append(media, one)
		}
	}
	if text := strings.Join(texts, ""); text != "" || len(media) == 0 {
		one := base
		one.Text = text
		pass(one)
	}
	for _, one := range media {
		pass(one)
	}
}

// mediaLabel is "image" of "image_url".
func mediaLabel(kind string) string {
	label, _, _ := strings.Cut(kind, "_url")
	return label
}

func jsonSize(v any) int {
	b, _ := json.Marshal(v) // empty on an error
	return len(b)
}

// Answer is a model's answer: its text, its tool calls and the reported usage.
func Answer[M adk.MessageType](seed maphash.Seed, m M) (text string, calls []*Part, usage *schema.TokenUsage) {
	EachPart(m, new(Part), func(p *Part) {
		switch {
		case p.Kind == Call:
			call := *p
			call.Analyze(seed)
			calls = append(calls, &call)
		case p.Kind == Assistant && p.Label == "":
			text += p.Text
		}
	})
	return text, calls, message.Usage(m)
}

// Definition is the text of a tool's definition, as most adapters send it.
func Definition(t *schema.ToolInfo) string {
	var parameters any
	if t.ParamsOneOf != nil {
		parameters, _ = t.ToJSONSchema()
	}
	text, err := json.Marshal(struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"parameters,omitempty"`
	}{t.Name, t.Desc, parameters})
	if err != nil {
		return t.Name + " " + t.Desc
	}
	return string(text)
}

// Searches reports whether package toolsearch uses a tool to find, load or call
// others.
func Searches(tool string) bool {
	return toolnames.Loads(tool) || tool == toolnames.SearchTools
}

// IsReminder recognizes the message that lists hidden tools, also Eino's, and one that reports
// changes of the list.
func IsReminder(text string) bool {
	_, lists := toolnames.Reminder(text)
	_, changes := toolnames.Changes(text)
	return lists || changes
}

// IsOffer recognizes the message with tools that match a user's message.
func IsOffer(text string) bool {
	_, is := toolnames.Offer(text)
	return is
}

// Notice is the content of a text that replaces a result. It serves histories without events.
type Notice struct {
	Rule     string // "cut" or "cleared"; "" if it is not a notice
	Path     string
	PathHash uint64 // hash of the path
	Bytes    int    // bytes that the tool returned, 0 if not stated
}

const (
	noticeOpen  = "<persisted-output>"
	noticeClose = "</persisted-output>"
)

// readNotice recognizes notices of both languages, and Eino's.
func readNotice(text string) Notice {
	if prompt.IsPlaceholder(text) {
		return Notice{Rule: "cleared"}
	}
	if !strings.HasSuffix(text, noticeClose) {
		return Notice{}
	}
	at := strings.LastIndex(text, noticeOpen)
	if strings.HasPrefix(text, noticeOpen) {
		at = 0
	}
	if at < 0 {
		return Notice{}
	}
	n, inner := Notice{Rule: "cut"}, text[at+len(noticeOpen):]
	if at == 0 && !strings.HasPrefix(inner, "\n") {
		n.Rule = "cleared"
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(inner, "\n"), "\n")
	if i := strings.Index(line, ": /"); i >= 0 {
		n.Path, _, _ = strings.Cut(line[i+2:], ". ")
		line = line[:i]
	}
	if i := strings.IndexAny(line, "0123456789"); i >= 0 {
		line = line[i:]
		n.Bytes, _ = strconv.Atoi(line[:len(line)-len(strings.TrimLeft(line, "0123456789"))])
	}
	return n
}
