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
	"github.com/einolean/einolean/internal/toolnames"
)

// piece is one part of a request: what a message says, and what becomes of it.
type piece struct {
	kind   byte
	tool   string // of a definition, a call or a result
	callID string
	text   string
	media  int // bytes that are not text
	label  string

	id     uint64   // hash of the call ID
	hash   uint64   // of all that differs on the wire
	key    uint64   // of what stays when a result is cut or cleared
	tokens int      // estimated
	named  []uint64 // hashes of what may be paths
	notice notice

	category Category
	help     bool // only einolean needs it
	known    bool // the conversation has it
	done     bool // what follows has passed the door

	keptText, keptName, keptID, keptPath string
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
func (p *piece) look(c *Config) {
	var h maphash.Hash
	h.SetSeed(c.seed)
	_ = h.WriteByte(p.kind)
	for _, s := range []string{p.tool, p.callID, p.label} {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	_, _ = h.WriteString(p.text)
	p.id, p.hash, p.tokens = c.hash(p.callID), h.Sum64(), estimate(p.text)
	p.key = p.hash
	switch p.kind {
	case toolPiece:
		p.key = c.hash("tool " + p.tool)
	case callPiece:
		p.tokens += estimate(p.tool)
		if p.callID != "" {
			p.key = c.hash("call " + p.callID)
		}
		p.named = pathsIn(c, p.text)
	case resultPiece:
		if p.callID != "" {
			p.key = c.hash("result " + p.callID + " " + p.label)
		}
		p.notice = readNotice(p.text)
	}
	if p.media > 0 {
		p.tokens = mediaTokens
	}
}

// mediaTokens is the estimate for one image or file: about what providers bill for an
// image of a million pixels.
const mediaTokens = 1000

// estimate returns about how many tokens a text has.
func estimate(text string) int { return (len(text) + 3) / 4 }

// keep lets what is to be kept of the piece pass the door.
func (p *piece) keep(c *Config, name func(string) string) {
	if p.keptName = name(p.tool); p.tool == "" {
		p.keptName = c.keep(p.label, nameBytes)
	}
	p.keptText, p.keptID = c.keep(p.text, 0), c.keepID(p.callID)
	p.keptPath = c.keep(p.notice.path, nameBytes)
	p.done = true
}

// content is the piece as a slot of a conversation keeps it.
func (p *piece) content(v *conversation, s *slot) *kept {
	k := &kept{hash: p.hash, text: p.keptText, Part: Part{Category: p.category, Label: p.keptName, CallID: p.keptID, Bytes: len(p.text) + p.media, Tokens: p.tokens}}
	if v.c.cfg.Texts != TextsNone {
		v.book.lastText++
		k.Part.Text = v.book.lastText
	}
	o := v.outputs[p.id]
	if p.category != ResultCut && p.category != ResultCleared && (o.rule != "program" || p.kind != resultPiece) {
		return k
	}
	l := Left{Rule: o.rule, Tool: p.keptName, CallID: p.keptID, Before: o.before, After: p.tokens, Path: o.path, Stored: o.stored}
	if o.rule == "" || o.rule == "read" {
		l.Rule, l.Before, l.Path, l.Stored = "cleared", p.notice.bytes/4, p.keptPath, p.notice.path != ""
		if p.category == ResultCut {
			l.Rule = "cut"
		}
	}
	l.Before = max(l.Before, s.whole, l.After)
	for _, old := range slices.Backward(s.kept) {
		if old.Category == Result || old.Category == ResultCut && l.Text == 0 {
			l.Text = old.Part.Text
		}
		if old.Category == Result {
			break
		}
	}
	k.Left = &l
	return k
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

// pieces parses one message.
func pieces[M adk.MessageType](m M) (all []piece) {
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
			all = append(all, piece{kind: talk, text: p.Text()})
		case message.Reasoning:
			all = append(all, piece{kind: talk, label: "reasoning", text: p.Text()})
		case message.Call:
			all = append(all, piece{kind: callPiece, tool: p.Name(), callID: p.ID(), text: p.Text()})
		case message.Result:
			all = append(all, resultPieces(&p.Part)...)
		default:
			if label := mediaLabel(p.Type()); label != "" {
				all = append(all, piece{kind: talk, label: label, media: jsonSize(p.Raw())})
			}
		}
	}
	return all
}

// resultPieces are the text of a result, which may be empty, and its media.
func resultPieces(r *message.Part) (all []piece) {
	base := piece{kind: resultPiece, tool: r.Name(), callID: r.ID()}
	var text strings.Builder
	for item := r.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			text.WriteString(item.Text())
		case message.Tools:
			found, _ := json.Marshal(item.Value()) // empty on an error
			text.Write(found)
		case message.Medium:
			p := base
			p.label, p.media = mediaLabel(item.Type()), jsonSize(item.Raw())
			all = append(all, p)
		}
	}
	if p := base; text.Len() > 0 || len(all) == 0 {
		p.text = text.String()
		all = append([]piece{p}, all...)
	}
	return all
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
func answer[M adk.MessageType](m M) (text string, calls []piece, usage *schema.TokenUsage) {
	for _, p := range pieces(m) {
		switch p.kind {
		case callPiece:
			calls = append(calls, p)
		case assistantPiece:
			if p.label == "" {
				text += p.text
			}
		}
	}
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
	bytes    int // bytes that the tool returned, 0 if not stated
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
