// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file puts what a provider's own search left in a message into a form that a
// checkpoint can hold, and back. Eino cannot store the adapters' types: it fails on the
// raw JSON in them, and a run that waits for a person would end.

import (
	"maps"
	"reflect"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/schema"
)

// claudeEventsType is the type of what the claude adapter keeps under claudeEventsKey, once
// one has been seen. The adapter takes no other; without it the events are lost, and the
// model searches again.
var claudeEventsType atomic.Pointer[reflect.Type]

func (plain) pack(m *schema.Message) *schema.Message {
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

func (plain) unpack(m *schema.Message) *schema.Message {
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

func (agentic) pack(m *schema.AgenticMessage) *schema.AgenticMessage {
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
func (agentic) unpack(m *schema.AgenticMessage) *schema.AgenticMessage {
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
// message if none is.
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
