// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Nothing is cut: that is the job of package reduction, which keeps the original.

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// partsOf are the parts of a result, in their order. Without media only texts remain, and
// name the rest.
func partsOf(r *mcp.CallToolResult, media bool) []schema.ToolOutputPart {
	var parts []schema.ToolOutputPart
	for _, c := range r.Content {
		if part, ok := partOf(c, media); ok {
			parts = append(parts, part)
		}
	}
	if text, rounded := structured(r); text != "" {
		parts = append(parts, textPart(text))
		if rounded {
			parts = append(parts, textPart(say("rounded", words{})))
		}
	}
	if r.IsError {
		mark := errorMark()
		if len(parts) > 0 && parts[0].Type == schema.ToolPartTypeText {
			parts[0].Text = mark + parts[0].Text
		} else {
			parts = append([]schema.ToolOutputPart{textPart(mark)}, parts...)
		}
	}
	return parts
}

// textOf are the texts of a result, one below the other.
func textOf(r *mcp.CallToolResult) string {
	parts := partsOf(r, false)
	if len(parts) == 1 {
		return parts[0].Text
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

func textPart(s string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: s}
}

func partOf(c mcp.Content, media bool) (schema.ToolOutputPart, bool) {
	switch c := c.(type) {
	case *mcp.TextContent:
		return textPart(c.Text), true
	case *mcp.ImageContent:
		return imagePart(c.Data, c.MIMEType, media), true
	case *mcp.AudioContent:
		if !media {
			return textPart(say("audio", words{Type: c.MIMEType, Bytes: len(c.Data)})), true
		}
		return schema.ToolOutputPart{Type: schema.ToolPartTypeAudio, Audio: &schema.ToolOutputAudio{MessagePartCommon: inline(c.Data, c.MIMEType)}}, true
	case *mcp.ResourceLink:
		text := c.Title
		if text == "" {
			text = c.Name
		}
		return textPart(say("link", words{URI: c.URI, Text: text})), true
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			return resourcePart(c.Resource, media), true
		}
	}
	return schema.ToolOutputPart{}, false
}

func imagePart(data []byte, mimeType string, media bool) schema.ToolOutputPart {
	if !media {
		return textPart(say("image", words{Type: mimeType, Bytes: len(data)}))
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: inline(data, mimeType)}}
}

func resourcePart(r *mcp.ResourceContents, media bool) schema.ToolOutputPart {
	switch {
	case len(r.Blob) == 0:
		return textPart(say("resource", words{URI: r.URI}) + "\n" + r.Text)
	case !media:
		return textPart(say("file", words{URI: r.URI, Type: r.MIMEType, Bytes: len(r.Blob)}))
	case strings.HasPrefix(r.MIMEType, "image/"):
		return imagePart(r.Blob, r.MIMEType, true)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{MessagePartCommon: inline(r.Blob, r.MIMEType)}}
}

func inline(data []byte, mimeType string) schema.MessagePartCommon {
	text := base64.StdEncoding.EncodeToString(data)
	return schema.MessagePartCommon{Base64Data: &text, MIMEType: mimeType}
}

// structured is what the texts and media of a result leave out of its structured content; "" if
// that is nothing. Media data in it is named, as everywhere. The client reads numbers as float64:
// rounded reports whether some of them may have lost digits by that.
func structured(r *mcp.CallToolResult) (text string, rounded bool) {
	if r.StructuredContent == nil {
		return "", false
	}
	data, err := json.Marshal(r.StructuredContent)
	var value any
	if err != nil || json.Unmarshal(data, &value) != nil {
		return "", false
	}
	told := saidBy(r.Content)
	rest := told.rest(value)
	if told.is(value) || told.all(rest) {
		return "", false
	}
	rest, _ = withoutMedia(rest, "", told.media)
	if data, err = json.Marshal(rest); err != nil {
		return "", false
	}
	exact := eachLeaf(rest, func(leaf any) bool { f, is := leaf.(float64); return !is || math.Abs(f) < exactIntegers })
	return string(data), !exact
}

// exactIntegers is where float64 begins to leave integers out.
const exactIntegers = 1 << 53

// said is what the contents of a result say.
type said struct {
	texts  []string
	values []any           // of texts that are JSON
	leaves map[any]bool    // of these
	media  map[string]bool // media as base64
	work   int             // bytes that may still be searched
}

// maxSearched is how many bytes of texts are searched for what structured content holds.
const maxSearched = 1 << 28

