// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The one place that decides what a server's result is. Nothing is cut: that is the job of package
// reduction, which keeps the original.

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
)

// result is what a server answered to a call, in its own JSON.
type result struct {
	whole           string
	contents        []string // blocks
	structured      []string // one, unless the member repeats
	others          []string // members that the protocol does not have
	meta            string   // JSON of an object; "" if none is kept
	failed          bool
	kind            string // JSON; "" if it has none
	requests, state string // of a result that needs input: JSON, and a text
}

// The types of results. One that has none is complete.
const (
	kindComplete = `"complete"`
	kindAsks     = `"input_required"`
)

// readResult reads a result, which is valid JSON.
func readResult(whole string) (*result, error) {
	if !strings.HasPrefix(whole, "{") {
		return nil, fmt.Errorf("a result that is not an object: %s", display.Short(whole, 200))
	}
	r := &result{whole: whole}
	for name, value := range membersOf(whole) {
		switch {
		case name == "_meta":
			r.meta = metaIn(value)
		case value == "null":
		case name == "content" && value[0] == '[':
			r.contents = slices.AppendSeq(r.contents, elementsOf(value))
		case name == "content":
			r.contents = append(r.contents, value)
		case name == "structuredContent":
			r.structured = append(r.structured, value)
		case name == "isError":
			r.failed = r.failed || !slices.Contains([]string{"false", "0", `""`, `"false"`}, value)
		case name == "resultType":
			r.kind = value
		case name == "inputRequests":
			r.requests = value
		case name == "requestState":
			r.state, _ = textIn(value)
		default:
			r.others = append(r.others, display.Quoted(name)+":"+value)
		}
	}
	return r, nil
}

// ResultMetaKey is the key of schema.ToolOutputPart.Extra with the _meta of a server's result, as the text of a
// JSON object without the member io.modelcontextprotocol/serverInfo. It stands in the first part of a result, and so
// in the first part of the tool message. The model does not read it.
//
// Only with Options.Media does a result have parts; a plain text has no Extra. The _meta of a result without content is
// dropped, and so is one of more than 64 KB.
const ResultMetaKey = "mcp.meta"

// maxResultMeta is how many bytes of a result's _meta are kept: it stays in the history.
const maxResultMeta = 64 << 10

// metaIn is what is kept of a _meta. It is a copy: the result that it stands in may be long. The server's name, which
// new servers repeat in each result, is left out: it would fill the history.
func metaIn(value string) string {
	if value[0] != '{' {
		return ""
	}
	var members strings.Builder
	for name, member := range membersOf(value) {
		if name == mcp.MetaKeyServerInfo {
			continue
		}
		if members.Len()+len(name)+len(member) > maxResultMeta {
			return ""
		}
		members.WriteString("," + display.Quoted(name) + ":" + member)
	}
	if members.Len() == 0 {
		return ""
	}
	return "{" + members.String()[1:] + "}"
}

// enhanced is what a tool returns that returns media.
func (r *result) enhanced() *schema.ToolResult {
	parts := r.parts(true)
	if len(parts) > 0 && r.meta != "" {
		parts[0].Extra = map[string]any{ResultMetaKey: r.meta}
	}
	return &schema.ToolResult{Parts: parts}
}

// asks reports whether the server wants to know something first.
func (r *result) asks() bool { return r.kind == kindAsks }

// isKnown reports whether it is of a type that this package can read.
func (r *result) isKnown() bool { return r.kind == "" || r.kind == kindComplete || r.kind == kindAsks }

// parts are what the model reads, in the order of the result. Without media only texts remain, and
// name the rest.
func (r *result) parts(media bool) []schema.ToolOutputPart {
	if !r.isKnown() {
		return []schema.ToolOutputPart{textPart(say("kind", words{Type: r.kind})), textPart(r.whole)}
	}
	var parts []schema.ToolOutputPart
	told := newTold()
	for _, content := range r.contents {
		if b := readBlock(content); b != nil {
			parts = append(parts, b.part(media))
			if len(r.structured) > 0 {
				told.add(b)
			}
		}
	}
	for _, value := range r.structured {
		if text := told.rest(value); text != "" {
			parts = append(parts, textPart(text))
		}
	}
	if len(r.others) > 0 {
		parts = append(parts, textPart("{"+strings.Join(r.others, ",")+"}"))
	}
	if r.failed {
		mark := errorMark()
		if len(parts) > 0 && parts[0].Type == schema.ToolPartTypeText {
			parts[0].Text = mark + parts[0].Text
		} else {
			parts = append([]schema.ToolOutputPart{textPart(mark)}, parts...)
		}
	}
	return parts
}

