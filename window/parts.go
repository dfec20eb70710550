// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolnames"
)

// said is what a part of a request says, and what follows from that alone. It never changes:
// the requests of a run share it.
type said struct {
	kind   byte
	tool   string // of a definition, a call or a result
	callID string
	text   string
	media  int // bytes that are not text
	label  string
	info   schema.ToolInfo // of a definition, whose text follows from it

	id     uint64   // hash of the call ID
	hash   uint64   // of all that differs on the wire
	key    uint64   // of what stays when a result is cut or cleared
	tokens int      // estimated
	named  []uint64 // hashes of what may be paths
	notice notice
}

// piece is one part of a request: what it says, and what becomes of it.
type piece struct {
	*said
	key  uint64   // that of what it says, unless another part of the request has it
	base Category // of a definition, as the run knows it

	category Category
	help     bool  // only einolean needs it
	slot     int32 // that holds it
	known    bool  // the conversation has it
	done     bool  // what follows has passed the door

	kept struct{ text, name, id, path string }
}

// The kinds of pieces.
const (
	systemPiece byte = iota
	userPiece
	assistantPiece
	callPiece
	resultPiece
	toolPiece
)

// look finds out what does not depend on the conversation.
func (p *said) look(c *Config) {
	if p.kind == toolPiece {
		p.text = definition(&p.info)
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	_ = h.WriteByte(p.kind)
	for _, s := range []string{p.tool, p.callID, p.label} {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(p.text)
	p.id, p.hash, p.tokens = c.hash(p.callID), h.Sum64(), tokens.Of(p.text)
	p.key = p.hash
	switch p.kind {
	case toolPiece:
		p.key = c.hash("tool " + p.tool)
	case callPiece:
		p.tokens += tokens.Of(p.tool)
		if p.callID != "" {
			p.key = c.hash("call " + p.callID)
		}
		p.named = pathsIn(c, p.text)
	case resultPiece:
		if p.callID != "" {
			p.key = c.hash("result " + p.callID + " " + p.label)
		}
		if p.notice = readNotice(p.text); p.notice.path != "" {
			p.notice.named = c.hash(p.notice.path)
		}
	}
	if p.media > 0 {
		p.tokens = mediaTokens
	}
}

// equals reports whether two parts say the same. Texts are mostly the same string, which takes no
// reading.
func (p *said) equals(o *said) bool {
	if p.kind != o.kind || p.tool != o.tool || p.callID != o.callID || p.label != o.label || p.media != o.media {
		return false
	}
	if p.kind == toolPiece {
		return p.info.Desc == o.info.Desc && p.info.ParamsOneOf == o.info.ParamsOneOf
	}
	return p.text == o.text
}

// mediaTokens is the estimate for one image or file: about what providers bill for an
// image of a million pixels.
const mediaTokens = 1000

// keep lets what is to be kept of the piece pass the door.
func (p *piece) keep(c *Config, name func(string) string) {
	if p.kept.name = name(p.tool); p.tool == "" {
		p.kept.name = c.keep(p.label, nameBytes)
	}
	p.kept.text, p.kept.id = c.keep(p.text, 0), c.keepID(p.callID)
	p.kept.path = c.keep(p.notice.path, nameBytes)
	p.done = true
}

// content is the piece as a slot of a conversation keeps it.
func (p *piece) content(v *conversation, s *slot) *kept {
	k := &kept{hash: p.hash, text: p.kept.text, Part: Part{Category: p.category, Label: p.kept.name, CallID: p.kept.id, Bytes: len(p.text) + p.media, Tokens: p.tokens}}
	if v.c.cfg.Texts != TextsNone {
		v.book.lastText++
		k.Part.Text = v.book.lastText
	}
	if p.category == ResultCut || p.category == ResultCleared || p.category == Program {
		k.Left = p.left(v.outputs[p.id], s)
	}
	return k
}

// left is what a result lacks, by its outcome according to events or else by its notice.
func (p *piece) left(o output, s *slot) *Left {
	l := &Left{Rule: o.rule, Tool: p.kept.name, CallID: p.kept.id, After: p.tokens, Path: o.path, Stored: o.stored}
	bytes := o.bytes
	if o.rule == "" || o.rule == "read" {
		l.Rule, l.Path, l.Stored, bytes = "cleared", p.kept.path, p.notice.path != "", p.notice.bytes
		if p.category == ResultCut {
			l.Rule = "cut"
		}
	}
	l.Bytes = bytes
	switch {
	case p.category == Program:
		l.Rule, l.Path, l.Stored, l.Bytes = "program", "", false, 0
	case s.whole > 0:
		l.Before = s.whole
	default:
		l.Before = p.tokensOf(bytes, s)
	}
	if o.read != nil {
		l.Before, l.Calls = max(l.Before, o.read.tokens), o.read.calls
	} else {
		l.Unknown = p.category == Program
	}
	l.Before = max(l.Before, l.After)
	for _, old := range slices.Backward(s.kept) {
		if old.Category == Result || old.Category == ResultCut && l.Text == 0 {
			l.Text = old.Part.Text
		}
		if old.Category == Result {
			l.Bytes = old.Bytes
			break
		}
	}
	return l
}

// tokensOf is about how many tokens a result of some bytes has that no window had: as many
// for a byte as what is left of it.
func (p *piece) tokensOf(bytes int, s *slot) int {
	const aToken = 4 // bytes of most texts
	for _, k := range s.kept {
		if k.Category == ResultCut {
			return bytes * k.Tokens / max(1, k.Bytes)
		}
	}
	if p.category == ResultCut {
		return bytes * p.tokens / max(1, len(p.text))
	}
	return bytes / aToken
}

// pathsIn returns the hashes of what may be the path of a file in the arguments of a
// call.
func pathsIn(c *Config, arguments string) (all []uint64) {
	const mostPaths = 64
	for i, word := range strings.Split(arguments, `"`) {
		if i > 0 && strings.Contains(word, "/") {
			all = append(all, c.hash(word))
		}
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("'`\\,;|&<>(){}[]", r) }) {
			if i := strings.IndexByte(part, '/'); i >= 0 && part != word {
				all = append(all, c.hash(strings.TrimRight(part[i:], ".:")))
			}
		}
		if len(all) >= mostPaths {
			break
		}
	}
	return all
}

