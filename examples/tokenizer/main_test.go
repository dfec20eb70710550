// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

func TestDefaultCounter_IsWithinATenthOfTokenizer(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out))
	var before [2]float64
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var name string
		_, err := fmt.Sscanf(line, "%s %f tokens", &name, &before[i])
		require.NoError(t, err, line)
	}
	require.InEpsilon(t, before[0], before[1], .1, out.String())
}

func TestCounter_CountsEverythingTheModelReads(t *testing.T) {
	c, err := newCounter()
	require.NoError(t, err)
	hello, err := c.Count(context.Background(), []*schema.Message{schema.UserMessage("hello world")}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 4+2, hello)
	for name, m := range map[string]*schema.Message{
		"reasoning": {Role: schema.Assistant, ReasoningContent: "hello world"},
		"parts":     {Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: "hello world"}}},
	} {
		n, err := c.Count(context.Background(), []*schema.Message{m}, nil)
		require.NoError(t, err)
		require.Equal(t, hello, n, name)
	}
	called, err := c.Count(context.Background(), []*schema.Message{schema.AssistantMessage("", []schema.ToolCall{{Function: schema.FunctionCall{Name: "hello", Arguments: " world"}}})}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 4+4+2, called)
	defined, err := c.Count(context.Background(), nil, []*schema.ToolInfo{{Name: "hello", Desc: "world", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"a": {Type: schema.String}})}})
	require.NoError(t, err)
	require.Greater(t, defined, int64(10))
	again, err := c.Count(context.Background(), []*schema.Message{schema.UserMessage("hello world")}, nil)
	require.NoError(t, err)
	require.Equal(t, hello, again)
}
