// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers that others publish, where npx and the registry are there.

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
)

// programs are where npx keeps the published servers, by name, each found once.
var programs sync.Map

// published gets servers ahead of the connection's time limit, and returns their programs: npx
// takes longer to start than they do.
func published(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	race.Skip(t, "waits for programs of others")
	if testing.Short() {
		t.Skip("waits for programs of others")
	}
	t.Parallel()
	for _, name := range names {
		find, _ := programs.LoadOrStore(name, sync.OnceValues(func() (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, "npx", "-y", "-p", "@modelcontextprotocol/"+name, "-c", "command -v mcp-"+name).Output()
			return strings.TrimSpace(string(out)), err
		}))
		path, err := find.(func() (string, error))()
		if err != nil {
			t.Skipf("did not run: %s cannot be fetched: %v", name, err)
		}
		paths = append(paths, path)
	}
	return paths
}

// ready waits for servers that may take long to start on a machine with much to do.
func ready(t *testing.T, s *Servers, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Eventually(t, func() bool { st := statusOf(s, name); return st.State == StateUp && st.Tools > 0 }, defaultStartTimeout, 10*time.Millisecond, name)
		st := statusOf(s, name)
		t.Logf("%s ran: %d tools, protocol %s", name, st.Tools, st.Protocol)
	}
}

// listens runs a published server that listens on a port, until the test ends.
func listens(t *testing.T, program, kind string) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port = l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	cmd := exec.Command(program, kind)
	cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
	inGroup(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		kill(cmd)
		_ = cmd.Wait() // it was killed
	})
	return port
}

// Every tool of the protocol's own test server answers on each transport.
func TestPublishedServers_EverythingAnswersOnEachTransport(t *testing.T) {
	program := published(t, "server-everything")[0]
	s := open(t, map[string]Server{
		"stdio": {Command: program, Args: []string{"stdio"}},
		"http":  {URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", listens(t, program, "streamableHttp"))},
		"sse":   {URL: fmt.Sprintf("http://127.0.0.1:%d/sse", listens(t, program, "sse")), Type: "sse"},
	}, Options{Media: true, MaxWait: 5 * time.Second})
	calls := map[string]struct{ args, want string }{
		"echo":                           {`{"message":"hello"}`, "hello"},
		"get-annotated-message":          {`{"messageType":"error","includeImage":true}`, "<image>"},
		"get-env":                        {`{}`, "PATH"},
		"get-resource-links":             {`{"count":2}`, "[link demo://"},
		"get-resource-reference":         {`{"resourceType":"Blob","resourceId":1}`, "<file>"},
		"get-structured-content":         {`{"location":"New York"}`, `{"temperature":`},
		"get-sum":                        {`{"a":1,"b":2}`, "3"},
		"get-tiny-image":                 {`{}`, "<image>"},
		"gzip-file-as-resource":          {`{"name":"x.gz","data":"data:text/plain,hello","outputType":"resource"}`, "<file>"},
		"trigger-long-running-operation": {`{"duration":0.3,"steps":3}`, "completed"},
	}
	for _, way := range []string{"stdio", "http", "sse"} {
		ready(t, s, way)
		run := func(name, args string) (answer string) {
			r, err := find(t, ctx, s, way+"__"+name).(tool.EnhancedInvokableTool).InvokableRun(ctx, &schema.ToolArgument{Text: args})
			require.NoError(t, err)
			for _, p := range r.Parts {
				if answer += p.Text + "\n"; p.Type != schema.ToolPartTypeText {
					answer += fmt.Sprintf("<%s>", p.Type)
				}
			}
			return answer
		}
		for _, name := range namesIn(t, ctx, s) {
			name, mine := strings.CutPrefix(name, way+"__")
			if !mine {
				continue
			}
			call, ok := calls[name]
			if !ok { // one of a later version: whatever it does is an answer
				call.args = `{}`
			}
			answer := run(name, call.args)
			require.Contains(t, answer, call.want, "%s over %s", name, way)
			if ok {
				require.NotContains(t, answer, "error: ", "%s over %s", name, way)
			}
		}
		require.Contains(t, run("echo", `{"message":5}`), "error: ", way)
		require.Equal(t, StateUp, statusOf(s, way).State)
	}
}

// An agent searches and calls the tools of several published servers from one file.
func TestPublishedServers_WorkInOneAgent(t *testing.T) {
	packages := []string{"server-memory", "server-sequential-thinking", "server-filesystem"}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	var file strings.Builder
	for i, program := range published(t, packages...) {
		fmt.Fprintf(&file, "%q: {\"command\": %q, \"args\": [%q], \"env\": {\"MEMORY_FILE_PATH\": %q}},\n", packages[i], program, dir, filepath.Join(dir, "memory.json"))
	}
	path := filepath.Join(dir, "mcp.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"mcpServers": {`+file.String()+`}}`), 0o600))
	config, err := ReadConfig(path)
	require.NoError(t, err)
	s := open(t, config, Options{})
	ready(t, s, packages...)
	search, err := toolsearch.New(ctx, &toolsearch.Config{Source: s})
	require.NoError(t, err)
	calls := []adktest.ToolCall{
		{Name: "server-memory__create_entities", Args: `{"entities":[{"name":"Ada","entityType":"person","observations":["likes tea"]}]}`},
		{Name: "server-memory__search_nodes", Args: `{"query":"Ada"}`},
		{Name: "server-filesystem__read_text_file", Args: fmt.Sprintf(`{"path":%q}`, path)},
		{Name: "server-sequential-thinking__sequentialthinking", Args: `{"thought":"so","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`},
	}
	want := []string{"likes tea", "likes tea", "mcpServers", "thoughtNumber"}
	var turns []adktest.Turn
	for i, c := range calls {
		c.ID = fmt.Sprint("call", i)
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("search", i), Name: "tool_search", Args: fmt.Sprintf(`{"query":"select:%s"}`, c.Name)}), adktest.Do(c))
	}
	model := adktest.Script[*schema.Message](turns...)
	out := adktest.Agent[*schema.Message]{Model: model, Streaming: true, Handlers: []adk.ChatModelAgentMiddleware{search}}.Run(ctx, []*schema.Message{schema.UserMessage("go")})
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.Answer())
	wires := model.Wires()
	for i := range calls {
		messages := wires[2*i+2].Messages
		require.Contains(t, messages[len(messages)-1].Content, want[i], calls[i].Name)
	}
}

