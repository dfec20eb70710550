// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Reading tool catalogs in the formats that users have.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/mcptools"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// source says where tools come from and what ranks them: the flags that commands on
// catalogues share. An open one has them.
type source struct {
	common          options
	connect, strict bool
	wait            time.Duration
	index           string

	tools    []*schema.ToolInfo
	newIndex index.Func
	painter  painter
}

// indexes are the choices of --index.
var indexes = map[string]index.Func{
	"bm25": index.BM25, "keyword": index.Keyword, "fuse": index.Fuse(index.BM25, index.Keyword),
}

func (o *source) flags(f *flag.FlagSet) {
	f.StringVar(&o.index, "index", "bm25", "bm25, keyword (Eino's score) or fuse (both, merged by rank)")
	f.BoolVar(&o.connect, "connect", false, "start and ask the servers of an mcpServers file")
	f.DurationVar(&o.wait, "wait", time.Minute, "how long to wait for servers, which may have to be downloaded first")
	f.BoolVar(&o.strict, "strict", false, "fail if a server cannot be reached")
}

// open checks the flags, and then reads the tools of a file.
func (o *source) open(ctx context.Context, s streams, name string) error {
	if o.newIndex = indexes[o.index]; o.newIndex == nil {
		return fail(exitUsage, "--index is bm25, keyword or fuse, not %q", o.index)
	}
	color, err := o.common.colored(s.out)
	if err != nil {
		return err
	}
	o.painter = painter(color)
	o.tools, err = o.load(ctx, s, name)
	return err
}

// entry is a tool in any of the formats: einolean's own and MCP's have the name at the
// top, OpenAI's has it below "function", and Anthropic calls the schema input_schema.
type entry struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Params      map[string]string `json:"params"`
	InputSchema json.RawMessage   `json:"inputSchema"`
	Anthropic   json.RawMessage   `json:"input_schema"`
	Parameters  json.RawMessage   `json:"parameters"`
	Function    *entry            `json:"function"`
}

func (e entry) info() (*schema.ToolInfo, error) {
	if e.Function != nil {
		return e.Function.info()
	}
	t := toolsearcheval.Tool{Name: e.Name, Description: e.Description, Params: e.Params, InputSchema: e.InputSchema}
	for _, other := range []json.RawMessage{e.Anthropic, e.Parameters} {
		if len(t.InputSchema) == 0 {
			t.InputSchema = other
		}
	}
	if t.Name == "" {
		return nil, errors.New("a tool has no name")
	}
	return t.Info()
}

// load reads the tools of a file, or of standard input for "-".
func (o *source) load(ctx context.Context, s streams, name string) ([]*schema.ToolInfo, error) {
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	type envelope struct { // what may stand around a list of tools
		Tools  []json.RawMessage `json:"tools"`
		Result *envelope         `json:"result"`
	}
	trimmed := bytes.TrimSpace(text)
	if isConfig(trimmed) {
		return o.servers(ctx, s, name)
	}
	var e envelope
	switch {
	case len(trimmed) == 0:
		return nil, fail(exitInput, "%s is empty", name)
	case trimmed[0] == '[':
		if err := decode(trimmed, &e.Tools); err != nil {
			return nil, fail(exitInput, "%s: %w", name, err)
		}
	case json.Unmarshal(trimmed, &e) != nil:
		if e.Tools, err = lines(name, trimmed); err != nil {
			return nil, err
		}
	}
	if e.Result != nil {
		e = *e.Result
	}
	if e.Tools == nil { // one object that is a tool itself
		e.Tools = []json.RawMessage{trimmed}
	}
	all, wrong, err := infos(name, e.Tools)
	for _, tool := range wrong {
		o.common.note(s, "left out %v", tool)
	}
	return all, err
}

// configKeys are the keys below which configuration files have MCP servers.
var configKeys = regexp.MustCompile(`"(?:mcpServers|servers|mcp_servers|context_servers|amp\.mcpServers|mcp)"\s*:`)

// isConfig reports whether a text is a configuration file, which may have comments.
func isConfig(text []byte) bool {
	plain := jsontext.BlankComments(text)
	var members map[string]json.RawMessage
	if json.Unmarshal(plain, &members) != nil {
		return !json.Valid(text) && bytes.Contains(text, []byte(`"mcpServers"`)) && configKeys.Match(plain)
	}
	for key := range members {
		if configKeys.MatchString(strconv.Quote(key)+":") && members["name"] == nil {
			return true
		}
	}
	return false
}