// text is the texts of a result, one below the other.
func (r *result) text() string {
	parts := r.parts(false)
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

func textPart(s string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: s}
}

// block is one content of a result.
type block struct {
	raw    string
	kind   string            // "" if it cannot be read as what it says that it is
	fields map[string]string // its texts
	data   string            // media as base64
	inner  map[string]string // the texts of the resource in it
}

// readBlock reads a content; nil if it is nothing. What it cannot read is told as it is.
func readBlock(raw string) *block {
	if raw == "null" {
		return nil
	}
	b := &block{raw: raw}
	fields, objects, ok := fieldsOf(raw)
	if !ok {
		return b
	}
	b.fields = fields
	switch kind := fields["type"]; kind {
	case "text":
		_, ok = fields["text"]
	case "image", "audio":
		b.data, ok = base64In(fields["data"])
	case "resource_link":
		_, ok = fields["uri"]
	case "resource":
		if b.inner, _, ok = fieldsOf(objects["resource"]); ok {
			_, hasText := b.inner["text"]
			b.data, ok = base64In(b.inner["blob"])
			ok = ok && (b.data != "" || hasText)
		}
	default:
		ok = false
	}
	if ok {
		b.kind = fields["type"]
	}
	return b
}

// annotations are the members of a block that are not for the model.
var annotations = []string{"_meta", "meta", "annotations"}

// fieldsOf are the members of an object that are texts, and those that are objects. It reports
// false where one repeats.
func fieldsOf(raw string) (texts, objects map[string]string, ok bool) {
	if !strings.HasPrefix(raw, "{") {
		return nil, nil, false
	}
	texts, objects = map[string]string{}, map[string]string{}
	for name, value := range membersOf(raw) {
		_, twice := texts[name]
		text, isText := textIn(value)
		switch {
		case slices.Contains(annotations, name) || value == "null":
		case twice || objects[name] != "":
			return nil, nil, false
		case isText:
			texts[name] = text
		case value[0] == '{':
			objects[name] = value
		}
	}
	return texts, objects, true
}

// textIn is the text that a value is.
func textIn(value string) (text string, ok bool) {
	if !strings.HasPrefix(value, `"`) {
		return "", false
	}
	return jsontext.Unescape(value[1 : len(value)-1]), true
}

// base64In is the data of media without line breaks, and without what stands before it in a data URL.
func base64In(text string) (data string, ok bool) {
	if url, isURL := strings.CutPrefix(text, "data:"); isURL {
		if head, data, has := strings.Cut(url, ","); has && strings.HasSuffix(strings.ToLower(head), ";base64") {
			text = data
		}
	}
	_, err := base64.StdEncoding.DecodeString(text)
	return strings.NewReplacer("\r", "", "\n", "").Replace(text), err == nil
}

// part is what the model reads of a block.
func (b *block) part(media bool) schema.ToolOutputPart {
	at := func(name string) string { return b.fields[name] }
	switch b.kind {
	case "text":
		return textPart(at("text"))
	case "image":
		return imagePart(b.data, kindOf(b.data, at("mimeType")), media)
	case "audio":
		return audioPart(b.data, kindOf(b.data, at("mimeType")), media)
	case "resource_link":
		text := at("title")
		if text == "" {
			text = at("name")
		}
		return textPart(say("link", words{URI: at("uri"), Text: text}))
	case "resource":
		return b.resource(media)
	}
	return textPart(b.raw)
}

// pictures are the kinds of images that providers take; they refuse the whole request for another one, and
// for one that is not what it is called.
var pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif"}

// kindOf is what media are: a picture by its first bytes, everything else by what the server calls it, if it
// does.
func kindOf(data, called string) string {
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 684)&^3]) // as much as tells
	is := http.DetectContentType(head)
	if called, _, _ = strings.Cut(strings.ToLower(called), ";"); called == "" || slices.Contains(pictures, is) {
		return is
	}
	return strings.TrimSpace(called)
}

func imagePart(data, is string, media bool) schema.ToolOutputPart {
	if !media || data == "" || !slices.Contains(pictures, is) {
		return textPart(say("image", words{Type: is, Bytes: sizeOf(data)}))
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: inline(data, is)}}
}

func audioPart(data, is string, media bool) schema.ToolOutputPart {
	if !media || data == "" {
		return textPart(say("audio", words{Type: is, Bytes: sizeOf(data)}))
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeAudio, Audio: &schema.ToolOutputAudio{MessagePartCommon: inline(data, is)}}
}

