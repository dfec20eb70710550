// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The one place that decides what a server's result is. Nothing is truncated: that is the job of package
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

// result is the answer of a server to a call, in its own JSON.
type result struct {
	raw               string
	contents          []string // blocks
	structuredContent []string // one, unless the member repeats
	unknownMembers    []string // members that the protocol does not have
	meta              string   // JSON of an object; "" if none is kept
	isError           bool
	kind              string // JSON; "" if it has none
	requests, state   string // of a result that needs input: JSON, and a text
}

// The types of results. One that has none is complete.
const (
	kindComplete   = `"complete"`
	kindNeedsInput = `"input_required"`
)

// readResult reads a result, which is valid JSON.
func readResult(whole string) (*result, error) {
	if !strings.HasPrefix(whole, "{") {
		return nil, fmt.Errorf("a result that is not an object: %s", display.Short(whole, 200))
	}
	r := &result{raw: whole}
	for name, value := range membersOf(whole) {
		switch {
		case name == "_meta":
			r.meta = parseMeta(value)
		case value == "null":
		case name == "content" && value[0] == '[':
			r.contents = slices.AppendSeq(r.contents, elementsOf(value))
		case name == "content":
			r.contents = append(r.contents, value)
		case name == "structuredContent":
			r.structuredContent = append(r.structuredContent, value)
		case name == "isError":
			r.isError = r.isError || !slices.Contains([]string{"false", "0", `""`, `"false"`}, value)
		case name == "resultType":
			r.kind = value
		case name == "inputRequests":
			r.requests = value
		case name == "requestState":
			r.state, _ = parseString(value)
		default:
			r.unknownMembers = append(r.unknownMembers, display.Quoted(name)+":"+value)
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

// maxResultMeta limits the stored size of a result's _meta, because it stays in the history.
const maxResultMeta = 64 << 10

// parseMeta returns the part of a result's _meta that is kept. It copies, since the result may be
// long. It leaves out the server's name, which new servers repeat in each result.
func parseMeta(value string) string {
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

// toolResult returns the result with media, for an enhanced tool.
func (r *result) toolResult() *schema.ToolResult {
	parts := r.parts(true)
	if len(parts) > 0 && r.meta != "" {
		parts[0].Extra = map[string]any{ResultMetaKey: r.meta}
	}
	return &schema.ToolResult{Parts: parts}
}

// needsInput reports whether the server asks for input before it can return a result.
func (r *result) needsInput() bool { return r.kind == kindNeedsInput }

// isKnown reports whether it is of a type that this package can read.
func (r *result) isKnown() bool {
	return r.kind == "" || r.kind == kindComplete || r.kind == kindNeedsInput
}

// parts returns the content for the model, in the order of the result. Without media, texts describe images and
// audio.
func (r *result) parts(media bool) []schema.ToolOutputPart {
	if !r.isKnown() {
		return []schema.ToolOutputPart{textPart(answerText("kind", answerData{Type: r.kind})), textPart(r.raw)}
	}
	var parts []schema.ToolOutputPart
	index := newContentIndex()
	for _, content := range r.contents {
		if b := readBlock(content); b != nil {
			parts = append(parts, b.part(media))
			if len(r.structuredContent) > 0 {
				index.add(b)
			}
		}
	}
	for _, value := range r.structuredContent {
		if text := index.remainder(value); text != "" {
			parts = append(parts, textPart(text))
		}
	}
	if len(r.unknownMembers) > 0 {
		parts = append(parts, textPart("{"+strings.Join(r.unknownMembers, ",")+"}"))
	}
	if r.isError {
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
	raw            string
	kind           string            // "" if it cannot be read as what it says that it is
	fields         map[string]string // its texts
	data           string            // media as base64
	resourceFields map[string]string // the texts of the resource in it
}

// readBlock reads a content block; nil if it is null. A block that cannot be read is passed on
// unchanged.
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
		b.data, ok = parseBase64(fields["data"])
	case "resource_link":
		_, ok = fields["uri"]
	case "resource":
		if b.resourceFields, _, ok = fieldsOf(objects["resource"]); ok {
			_, hasText := b.resourceFields["text"]
			b.data, ok = parseBase64(b.resourceFields["blob"])
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
		text, isText := parseString(value)
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

// parseString returns the text of a JSON string; ok is false for other values.
func parseString(value string) (text string, ok bool) {
	if !strings.HasPrefix(value, `"`) {
		return "", false
	}
	return jsontext.Unescape(value[1 : len(value)-1]), true
}

// parseBase64 returns base64 data without line breaks, and without the header of a data URL.
func parseBase64(text string) (data string, ok bool) {
	if url, isURL := strings.CutPrefix(text, "data:"); isURL {
		if head, data, isDataURL := strings.Cut(url, ","); isDataURL && strings.HasSuffix(strings.ToLower(head), ";base64") {
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
		return imagePart(b.data, mediaType(b.data, at("mimeType")), media)
	case "audio":
		return audioPart(b.data, mediaType(b.data, at("mimeType")), media)
	case "resource_link":
		text := at("title")
		if text == "" {
			text = at("name")
		}
		return textPart(answerText("link", answerData{URI: at("uri"), Text: text}))
	case "resource":
		return b.resourcePart(media)
	}
	return textPart(b.raw)
}

// imageTypes are the media types of images that providers accept. They reject the whole request for
// another type, and for an image whose declared type is wrong.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif"}

// mediaType returns the type of media: from the first bytes for images, otherwise the declared type if
// there is one.
func mediaType(data, declared string) string {
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 684)&^3]) // enough to detect the type
	detected := http.DetectContentType(head)
	if declared, _, _ = strings.Cut(strings.ToLower(declared), ";"); declared == "" || slices.Contains(imageTypes, detected) {
		return detected
	}
	return strings.TrimSpace(declared)
}

func imagePart(data, mimeType string, media bool) schema.ToolOutputPart {
	if !media || data == "" || !slices.Contains(imageTypes, mimeType) {
		return textPart(answerText("image", answerData{Type: mimeType, Bytes: decodedSize(data)}))
	}
	return schema.ToolOutputPart{
		Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: inline(data, mimeType)},
	}
}

func audioPart(data, mimeType string, media bool) schema.ToolOutputPart {
	if !media || data == "" {
		return textPart(answerText("audio", answerData{Type: mimeType, Bytes: decodedSize(data)}))
	}
	return schema.ToolOutputPart{
		Type: schema.ToolPartTypeAudio, Audio: &schema.ToolOutputAudio{MessagePartCommon: inline(data, mimeType)},
	}
}

func (b *block) resourcePart(media bool) schema.ToolOutputPart {
	uri := b.resourceFields["uri"]
	if b.data == "" {
		return textPart(answerText("resource", answerData{URI: uri}) + "\n" + b.resourceFields["text"])
	}
	mimeType := mediaType(b.data, b.resourceFields["mimeType"])
	switch {
	case !media, strings.HasPrefix(mimeType, "image/") && !slices.Contains(imageTypes, mimeType):
		return textPart(answerText("file", answerData{URI: uri, Type: mimeType, Bytes: decodedSize(b.data)}))
	case slices.Contains(imageTypes, mimeType):
		return imagePart(b.data, mimeType, true)
	}
	return schema.ToolOutputPart{
		Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{MessagePartCommon: inline(b.data, mimeType)},
	}
}

// decodedSize returns the size of decoded base64 data.
func decodedSize(data string) int {
	return base64.StdEncoding.DecodedLen(len(data)) - strings.Count(data[max(0, len(data)-2):], "=")
}

func inline(data, mimeType string) schema.MessagePartCommon {
	return schema.MessagePartCommon{Base64Data: &data, MIMEType: mimeType}
}

// contentIndex holds hashes of the values in a result's content, to find duplicates in its structured
// content.
type contentIndex struct {
	partByValue map[valueHash]int // in which part, counted from 1
	parts       []map[valueHash]bool
	blocks      []valueHash // of the parts as they came
}

func newContentIndex() *contentIndex { return &contentIndex{partByValue: map[valueHash]int{}} }

// add adds the values of a block: the block itself, its text, the JSON in its text, and its data.
func (x *contentIndex) add(b *block) {
	n := map[valueHash]bool{}
	note := func(s valueHash, ok bool) {
		if !ok {
			return
		}
		if n[s] = true; x.partByValue[s] == 0 {
			x.partByValue[s] = len(x.parts) + 1
		}
	}
	hash, ok := hashJSON(b.raw)
	note(hash, ok)
	for _, text := range []string{b.fields["text"], b.resourceFields["text"]} {
		if text != "" && b.kind != "" {
			note(hashString(text), true)
			note(hashJSON(text))
		}
	}
	note(hashString(b.data), b.data != "" && b.kind != "")
	x.parts, x.blocks = append(x.parts, n), append(x.blocks, hash)
}

// remainder returns the part of structured content that the model must read in addition: nothing if
// the content holds the same value, otherwise all of it, with references in place of long values that
// a part already holds.
func (x *contentIndex) remainder(value string) string {
	if x.contains(value) {
		return ""
	}
	if name, inner, ok := onlyMember(value); ok && x.contains(inner) {
		// Servers wrap what is no object, and the texts of their results, in an object.
		if isList := inner[0] == '[' || inner[0] == '{'; isList || name == "result" || name == "content" {
			return ""
		}
	}
	start, _, _ := strings.Cut(partReference(1), "1")
	if len(x.parts) == 0 || strings.Contains(value, start) { // a reference would not be known from that
		return value
	}
	return x.insertReferences(value, 0)
}

// contains reports whether a part equals the value, or the parts are the elements of the list. A
// single text does not count as a list.
func (x *contentIndex) contains(value string) bool {
	s, ok := hashJSON(value)
	if !ok || x.partByValue[s] > 0 {
		return ok
	}
	if value[0] != '[' {
		return false
	}
	n, asTexts, asBlocks := 0, true, true
	for element := range elementsOf(value) {
		s, ok := hashJSON(element)
		if !ok || n == len(x.parts) {
			return false
		}
		asTexts, asBlocks = asTexts && x.parts[n][s], asBlocks && x.blocks[n] == s
		n++
	}
	return n == len(x.parts) && (asBlocks && n > 0 || asTexts && n > 1)
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
	longValue         = 200 // bytes of a value for which the number of its part may stand
	maxReferenceDepth = 4   // levels in which such values are looked for
)

// partReference returns the text that refers to a part.
func partReference(part int) string {
	return display.Quoted(answerText("above", answerData{Bytes: part}))
}

// insertReferences replaces long values that a part already holds by references.
func (x *contentIndex) insertReferences(value string, level int) string {
	if len(value) < longValue || level > maxReferenceDepth {
		return value
	}
	if s, ok := hashJSON(value); ok && x.partByValue[s] > 0 {
		return partReference(x.partByValue[s])
	}
	var out strings.Builder
	changed := false
	write := func(name, inner string) {
		short := x.insertReferences(inner, level+1)
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