// parts passes on what a message says, part by part. What it passes is valid until use returns.
func parts[M adk.MessageType](m M, one *said, use func(*said)) {
	pass := func(s said) { *one = s; use(one) }
	talk := userPiece
	switch message.Role(m) {
	case schema.System:
		talk = systemPiece
	case schema.Assistant:
		talk = assistantPiece
	}
	for p := message.Parts(m); p.Next(); {
		switch p.Kind {
		case message.Text:
			pass(said{kind: talk, text: p.Text()})
		case message.Reasoning:
			pass(said{kind: talk, label: "reasoning", text: p.Text()})
		case message.Call:
			pass(said{kind: callPiece, tool: p.Name(), callID: p.ID(), text: p.Text()})
		case message.Result:
			result(&p.Part, pass)
		default:
			if label := mediaLabel(p.Type()); label != "" {
				pass(said{kind: talk, label: label, media: jsonSize(p.Raw())})
			}
		}
	}
}

// result passes on the text of a result, which may be empty, and its media.
func result(r *message.Part, pass func(said)) {
	base := said{kind: resultPiece, tool: r.Name(), callID: r.ID()}
	var texts []string
	var media []said
	for item := r.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			texts = append(texts, item.Text())
		case message.Tools:
			found, _ := json.Marshal(item.Value()) // empty on an error
			texts = append(texts, string(found))
		case message.Medium:
			one := base
			one.label, one.media = mediaLabel(item.Type()), jsonSize(item.Raw())
			media = append(media, one)
		}
	}
	if text := strings.Join(texts, ""); text != "" || len(media) == 0 {
		one := base
		one.text = text
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

// answer is a model's answer: its text, its tool calls and the reported usage.
func answer[M adk.MessageType](c *Config, m M) (text string, calls []*said, usage *schema.TokenUsage) {
	parts(m, new(said), func(p *said) {
		switch {
		case p.kind == callPiece:
			call := *p
			call.look(c)
			calls = append(calls, &call)
		case p.kind == assistantPiece && p.label == "":
			text += p.text
		}
	})
	return text, calls, message.Usage(m)
}

// definition is the text of a tool's definition, as most adapters send it.
func definition(t *schema.ToolInfo) string {
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

// searches reports whether package toolsearch uses a tool to find, load or call
// others.
func searches(tool string) bool {
	return tool == toolnames.Search || tool == toolnames.SearchTools || tool == toolnames.Load
}

// isReminder recognises the message that lists hidden tools, also Eino's, and one that
// reports changes of the list.
func isReminder(text string) bool {
	_, lists := toolnames.Reminder(text)
	_, changes := toolnames.Changed(text)
	return lists || changes
}

// isOffer recognises the message that describes tools for a user's message.
func isOffer(text string) bool {
	_, is := toolnames.Offer(text)
	return is
}

// notice is what the text in place of a result says: it serves histories without
// events.
type notice struct {
	category Category // "" if it is not a notice
	path     string
	named    uint64 // hash of the path
	bytes    int    // bytes that the tool returned, 0 if not stated
}

const (
	noticeOpen  = "<persisted-output>"
	noticeClose = "</persisted-output>"
)

// readNotice recognises notices of both languages, and Eino's.
func readNotice(text string) notice {
	if !strings.HasSuffix(text, noticeClose) {
		if strings.HasPrefix(text, "[Earlier result removed") || strings.HasPrefix(text, "[Old tool result") {
			return notice{category: ResultCleared}
		}
		return notice{}
	}
	at := strings.LastIndex(text, noticeOpen)
	if strings.HasPrefix(text, noticeOpen) {
		at = 0
	}
	if at < 0 {
		return notice{}
	}
	n, inner := notice{category: ResultCut}, text[at+len(noticeOpen):]
	if at == 0 && !strings.HasPrefix(inner, "\n") {
		n.category = ResultCleared
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(inner, "\n"), "\n")
	if i := strings.Index(line, ": /"); i >= 0 {
		n.path, _, _ = strings.Cut(line[i+2:], ". ")
		line = line[:i]
	}
	if i := strings.IndexAny(line, "0123456789"); i >= 0 {
		line = line[i:]
		n.bytes, _ = strconv.Atoi(line[:len(line)-len(strings.TrimLeft(line, "0123456789"))])
	}
	return n
}
