// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Lists that lie, that never end, and that are full of traps.

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

// listing makes a server whose lists are what pages returns.
func listing(pages func(cursor string) (*mcp.ListToolsResult, error)) *fixture {
	f := newFixture()
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, r)
			}
			cursor := ""
			if p, ok := r.GetParams().(*mcp.ListToolsParams); ok && p != nil {
				cursor = p.Cursor
			}
			return pages(cursor)
		}
	})
	return f
}

func named(names ...string) *mcp.ListToolsResult {
	r := &mcp.ListToolsResult{Tools: []*mcp.Tool{}}
	for _, n := range names {
		r.Tools = append(r.Tools, &mcp.Tool{Name: n, InputSchema: object("")})
	}
	return r
}

//claim:mcp-28
func TestList_BadToolIsRejectedOthersStay(t *testing.T) {
	var events recorder
	huge := strings.Repeat("x", maxDefinition)
	f := listing(func(string) (*mcp.ListToolsResult, error) {
		r := named("good", "twice", "twice", "also_good")
		r.Tools = append(r.Tools,
			&mcp.Tool{Name: "text_schema", InputSchema: "object"},
			&mcp.Tool{Name: "list_schema", InputSchema: []any{}},
			&mcp.Tool{Name: "array_schema", InputSchema: map[string]any{"type": "array"}},
			&mcp.Tool{Name: "odd_schema", InputSchema: map[string]any{"type": "object", "properties": 5}},
			&mcp.Tool{Name: "huge", Description: huge, InputSchema: object("")},
			&mcp.Tool{Name: "no_schema"},
		)
		return r, nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{OnEvent: events.record})
	require.Equal(t, []string{"srv__good", "srv__twice", "srv__also_good", "srv__list_schema", "srv__odd_schema", "srv__no_schema"}, namesIn(t, ctx, s))
	refused := map[string]string{}
	for _, e := range events.of(einolean.KindToolRefused) {
		refused[e.Tool] = e.Err.Error()
		require.Equal(t, "srv", e.Server)
	}
	require.Len(t, refused, 4)
	require.Contains(t, refused["twice"], "twice")
	require.Contains(t, refused["array_schema"], "array")
	require.Contains(t, refused["huge"], "bytes")
	require.Equal(t, 4, statusOf(s, "srv").Skipped)
	require.ErrorContains(t, statusOf(s, "srv").SkippedErr, "bytes")
	before := len(events.of(einolean.KindToolRefused))
	ask(t, ctx, s, "srv__good", `{}`)
	namesIn(t, ctx, s)
	require.Len(t, events.of(einolean.KindToolRefused), before, "told once")
}

// An event names tools in the order of the list, also those that it no longer has.
func TestList_EventNamesRemovedToolsInOrder(t *testing.T) {
	var events recorder
	var names []string
	for i := range 2 * maxEventNames {
		names = append(names, fmt.Sprint("tool", i))
	}
	var gone atomic.Bool
	f := listing(func(string) (*mcp.ListToolsResult, error) {
		if gone.Load() {
			return named("tool0"), nil
		}
		return named(names...), nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{OnEvent: events.record})
	before := namesIn(t, ctx, s)
	gone.Store(true)
	ask(t, ctx, s, "srv__tool0", `{}`)
	require.Len(t, namesIn(t, ctx, s), 1)
	change := events.wait(t, einolean.KindServerListed, 2)[1].Tools
	require.Equal(t, len(names)-1, change.RemovedCount)
	require.Equal(t, before[1:maxEventNames+1], change.Removed)
}

//claim:mcp-27 security-60
func TestList_UnusableListKeepsTheLastOne(t *testing.T) {
	defer func(most int) { maxTools = most }(maxTools)
	maxTools = 100
	var bad func(cursor string) (*mcp.ListToolsResult, error)
	for what, pages := range map[string]func(string) (*mcp.ListToolsResult, error){
		"an error":                func(string) (*mcp.ListToolsResult, error) { return nil, errors.New("out of order") },
		"a page that comes again": func(string) (*mcp.ListToolsResult, error) { r := named("a"); r.NextCursor = "same"; return r, nil },
		"two pages that come in turns": func(c string) (*mcp.ListToolsResult, error) {
			r := named("a")
			r.NextCursor = "x" + strings.Repeat("y", 1-min(1, strings.Count(c, "y")))
			return r, nil
		},
		"too many tools": func(c string) (*mcp.ListToolsResult, error) {
			r := &mcp.ListToolsResult{NextCursor: c + "x"}
			for range maxTools/4 + 1 {
				r.Tools = append(r.Tools, &mcp.Tool{Name: "a"})
			}
			return r, nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			var is atomic.Bool
			f := listing(func(c string) (*mcp.ListToolsResult, error) {
				if is.Load() {
					return bad(c)
				}
				return named("fail", "echo"), nil
			})
			bad = pages
			s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
			before := namesIn(t, ctx, s)
			is.Store(true)
			ask(t, ctx, s, "srv__fail", `{}`)
			until(t, "the list is read", func() bool { return statusOf(s, "srv").Err != nil })
			require.Equal(t, before, namesIn(t, ctx, s))
			require.Equal(t, StateUp, statusOf(s, "srv").State)
			is.Store(false)
			until(t, "it is read again", func() bool { return statusOf(s, "srv").Err == nil })
		})
	}
}

func TestList_ReadsAllPages(t *testing.T) {
	f := listing(func(c string) (*mcp.ListToolsResult, error) {
		n := len(c)
		r := named(fmt.Sprintf("tool_%02d", n))
		if n < 30 {
			r.NextCursor = c + "x"
		}
		return r, nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	require.Len(t, namesIn(t, ctx, s), 31)
}

// A server that sends a notice with every list is not listed for ever.
//
//claim:mcp-29
func TestList_RepeatedEmptyNoticesAreDelayed(t *testing.T) {
	var lists atomic.Int64
	f := newFixture()
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, r)
			if method == "tools/list" {
				lists.Add(1)
				go f.addSimple("always_the_same")
			}
			return res, err
		}
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	began := time.Now()
	until(t, "it is read some times", func() bool { return lists.Load() >= 7 })
	require.Greater(t, time.Since(began), 300*time.Millisecond)
	set := toolsOf(t, ctx, s)
	again := toolsOf(t, ctx, s)
	require.Same(t, set, again)
	ask(t, ctx, s, "srv__add_tool", `{"text":"real"}`)
	require.Contains(t, namesIn(t, ctx, s), "srv__real", "what a call changes is there at once all the same")
}

// A list that is valid for some time is read again when that is over, and the client's own
// cache does not answer in its place.
func TestList_ExpiredListIsReadAgain(t *testing.T) {
	var lists atomic.Int64
	pages := func(string) (*mcp.ListToolsResult, error) {
		r := named(fmt.Sprintf("tool_%d", lists.Add(1)))
		r.TTLMs = 20
		return r, nil
	}
	s := open(t, map[string]Server{"srv": listing(pages).inMemory()}, Options{MaxWait: time.Minute})
	if statusOf(s, "srv").Protocol < "2026" {
		t.Log("this protocol says nothing on how long a list is valid; the list is read again all the same")
	}
	first := namesIn(t, ctx, s)
	require.Len(t, first, 1)
	until(t, "it is read again", func() bool { return namesIn(t, ctx, s)[0] != first[0] })
	require.GreaterOrEqual(t, lists.Load(), int64(2))
}

// NoRecheck waits for a notice, and reads nothing without one.
func TestServer_NoRecheckReadsOnlyAfterNotification(t *testing.T) {
	var lists atomic.Int64
	f := newFixture()
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				lists.Add(1)
			}
			return next(ctx, method, r)
		}
	})
	server := f.inMemory()
	server.NoRecheck = true
	s := open(t, map[string]Server{"srv": server}, Options{})
	require.Equal(t, int64(1), lists.Load())
	ask(t, ctx, s, "srv__fail", `{}`)
	namesIn(t, ctx, s)
	require.Equal(t, int64(1), lists.Load())
	ask(t, ctx, s, "srv__add_tool", `{"text":"late"}`)
	until(t, "the notice", func() bool { return strings.Contains(fmt.Sprint(namesIn(t, ctx, s)), "srv__late") })
}

