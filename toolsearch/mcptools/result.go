// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file turns what a server returned into what a model reads. Nothing is cut: that is
// the job of package reduction, which keeps the original.

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"

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
	if text, ok := structured(r); ok {
		parts = append(parts, textPart(text))
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

// structured is the structured content of a result, where no text says the same.
func structured(r *mcp.CallToolResult) (string, bool) {
	if r.StructuredContent == nil {
		return "", false
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return "", false
	}
	var same any
	for _, c := range r.Content {
		t, ok := c.(*mcp.TextContent)
		if ok && len(t.Text) > 0 && json.Unmarshal([]byte(t.Text), &same) == nil && reflect.DeepEqual(same, plain(data)) {
			return "", false
		}
		same = nil
	}
	return string(data), true
}

func plain(data []byte) (v any) {
	_ = json.Unmarshal(data, &v) // it was marshalled a moment ago
	return v
}