// infos reads tools and calls wrong with a description of each one that it skips.
func infos(name string, tools []json.RawMessage) (all []*schema.ToolInfo, wrong []error, err error) {
	seen := map[string]bool{}
	for i, text := range tools {
		var e entry
		err := decode(text, &e)
		if err == nil && e.Name == "" && e.Function == nil && looksLike(text) == holdsMessages {
			return nil, nil, fail(exitInput, "%s holds messages and not tools: einolean replay reads it", name)
		}
		if err == nil {
			var info *schema.ToolInfo
			if info, err = e.info(); err == nil {
				if !seen[info.Name] {
					seen[info.Name] = true
					all = append(all, info)
				}
				continue
			}
		}
		wrong = append(wrong, fmt.Errorf("%s: tool %d: %w", name, i+1, err))
	}
	switch {
	case len(all) > 0:
		return all, wrong, nil
	case len(wrong) > 0:
		return nil, nil, fail(exitInput, "%w", errors.Join(wrong...))
	}
	return nil, nil, fail(exitInput, "%s holds no tools", name)
}

// toolsOf returns the tools of the servers that answer.
func toolsOf(ctx context.Context, servers *mcptools.Servers) (*toolset.Set, error) {
	set, err := servers.Tools(ctx)
	if errors.As(err, new(*toolset.Missing)) {
		err = nil
	}
	return set, err
}

// servers lists the tools of the servers in an mcpServers file.
func (o *source) servers(ctx context.Context, s streams, name string) ([]*schema.ToolInfo, error) {
	if !o.connect {
		return nil, fail(exitInput, "%s names MCP servers: add --connect to start and ask them", name)
	}
	if name == "-" {
		return nil, fail(exitInput, "an mcpServers file cannot come from standard input")
	}
	config, err := mcptools.ReadConfig(name)
	if err != nil {
		return nil, fail(exitInput, "%w", err)
	}
	var last sync.Map // what each server wrote last to its standard error: it often says why it ended
	keep := func(server string, line []byte) {
		if text := display.Line(string(line)); text != "" {
			last.Store(server, ". It said: "+clip(text, 200))
		}
	}
	waitCtx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	o.common.note(s, "asking %s", plural(len(config), "server"))
	servers, err := mcptools.Open(waitCtx, config, mcptools.Options{Logs: keep})
	if err != nil {
		return nil, fail(exitServer, "%w", err)
	}
	defer servers.Close()
	missing := o.waitFor(waitCtx, servers, &last)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(missing) > 0 && o.strict {
		return nil, fail(exitServer, "%s", missing)
	}
	for _, line := range missing {
		o.common.note(s, "left out %s", line)
	}
	set, err := toolsOf(ctx, servers)
	if err != nil {
		return nil, fail(exitServer, "%w", err)
	}
	found := map[string]*schema.ToolInfo{}
	for t := range set.All() {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		found[info.Name] = info
	}
	if len(found) == 0 {
		return nil, fail(exitServer, "no server in %s returned a tool", name)
	}
	all := make([]*schema.ToolInfo, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[name])
	}
	return all, nil
}

// waitFor waits until each server is up or has failed. It returns a line for each missing server.
func (o *source) waitFor(ctx context.Context, servers *mcptools.Servers, last *sync.Map) (missing []string) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		missing = nil
		waits := false
		for _, status := range servers.Status() {
			lastLine, _ := last.LoadOrStore(status.Server, "")
			switch {
			case status.State == mcptools.StateUp, status.State == mcptools.StateDisabled:
			case status.Err != nil:
				missing = append(missing, fmt.Sprintf("%s: %s%s", display.Line(status.Server), display.Line(status.Err.Error()), lastLine))
			default:
				waits = true
				missing = append(missing, fmt.Sprintf("%s: no answer within %s; --wait waits longer%s",
					display.Line(status.Server), o.wait, lastLine))
			}
		}
		if !waits {
			return missing
		}
		select {
		case <-ctx.Done():
			return missing
		case <-look.C:
		}
	}
}