func saidBy(contents []mcp.Content) *said {
	s := &said{leaves: map[any]bool{}, media: map[string]bool{}, work: maxSearched}
	text := func(t string) {
		s.texts = append(s.texts, t)
		var v any
		if json.Unmarshal([]byte(t), &v) == nil {
			s.values = append(s.values, v)
			eachLeaf(v, func(leaf any) bool { s.leaves[leaf] = true; return true })
		}
	}
	media := func(data []byte, words ...any) {
		s.media[base64.StdEncoding.EncodeToString(data)] = true
		for _, w := range words {
			s.leaves[w] = true
		}
	}
	for _, c := range contents {
		switch c := c.(type) {
		case *mcp.TextContent:
			text(c.Text)
		case *mcp.ImageContent:
			media(c.Data, "image", c.MIMEType)
		case *mcp.AudioContent:
			media(c.Data, "audio", c.MIMEType)
		case *mcp.ResourceLink:
			media(nil, "resource_link", c.URI, c.Name, c.Title, c.MIMEType)
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				text(c.Resource.Text)
				media(c.Resource.Blob, "resource", c.Resource.URI, c.Resource.MIMEType)
			}
		}
	}
	return s
}

// rest is a value without the members that a text is, and without those that only say beside
// them that there was no error.
func (s *said) rest(value any) any {
	members, isObject := value.(map[string]any)
	if !isObject {
		return value
	}
	rest := maps.Clone(members)
	maps.DeleteFunc(rest, func(_ string, v any) bool { return s.is(v) })
	if len(rest) < len(members) {
		maps.DeleteFunc(rest, func(name string, v any) bool { return v == true && (name == "success" || name == "ok") })
	}
	return rest
}

// is reports whether a text is the value.
func (s *said) is(value any) bool {
	text, isText := value.(string)
	return isText && text != "" && slices.Contains(s.texts, text) || slices.ContainsFunc(s.values, func(v any) bool { return reflect.DeepEqual(v, value) })
}

// all reports whether every text, number and truth value of a value is said.
func (s *said) all(value any) bool {
	leaves := 0
	return eachLeaf(value, func(leaf any) bool { leaves++; return s.says(leaf) }) && (leaves > 0 || len(s.texts) > 0)
}

func (s *said) says(leaf any) bool {
	text, isText := leaf.(string)
	if leaf == nil || s.leaves[leaf] || isText && (text == "" || s.media[text]) {
		return true
	}
	if !isText {
		data, _ := json.Marshal(leaf) // a number or a truth value
		text = string(data)
	}
	for _, t := range s.texts {
		if s.work -= len(t); s.work < 0 {
			return false
		}
		if hasWord(t, text) {
			s.leaves[leaf] = true
			return true
		}
	}
	return false
}

// hasWord reports whether a text contains another one, and not only as a part of a word or a
// number.
func hasWord(text, word string) bool {
	inWord := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		first, _ := utf8.DecodeRuneInString(word)
		last, size := utf8.DecodeLastRuneInString(word)
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !(inWord(before) && inWord(first)) && !(inWord(last) && inWord(after)) {
			return true
		}
		from = at + len(word) - size + 1
	}
}

// eachLeaf visits what a value of JSON holds besides lists and objects, until a visit returns
// false.
func eachLeaf(value any, visit func(any) bool) bool {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			if !eachLeaf(e, visit) {
				return false
			}
		}
	case map[string]any:
		for _, e := range v {
			if !eachLeaf(e, visit) {
				return false
			}
		}
	default:
		return visit(v)
	}
	return true
}

// leastMedia is how long a text is at least that is looked at as the data of media.
const leastMedia = 256

// withoutMedia returns a value in which lines of text name the data of media, and whether it
// differs. kind is the media type that stands beside the value.
func withoutMedia(value any, kind string, known map[string]bool) (named any, changed bool) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			var differs bool
			list[i], differs = withoutMedia(e, "", known)
			changed = changed || differs
		}
		return list, changed
	case map[string]any:
		object := make(map[string]any, len(v))
		for k, e := range v {
			beside := ""
			if k == "data" || k == "blob" {
				beside, _ = v["mimeType"].(string)
			}
			var differs bool
			object[k], differs = withoutMedia(e, beside, known)
			changed = changed || differs
		}
		return object, changed
	case string:
		if name := mediaName(v, kind, known); name != "" {
			return name, true
		}
	}
	return value, false
}

// mediaName names a text that is the data of media; "" for any other.
func mediaName(text, kind string, known map[string]bool) string {
	if rest, is := strings.CutPrefix(text, "data:"); is {
		if typ, data, is := strings.Cut(rest, ";base64,"); is {
			kind, text = typ, data
		}
	}
	data := []byte(nil)
	if len(text) >= leastMedia || kind != "" || known[text] {
		data, _ = base64.StdEncoding.DecodeString(text)
	}
	if len(data) == 0 {
		return ""
	}
	if kind == "" {
		kind, _, _ = strings.Cut(http.DetectContentType(data), ";")
		if !known[text] && (kind == "text/plain" || kind == "application/octet-stream") {
			return ""
		}
	}
	name, _, _ := strings.Cut(kind, "/")
	if name != "image" && name != "audio" {
		name = "file"
	}
	return say(name, words{Type: kind, Bytes: len(data)})
}