// hostileNames are what a server might call itself or its tools.
var hostileNames = []string{
	"read.file", "read file", "read_file", "a\nb", "a\x00b", "naïve", "工具", "../../etc/passwd", "select:all", "<b>", "💥", "-", "_", "__", "a__b", "{{.}}",
	"%s%d", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 65) + "y", strings.Repeat("ü", 100), "\u202Egnp.exe", "tool_search", "\xff",
}

//claim:mcp-54
func TestToolName_FitsProvidersWithoutCollisions(t *testing.T) {
	fits := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{2,63}$`)
	seen := map[string][2]string{}
	servers := []string{"srv", "a b", "a_b", strings.Repeat("s", 80), "服务器", "", "7zip", "-", "git", "git__hub", "git_", "_git"}
	for _, server := range servers {
		for _, tool := range append([]string{""}, hostileNames...) {
			for _, prefix := range []bool{true, false} {
				name := toolName(server, tool, prefix, servers)
				require.Regexp(t, fits, name, "%q %q", server, tool)
				require.Equal(t, name, toolName(server, tool, prefix, servers))
				if prefix {
					pair := [2]string{server, tool}
					other, taken := seen[name]
					require.False(t, taken && other != pair, "%q and %q are both %q", pair, other, name)
					seen[name] = pair
				}
			}
		}
	}
	require.Equal(t, "srv__read_file", toolName("srv", "read_file", true, servers))
	require.Equal(t, "read_file", toolName("srv", "read_file", false, servers))
	require.Regexp(t, `^srv__read_file_[a-z]{4}$`, toolName("srv", "read.file", true, servers))
	require.Regexp(t, `^_7zip__list_[a-z]{4}$`, toolName("7zip", "list", true, servers), "the first is a letter")
	require.Regexp(t, `^ls_[a-z]{4}$`, toolName("srv", "ls", false, servers), "there are three at least")
	require.Equal(t, "git__hub__delete_repo", toolName("git__hub", "delete_repo", true, servers))
	require.Equal(t, "git__hub__delete_repo", toolName("git", "hub__delete_repo", true, []string{"git"}), "nobody else has it")
	require.Regexp(t, `^git__hub_delete_repo_[a-z]{4}$`, toolName("git", "hub__delete_repo", true, servers), "a tool of the other server is called that")
	require.Regexp(t, `^git_commit_[a-z]{4}$`, toolName("srv", "git__commit", false, servers))
	require.Equal(t, "own__commit", toolName("srv", "own__commit", false, servers))
}

// Whatever servers and tools are called: names pass everywhere, none stands in another
// server's name space, and names that passed before the rules on length and first letter stay.
func FuzzToolName(f *testing.F) {
	for _, n := range hostileNames {
		f.Add("git", n, "git__hub", true)
		f.Add(n, "x", "git", false)
	}
	f.Add("git", "hub__delete", "git__hub", true)
	f.Add("git", "_x", "git_", true)
	fits := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{2,63}$`)
	f.Fuzz(func(t *testing.T, server, tool, other string, prefix bool) {
		others := []string{other}
		full := tool
		if prefix {
			others, full = append(others, server), server+"__"+tool
		}
		name := toolName(server, tool, prefix, others)
		require.Regexp(t, fits, name)
		foreign := other != server && strings.HasPrefix(full, other+"__") && (!prefix || len(other) > len(server))
		if fits.MatchString(full) && !foreign && tool != "" {
			require.Equal(t, full, name)
		}
		if foreign {
			require.False(t, strings.HasPrefix(name, other+"__"), "%q", name)
		}
	})
}

