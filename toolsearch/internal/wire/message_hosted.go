// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wire

// The traces of a provider's own search in a message, read and converted to a form that a
// checkpoint can hold. Eino cannot store the adapters' types: it fails on the raw JSON in
// them, and a run that waits for a person would end.

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/schema"
)

// jsonOf is a value as JSON, or the text that replaces it while a run may stop.
func jsonOf(v any) (string, error) {
	if text, packed := v.(string); packed {
		return text, nil
	}
	return sonic.ConfigStd.MarshalToString(v)
}

// referredInEvents returns the tools that the events of claude's hosted search refer to.
func referredInEvents(events any) []string {
	var list []struct {
		Content struct {
			ToolReferences []struct{ ToolName string }
		}
	}
	names := []string{}
	if text, err := jsonOf(events); err != nil || sonic.ConfigStd.UnmarshalFromString(text, &list) != nil {
		return names
	}
	for _, ev := range list {
		for _, ref := range ev.Content.ToolReferences {
			names = append(names, ref.ToolName)
		}
	}
	return names
}

// hostedSearch reports whether a value of an adapter's own type is the call or the result
// of a search that the provider ran, and which tools it refers to.
func hostedSearch(v any) (names []string, ok bool) {
	text, err := jsonOf(v)
	if err != nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if sonic.ConfigStd.UnmarshalFromString(text, &fields) != nil {
		return nil, false
	}
	for key, value := range fields {
		if strings.HasPrefix(key, "tool_search") {
			names, ok = append(names, referred(value)...), true
		}
	}
	return names, ok
}

// referred returns the tools in a result of agenticopenai's or agenticclaude's hosted search.
func referred(result []byte) (names []string) {
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		SearchResult struct {
			References []struct {
				Name string `json:"tool_name"`
			} `json:"tool_references"`
		} `json:"search_result"`
	}
	if sonic.ConfigStd.Unmarshal(result, &r) != nil {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, t := range r.SearchResult.References {
		names = append(names, t.Name)
	}
	return names
}

// claudeEventsType is the type of the claude adapter's value under claudeEventsKey, once one
// has been seen. The adapter accepts no other; without it the events are lost, and the model
// searches again.
var claudeEventsType atomic.Pointer[reflect.Type]

func (plain) Pack(m *schema.Message) *schema.Message {
	if m == nil || m.Role != schema.Assistant || m.Extra[claudeEventsKey] == nil {
		return m
	}
	events := m.Extra[claudeEventsKey]
	text, err := sonic.ConfigStd.MarshalToString(events)
	if _, packed := events.(string); packed || err != nil {
		return m
	}
	typ := reflect.TypeOf(events)
	claudeEventsType.Store(&typ)
	return withEvents(m, text)
}

func (plain) Unpack(m *schema.Message) *schema.Message {
	if m == nil {
		return m
	}
	text, packed := m.Extra[claudeEventsKey].(string)
	typ := claudeEventsType.Load()
	if !packed || typ == nil {
		return m
	}
	events := reflect.New(*typ)
	if sonic.ConfigStd.UnmarshalFromString(text, events.Interface()) != nil {
		return m
	}
	return withEvents(m, events.Elem().Interface())
}

func withEvents(m *schema.Message, events any) *schema.Message {
	c := *m
	c.Extra = maps.Clone(m.Extra)
	c.Extra[claudeEventsKey] = events
	return &c
}

func (agentic) Pack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		if _, packed := v.(string); packed {
			return nil, false
		}
		if _, hosted := hostedSearch(v); !hosted {
			return nil, false
		}
		text, err := sonic.ConfigStd.MarshalToString(v)
		return text, err == nil
	})
}

// unpack makes a map, which the adapters read as well as their own types.
func (agentic) Unpack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		text, packed := v.(string)
		if _, hosted := hostedSearch(v); !packed || !hosted {
			return nil, false
		}
		var fields map[string]any
		err := sonic.ConfigStd.UnmarshalFromString(text, &fields)
		return fields, err == nil
	})
}

// convertHosted returns a copy in which the values of server tools are converted; the same
// message if there are none.
func convertHosted(m *schema.AgenticMessage, convert func(any) (any, bool)) *schema.AgenticMessage {
	if m == nil {
		return m
	}
	c := m
	for i, b := range m.ContentBlocks {
		next := convertBlock(b, convert)
		if next == b {
			continue
		}
		if c == m {
			own := *m
			own.ContentBlocks = append([]*schema.ContentBlock(nil), m.ContentBlocks...)
			c = &own
		}
		c.ContentBlocks[i] = next
	}
	return c
}

func convertBlock(b *schema.ContentBlock, convert func(any) (any, bool)) *schema.ContentBlock {
	switch {
	case b == nil:
	case b.ServerToolCall != nil:
		if v, ok := convert(b.ServerToolCall.Arguments); ok {
			c, own := *b, *b.ServerToolCall
			own.Arguments, c.ServerToolCall = v, &own
			return &c
		}
	case b.ServerToolResult != nil:
		if v, ok := convert(b.ServerToolResult.Content); ok {
			c, own := *b, *b.ServerToolResult
			own.Content, c.ServerToolResult = v, &own
			return &c
		}
	}
	return b
}