// This server is started with npx, as users do.
func TestPublishedServers_FilesystemRunsWithNpx(t *testing.T) {
	const name = "server-filesystem"
	published(t, name)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "note.txt")
	require.NoError(t, os.WriteFile(file, []byte("forty-two"), 0o600))
	s := open(t, map[string]Server{"files": {Command: "npx", Args: []string{"-y", "@modelcontextprotocol/" + name, dir}}}, Options{})
	ready(t, s, "files")
	require.Contains(t, ask(t, ctx, s, "files__read_text_file", fmt.Sprintf(`{"path":%q}`, file)), "forty-two")
	require.Contains(t, ask(t, ctx, s, "files__read_text_file", `{"path":"/etc/passwd"}`), "error: ")
	for name, want := range map[string]Hints{
		"read_text_file": {Server: "files", Tool: "read_text_file", ReadOnly: true},
		"write_file":     {Server: "files", Tool: "write_file", Destructive: true},
	} {
		info, err := find(t, ctx, s, "files__"+name).Info(ctx)
		require.NoError(t, err)
		h := HintsOf(info)
		require.Equal(t, want.ReadOnly, h.ReadOnly, name)
		require.Equal(t, want.Destructive, h.Destructive, name)
	}
}

// rawResult is what a server returns, before anything is made of it.
func rawResult(t *testing.T, s *Servers, server, tool, args string) *result {
	t.Helper()
	l := s.linkIf("", server)
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	require.NotNil(t, session, server)
	r, err := session.callTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}, newClock(time.Minute, 0))
	require.NoError(t, err, "%s %s", server, tool)
	return r
}