// Of two servers whose tools would have one name, neither loses it in silence.
//
//claim:mcp-09
func TestToolName_ServerCannotUseAnothersPrefix(t *testing.T) {
	var events recorder
	tools := func(names ...string) Server {
		return listing(func(string) (*mcp.ListToolsResult, error) { return named(names...), nil }).inMemory()
	}
	bare := tools("git__commit", "git__hub__delete_repo", "free")
	bare.NoPrefix = true
	s := open(t, map[string]Server{"git": tools("hub__delete_repo", "commit"), "git__hub": tools("delete_repo"), "bare": bare}, Options{OnEvent: events.record})
	origin := map[string]Hints{}
	set := toolsOf(t, ctx, s)
	set.Select(func(info *schema.ToolInfo) bool { origin[info.Name] = HintsOf(info); return true })
	require.Len(t, origin, 6)
	require.Equal(t, "git__hub", origin["git__hub__delete_repo"].Server)
	require.Equal(t, "git", origin["git__commit"].Server)
	require.Empty(t, events.of(einolean.KindToolRefused), "all have a name")

	// Names that were changed to fit can still meet, with names that were made for it.
	changed := toolName("a b", "x", true, []string{"a b", "a_b"})
	s = open(t, map[string]Server{"a b": tools("x"), "a_b": tools(strings.TrimPrefix(changed, "a_b__"), "y")}, Options{OnEvent: events.record})
	require.Equal(t, []string{changed, "a_b__y"}, namesIn(t, ctx, s))
	refused := events.of(einolean.KindToolRefused)
	require.Len(t, refused, 1)
	require.Equal(t, "a_b", refused[0].Server)
	require.ErrorContains(t, refused[0].Err, `"a b"`)
	ask(t, ctx, s, changed, `{}`)
	namesIn(t, ctx, s)
	require.Len(t, events.of(einolean.KindToolRefused), 1, "told once")
}