func (b *block) resource(media bool) schema.ToolOutputPart {
	uri := b.inner["uri"]
	if b.data == "" {
		return textPart(say("resource", words{URI: uri}) + "\n" + b.inner["text"])
	}
	is := kindOf(b.data, b.inner["mimeType"])
	switch {
	case !media, strings.HasPrefix(is, "image/") && !slices.Contains(pictures, is):
		return textPart(say("file", words{URI: uri, Type: is, Bytes: sizeOf(b.data)}))
	case slices.Contains(pictures, is):
		return imagePart(b.data, is, true)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{MessagePartCommon: inline(b.data, is)}}
}

// sizeOf is how many bytes base64 stands for.
func sizeOf(data string) int {
	return base64.StdEncoding.DecodedLen(len(data)) - strings.Count(data[max(0, len(data)-2):], "=")
}

func inline(data, mimeType string) schema.MessagePartCommon {
	return schema.MessagePartCommon{Base64Data: &data, MIMEType: mimeType}
}

// told is what the contents of a result tell, as values.
type told struct {
	values map[sum]int // in which part, counted from 1
	parts  []map[sum]bool
	blocks []sum // of the parts as they came
}

func newTold() *told { return &told{values: map[sum]int{}} }

// add notes what a block tells: itself, its text, the value that its text is, and its data.
func (t *told) add(b *block) {
	n := map[sum]bool{}
	note := func(s sum, ok bool) {
		if !ok {
			return
		}
		if n[s] = true; t.values[s] == 0 {
			t.values[s] = len(t.parts) + 1
		}
	}
	whole, ok := sumOf(b.raw)
	note(whole, ok)
	for _, text := range []string{b.fields["text"], b.inner["text"]} {
		if text != "" && b.kind != "" {
			note(sumOfString(text), true)
			note(sumOf(text))
		}
	}
	note(sumOfString(b.data), b.data != "" && b.kind != "")
	t.parts, t.blocks = append(t.parts, n), append(t.blocks, whole)
}

// rest is what the model reads of structured content: nothing, if the contents are the same value,
// and else the whole, in which the number of a part stands for a long value that this part is.
func (t *told) rest(value string) string {
	if t.is(value) {
		return ""
	}
	if name, inner, ok := onlyMember(value); ok && t.is(inner) {
		// Servers wrap what is no object, and the texts of their results, in an object.
		if isList := inner[0] == '[' || inner[0] == '{'; isList || name == "result" || name == "content" {
			return ""
		}
	}
	start, _, _ := strings.Cut(above(1), "1")
	if len(t.parts) == 0 || strings.Contains(value, start) { // a reference would not be known from that
		return value
	}
	return t.referring(value, 0)
}

// is reports whether a part is the value, or the parts are the elements of the list that it is. One
// text is no list of it.
func (t *told) is(value string) bool {
	s, ok := sumOf(value)
	if !ok || t.values[s] > 0 {
		return ok
	}
	if value[0] != '[' {
		return false
	}
	n, asTexts, asBlocks := 0, true, true
	for element := range elementsOf(value) {
		s, ok := sumOf(element)
		if !ok || n == len(t.parts) {
			return false
		}
		asTexts, asBlocks = asTexts && t.parts[n][s], asBlocks && t.blocks[n] == s
		n++
	}
	return n == len(t.parts) && (asBlocks && n > 0 || asTexts && n > 1)
}

func onlyMember(value string) (name, inner string, ok bool) {
	if value[0] != '{' {
		return "", "", false
	}
	n := 0
	for name, inner = range membersOf(value) {
		n++
	}
	return name, inner, n == 1
}

const (
	longValue     = 200 // bytes of a value for which the number of its part may stand
	mostReferring = 4   // levels in which such values are looked for
)

// above is the reference to a part.
func above(part int) string { return display.Quoted(say("above", words{Bytes: part})) }

// referring is a value in which references stand for the long values that parts are.
func (t *told) referring(value string, level int) string {
	if len(value) < longValue || level > mostReferring {
		return value
	}
	if s, ok := sumOf(value); ok && t.values[s] > 0 {
		return above(t.values[s])
	}
	var out strings.Builder
	changed := false
	write := func(name, inner string) {
		short := t.referring(inner, level+1)
		changed = changed || short != inner
		out.WriteString("," + name + short)
	}
	switch value[0] {
	case '{':
		for name, member := range membersOf(value) {
			write(display.Quoted(name)+":", member)
		}
	case '[':
		for element := range elementsOf(value) {
			write("", element)
		}
	}
	if !changed {
		return value
	}
	return value[:1] + out.String()[1:] + value[len(value)-1:]
}
