// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers in health: what they offer, what their tools answer, and what the model reads of it.

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
)

var ctx = context.Background()

// ways are the ways to reach a server.
func ways(t testing.TB) map[string]Server {
	return map[string]Server{
		"stdio":  child(t, "yes"),
		"http":   {URL: newFixture().web(t, nil).URL},
		"memory": newFixture().inMemory(),
	}
}

func TestServers_ToolsOfEveryTransportRun(t *testing.T) {
	var events recorder
	s := open(t, ways(t), Options{OnEvent: events.record})
	names := namesIn(t, ctx, s)
	for _, way := range []string{"http", "memory", "stdio"} {
		require.Contains(t, names, way+"__echo")
		require.Equal(t, "hello", ask(t, ctx, s, way+"__echo", `{"text":"hello"}`))
		st := statusOf(s, way)
		require.Equal(t, StateUp, st.State)
		require.Equal(t, 11, st.Tools)
		require.NotEmpty(t, st.Protocol)
		require.NoError(t, st.Err)
	}
	require.True(t, strings.HasPrefix(names[0], "http__"), "servers are in alphabetical order")
	require.Len(t, events.of(einolean.KindServerUp), 3)
	listed := events.wait(t, einolean.KindServerListed, 3)
	require.Len(t, listed, 3)
	require.Equal(t, 11, listed[0].Tools.AddedCount)
	require.Len(t, listed[0].Tools.Added, 11)
	require.Positive(t, listed[0].Tools.Tokens)
}

//claim:mcp-15
func TestTools_SameSetWhileNothingChanges(t *testing.T) {
	s := open(t, ways(t), Options{})
	one := toolsOf(t, ctx, s)
	require.Equal(t, "x", ask(t, ctx, s, "http__echo", `{"text":"x"}`))
	require.Contains(t, ask(t, ctx, s, "http__fail", `{}`), "error: ", "its list is read again, and is the same")
	two := toolsOf(t, ctx, s)
	require.Same(t, one, two)
}

//claim:mcp-16
func TestCall_EveryOutcomeIsAnAnswer(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{})
			require.Equal(t, "error: it does not work: today", ask(t, ctx, s, "srv__fail", `{"text":"today"}`))
			require.Contains(t, ask(t, ctx, s, "srv__protocol_error", `{}`), "error: ")
			require.Contains(t, ask(t, ctx, s, "srv__protocol_error", `{}`), "the handler broke")
			require.Contains(t, ask(t, ctx, s, "srv__echo", `{"text":`), "not a JSON object")
			require.Contains(t, ask(t, ctx, s, "srv__echo", `[1]`), "not a JSON object")
			require.Equal(t, "", ask(t, ctx, s, "srv__echo", ""))
			require.Equal(t, "", ask(t, ctx, s, "srv__echo", "null"))
			gone := find(t, ctx, s, "srv__remove_tool")
			require.Equal(t, "removed remove_tool", ask(t, ctx, s, "srv__remove_tool", `{"text":"remove_tool"}`))
			answer, _, err := gone.(*textTool).call(ctx, `{}`)
			require.NoError(t, err)
			require.Nil(t, answer)
			require.NotContains(t, namesIn(t, ctx, s), "srv__remove_tool")
		})
	}
}

// A tool that a call makes available is there in the next model call, and one that it
// removes is not.
func TestTools_ListsChangesOfACallAtOnce(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{MaxWait: 1e10})
			for i := range 20 {
				name := "made_" + strings.Repeat("i", i)
				ask(t, ctx, s, "srv__add_tool", `{"text":"`+name+`"}`)
				require.Contains(t, namesIn(t, ctx, s), "srv__"+name)
				require.Equal(t, "ran "+name, ask(t, ctx, s, "srv__"+name, `{}`))
				ask(t, ctx, s, "srv__remove_tool", `{"text":"`+name+`"}`)
				require.NotContains(t, namesIn(t, ctx, s), "srv__"+name)
			}
		})
	}
}

func allText(all ...string) (c []mcp.Content) {
	for _, s := range all {
		c = append(c, &mcp.TextContent{Text: s})
	}
	return c
}