func TestServers_HostileNamesAreOfferedAndRun(t *testing.T) {
	f := newFixture()
	for _, n := range hostileNames {
		if strings.ToValidUTF8(n, "") == n {
			f.addSimple(n)
		}
	}
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	ran := 0
	set := toolsOf(t, ctx, s)
	for x := range set.All() {
		info, err := x.Info(ctx)
		require.NoError(t, err)
		if h := HintsOf(info); strings.HasPrefix(info.Desc, "does ") {
			ran++
			require.Equal(t, "ran "+h.Tool, ask(t, ctx, s, info.Name, `{}`))
			require.Equal(t, "does "+h.Tool, info.Desc)
		}
	}
	require.Equal(t, len(hostileNames)-1, ran)
}

//claim:mcp-08
func TestServer_IncludeExcludeAndAlwaysVisible(t *testing.T) {
	f := newFixture()
	f.server.AddTool(&mcp.Tool{Name: "marked", InputSchema: object(""), Meta: mcp.Meta{"anthropic/alwaysLoad": true}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text(""), nil })
	server := f.inMemory()
	server.Include, server.Exclude, server.AlwaysVisible = []string{"e*", "add_tool", "die*", "marked"}, []string{"die_*"}, []string{"ec*"}
	s := open(t, map[string]Server{"srv": server}, Options{})
	set := toolsOf(t, ctx, s)
	visible := map[string]any{}
	set.Select(func(i *schema.ToolInfo) bool { visible[HintsOf(i).Tool] = i.Extra["defer_loading"]; return true })
	require.Equal(t, map[string]any{"echo": false, "add_tool": nil, "die": nil, "marked": false}, visible)
	ask(t, ctx, s, "srv__add_tool", `{"text":"other"}`)
	ask(t, ctx, s, "srv__add_tool", `{"text":"extra"}`)
	require.Equal(t, []string{"srv__add_tool", "srv__die", "srv__echo", "srv__extra", "srv__marked"}, namesIn(t, ctx, s))
}

func TestServer_NoPrefixKeepsNamesOfFirstServer(t *testing.T) {
	var events recorder
	one, two := newFixture().inMemory(), newFixture().inMemory()
	one.NoPrefix, two.NoPrefix = true, true
	one.Include, two.Include = []string{"echo"}, []string{"echo", "fail"}
	s := open(t, map[string]Server{"b": two, "a": one}, Options{OnEvent: events.record})
	require.Equal(t, []string{"echo", "fail"}, namesIn(t, ctx, s))
	info, err := find(t, ctx, s, "echo").Info(ctx)
	require.NoError(t, err)
	require.Equal(t, "a", HintsOf(info).Server)
	refused := events.of(einolean.KindToolRefused)
	require.Len(t, refused, 1)
	require.Equal(t, "b", refused[0].Server)
	require.ErrorContains(t, refused[0].Err, `"a"`)
}

//claim:mcp-47
func TestHints_FollowTheSpecification(t *testing.T) {
	yes, no := true, false
	for what, c := range map[string]struct {
		a    *mcp.ToolAnnotations
		want Hints
	}{
		"nothing said":    {nil, Hints{Destructive: true, OpenWorld: true}},
		"empty":           {&mcp.ToolAnnotations{}, Hints{Destructive: true, OpenWorld: true}},
		"read only":       {&mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &yes}, Hints{ReadOnly: true, Idempotent: true, OpenWorld: true}},
		"adds only":       {&mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no}, Hints{}},
		"can be repeated": {&mcp.ToolAnnotations{IdempotentHint: true, Title: "T"}, Hints{Destructive: true, Idempotent: true, OpenWorld: true}},
	} {
		tool := &mcp.Tool{Name: "t", Annotations: c.a}
		c.want.Server, c.want.Tool = "s", "t"
		h := hintsOf("s", tool)
		require.Equal(t, c.want, h, what)
		require.Equal(t, h, HintsOf(&schema.ToolInfo{Extra: h.extra(tool)}), what)
		var wire bytes.Buffer
		require.NoError(t, gob.NewEncoder(&wire).Encode(h.extra(tool)), "a checkpoint can hold it")
		data, err := json.Marshal(h.extra(tool))
		require.NoError(t, err)
		var extra map[string]any
		require.NoError(t, json.Unmarshal(data, &extra))
		require.Equal(t, h, HintsOf(&schema.ToolInfo{Extra: extra}), what)
	}
	require.Zero(t, HintsOf(nil))
	require.Zero(t, HintsOf(&schema.ToolInfo{Name: "own"}))
}