// The model gets each result of the published servers once: hardly more bytes than the texts have, and no bytes of
// media.
//
//claim:mcp-36
func TestPublishedServers_TellEachResultOnce(t *testing.T) {
	programs := published(t, "server-filesystem", "server-memory", "server-everything")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	picture := filepath.Join(dir, "a.png")
	require.NoError(t, os.WriteFile(picture, png(200_000), 0o600))
	note := filepath.Join(dir, "note.txt")
	require.NoError(t, os.WriteFile(note, []byte(bigText(20_000)), 0o600))
	s := open(t, map[string]Server{
		"files":      {Command: programs[0], Args: []string{dir}},
		"memory":     {Command: programs[1], Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}},
		"everything": {Command: programs[2], Args: []string{"stdio"}},
	}, Options{})
	ready(t, s, "files", "memory", "everything")
	ada := `{"name":"Ada","entityType":"person","observations":["likes \"tea\""]}`
	calls := []struct{ server, tool, args string }{
		{"files", "read_text_file", fmt.Sprintf(`{"path":%q}`, note)},
		{"files", "read_file", fmt.Sprintf(`{"path":%q,"head":5}`, note)},
		{"files", "read_media_file", fmt.Sprintf(`{"path":%q}`, picture)},
		{"files", "read_multiple_files", fmt.Sprintf(`{"paths":[%q,%q]}`, note, note)},
		{"files", "write_file", fmt.Sprintf(`{"path":%q,"content":"line one\nline two\n"}`, filepath.Join(dir, "b.txt"))},
		{"files", "edit_file", fmt.Sprintf(`{"path":%q,"edits":[{"oldText":"one","newText":"1"}]}`, filepath.Join(dir, "b.txt"))},
		{"files", "create_directory", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "sub"))},
		{"files", "list_directory", fmt.Sprintf(`{"path":%q}`, dir)},
		{"files", "list_directory_with_sizes", fmt.Sprintf(`{"path":%q}`, dir)},
		{"files", "directory_tree", fmt.Sprintf(`{"path":%q}`, dir)},
		{"files", "move_file", fmt.Sprintf(`{"source":%q,"destination":%q}`, filepath.Join(dir, "b.txt"), filepath.Join(dir, "c.txt"))},
		{"files", "search_files", fmt.Sprintf(`{"path":%q,"pattern":"*.txt"}`, dir)},
		{"files", "get_file_info", fmt.Sprintf(`{"path":%q}`, note)},
		{"files", "list_allowed_directories", `{}`},
		{"memory", "create_entities", `{"entities":[` + ada + `,{"name":"Bob","entityType":"person","observations":[]}]}`},
		{"memory", "create_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`},
		{"memory", "add_observations", `{"observations":[{"entityName":"Ada","contents":["plays chess"]}]}`},
		{"memory", "read_graph", `{}`},
		{"memory", "search_nodes", `{"query":"Ada"}`},
		{"memory", "open_nodes", `{"names":["Ada"]}`},
		{"memory", "delete_observations", `{"deletions":[{"entityName":"Ada","observations":["plays chess"]}]}`},
		{"memory", "delete_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`},
		{"memory", "delete_entities", `{"entityNames":["Bob"]}`},
		{"everything", "echo", `{"message":"hello"}`},
		{"everything", "get-sum", `{"a":1,"b":2}`},
		{"everything", "get-structured-content", `{"location":"New York"}`},
		{"everything", "get-tiny-image", `{}`},
		{"everything", "get-annotated-message", `{"messageType":"error","includeImage":true}`},
		{"everything", "get-resource-links", `{"count":2}`},
		{"everything", "get-resource-reference", `{"resourceType":"Text","resourceId":1}`},
		{"everything", "get-env", `{}`},
		{"everything", "gzip-file-as-resource", `{"name":"x.gz","data":"data:text/plain,hello","outputType":"resource"}`},
		{"everything", "trigger-long-running-operation", `{"duration":0.1,"steps":1}`},
		{"everything", "toggle-simulated-logging", `{}`},
		{"everything", "toggle-subscriber-updates", `{}`},
	}
	ran, texts, model := map[string]int{}, 0, 0
	for _, c := range calls {
		r := rawResult(t, s, c.server, c.tool, c.args)
		require.False(t, r.isError, "%s %s: %s", c.server, c.tool, r.text())
		told := 0
		own := 0
		for _, p := range (&result{contents: r.contents}).parts(false) {
			told += len(p.Text) + 1
		}
		for _, content := range r.contents {
			b := readBlock(content)
			own += len(b.fields["text"]) + len(b.resourceFields["text"])
		}
		got := r.text()
		t.Logf("%s %s: texts %d, with names of media %d, to the model %d", c.server, c.tool, own, told, len(got))
		if !strings.HasPrefix(c.tool, "delete_") { // they say beside their text that it is a success
			require.LessOrEqual(t, len(got), told, "%s %s: structured content is not told twice", c.server, c.tool)
		}
		require.NotContains(t, got, "iVBORw0KGgo", "%s %s: no base64 of a picture", c.server, c.tool)
		ran[c.server]++
		if own > 0 {
			texts, model = texts+own, model+len(got)
		}
	}
	for _, name := range []string{"files", "memory", "everything"} {
		tools := 0
		for _, tool := range namesIn(t, ctx, s) {
			if strings.HasPrefix(tool, name+"__") && !asksTheClient.MatchString(tool) {
				tools++
			}
		}
		t.Logf("%s ran: %d calls, %d tools", name, ran[name], tools)
		require.GreaterOrEqual(t, ran[name], tools, "every tool of %s", name)
	}
	t.Logf("texts %d bytes, to the model %d", texts, model)
	require.LessOrEqual(t, float64(model), 1.01*float64(texts))
}

// asksTheClient finds tools that only ask the client something, or run for long.
var asksTheClient = regexp.MustCompile("elicitation|sampling|roots|simulate|async|task")