func TestResult_AsText(t *testing.T) {
	for what, c := range map[string]struct {
		r    mcp.CallToolResult
		want string
	}{
		"nothing":             {mcp.CallToolResult{}, ""},
		"a text":              {mcp.CallToolResult{Content: allText(" as it is \n")}, " as it is \n"},
		"texts":               {mcp.CallToolResult{Content: allText("a", "b")}, "a\nb"},
		"an error":            {mcp.CallToolResult{Content: allText("no"), IsError: true}, "error: no"},
		"an error of nothing": {mcp.CallToolResult{IsError: true}, "error: "},
		"an image":            {mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}}}, "[image, image/png, 3 bytes]"},
		"audio":               {mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: []byte("wav"), MIMEType: "audio/wav"}}}, "[audio, audio/wav, 3 bytes]"},
		"a link":              {mcp.CallToolResult{Content: []mcp.Content{&mcp.ResourceLink{URI: "file:///a", Name: "a"}}}, "[link file:///a: a]"},
		"a resource":          {mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", Text: "body"}}}}, "[resource file:///a]\nbody"},
		"a file":              {mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", MIMEType: "application/pdf", Blob: []byte("pdf")}}}}, "[file file:///a, application/pdf, 3 bytes]"},
		"structure alone":     {mcp.CallToolResult{StructuredContent: map[string]any{"a": 1.0}}, `{"a":1}`},
		"structure said":      {mcp.CallToolResult{Content: allText("{\"a\": 1}\n"), StructuredContent: map[string]any{"a": 1.0}}, "{\"a\": 1}\n"},
		"structure besides":   {mcp.CallToolResult{Content: allText("one thing"), StructuredContent: map[string]any{"a": 1.0}}, "one thing\n{\"a\":1}"},
		"an empty resource":   {mcp.CallToolResult{Content: []mcp.Content{&mcp.EmbeddedResource{}}}, `{"type":"resource"}`},
	} {
		require.Equal(t, c.want, textOf(&c.r), what)
	}
}

func TestResult_WithMedia(t *testing.T) {
	png, wav, pdf := []byte("png"), []byte("wav"), []byte("pdf")
	r := &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "look"},
		&mcp.ImageContent{Data: png, MIMEType: "image/png"},
		&mcp.AudioContent{Data: wav, MIMEType: "audio/wav"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:/1", MIMEType: "image/png", Blob: png}},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:/2", MIMEType: "application/pdf", Blob: pdf}},
		&mcp.ResourceLink{URI: "x:/3", Title: "T"},
	}}
	f := newFixture()
	f.add(&mcp.Tool{Name: "look", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) { return r, nil })
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{Media: true})
	x := find(t, ctx, s, "srv__look").(tool.EnhancedInvokableTool)
	got, err := x.InvokableRun(ctx, &schema.ToolArgument{Text: "{}"})
	require.NoError(t, err)
	part := func(data []byte, typ string) schema.MessagePartCommon {
		b := base64.StdEncoding.EncodeToString(data)
		return schema.MessagePartCommon{Base64Data: &b, MIMEType: typ}
	}
	require.Equal(t, []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: "look"},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: part(png, "image/png")}},
		{Type: schema.ToolPartTypeAudio, Audio: &schema.ToolOutputAudio{MessagePartCommon: part(wav, "audio/wav")}},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: part(png, "image/png")}},
		{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{MessagePartCommon: part(pdf, "application/pdf")}},
		{Type: schema.ToolPartTypeText, Text: "[link x:/3: T]"},
	}, got.Parts)

	fail := find(t, ctx, s, "srv__fail").(tool.EnhancedInvokableTool)
	got, err = fail.InvokableRun(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, "error: it does not work: ", got.Parts[0].Text)
	require.NoError(t, s.Close())
	got, err = fail.InvokableRun(ctx, nil)
	require.NoError(t, err)
	require.Contains(t, got.Parts[0].Text, "shutting down")
	require.Equal(t, "error: ", partsOf(&mcp.CallToolResult{IsError: true, Content: r.Content[1:2]}, true)[0].Text)
}

// Every answer exists in both languages, and uses the same values.
func TestAnswers_ExistInBothLanguages(t *testing.T) {
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	w := answerData{Server: "SRV", Time: "14:02", Limit: "1m0s", Text: "TEXT", Type: "TYPE", URI: "URI", Bytes: 77}
	require.Equal(t, answers.English().Names(), answers.Chinese().Names())
	for _, name := range answers.English().Names() {
		require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
		en := answerText(name, w)
		require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
		zh := answerText(name, w)
		require.NotEqual(t, en, zh, name)
		for _, value := range []string{"SRV", "14:02", "1m0s", "TEXT", "TYPE", "URI", "77"} {
			require.Equal(t, strings.Contains(en, value), strings.Contains(zh, value), "%s: %s", name, value)
		}
	}
}

// A result of 20 MB arrives whole, whatever the way.
// A message that is over the limit is an answer that says so, and costs its connection only.
// Between the loss of a session and its reason there is neither.
func TestCall_WithoutSessionAlwaysHasAnError(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	l := &link{ctx: t.Context(), changes: make(chan struct{}), lastFail: time.Now()}
	s, err := l.waitSession(ended)
	require.Nil(t, s)
	require.ErrorIs(t, err, context.Canceled)
}

//claim:security-59
func TestMessage_OverTheLimitEndsItsConnection(t *testing.T) {
	defer func(most int) { maxMessage = most }(maxMessage)
	maxMessage = 128 << 10
	for way, server := range ways(t) {
		if way == "memory" {
			continue // the client's pipe has a limit of its own
		}
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server, "other": newFixture().inMemory()}, Options{})
			answer := ask(t, ctx, s, "srv__big", fmt.Sprintf(`{"n":%d}`, 3*maxMessage))
			require.Contains(t, answer, "error: ")
			require.Less(t, len(answer), 1000)
			require.Equal(t, "x", ask(t, ctx, s, "other__echo", `{"text":"x"}`))
			until(t, "it is back", func() bool { return ask(t, ctx, s, "srv__big", `{"n":1000}`) == bigText(1000) })
		})
	}
}

//claim:mcp-38
func TestResult_HugeOneArrivesWhole(t *testing.T) {
	size := race.Cases(8 << 20)
	want := bigText(size)
	for way, server := range ways(t) {
		if way == "memory" {
			continue // the client's pipe has a limit of its own
		}
		server.Timeout = time.Hour
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{})
			got := ask(t, ctx, s, "srv__big", fmt.Sprintf(`{"n":%d}`, size))
			require.Len(t, got, len(want))
			require.True(t, got == want)
		})
	}
}

// A program is ready when all its servers are, and until then a readiness check says which is not.
func TestWait_NamesServersThatAreNotReady(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	servers := map[string]Server{"late": {Command: self, Env: map[string]string{stdioMode: "late"}}}
	now, cancel := context.WithCancel(t.Context())
	cancel() // Open does not wait
	s, err := Open(now, servers, Options{})
	require.NoError(t, err)
	require.ErrorContains(t, s.Wait(now), `"late" is not ready`)
	require.NoError(t, s.Wait(t.Context()))
	require.Positive(t, statusOf(s, "late").Tools)
	require.NoError(t, s.Wait(t.Context()), "at once")
	require.NoError(t, s.Close())

	servers["broken"] = Server{Command: self, Env: map[string]string{stdioMode: "broken"}}
	s, err = Open(t.Context(), servers, Options{})
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = s.Wait(short)
	require.ErrorContains(t, err, `"broken" is not ready`)
	require.ErrorContains(t, err, "no license file found", "it says why")
	require.NotContains(t, err.Error(), "late")
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Wait(t.Context()), errClosed)
}

// Without a user in the context, Wait waits for the servers that all share, and with one for the user's.
func TestWait_WaitsForTheUsersServers(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := Open(t.Context(), map[string]Server{
		"all": {Command: self, Env: map[string]string{stdioMode: "late"}, Shared: true},
		"own": {Command: self, Env: map[string]string{stdioMode: "broken"}},
	}, Options{User: userOf})
	require.NoError(t, err)
	defer func() { _ = s.Close() }()
	require.NoError(t, s.Wait(t.Context()))
	short, cancel := context.WithTimeout(as("ada"), 200*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, s.Wait(short), `"own" is not ready`)
}
