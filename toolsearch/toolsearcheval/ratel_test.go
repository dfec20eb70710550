// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

// ratelVariable names the environment variable with the version of Ratel to compare with. Empty: Ratel is skipped.
const ratelVariable = "EINOLEAN_RATEL"

const ratelPackage = "@ratel-ai/sdk"

// ratelProcess is a Node.js process that ranks tools with Ratel. It runs one request at a time.
type ratelProcess struct {
	requests  *json.Encoder
	responses *json.Decoder
	errors    *bytes.Buffer
	catalogs  int
}

type ratelRequest struct {
	Tools   []ratelTool `json:"tools,omitempty"`
	Catalog int         `json:"catalog"`
	Query   *string     `json:"query,omitempty"`
	Limit   int         `json:"limit"`
}

type ratelTool struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Description  string `json:"description"`
	InputSchema  any    `json:"inputSchema"`
	OutputSchema any    `json:"outputSchema"`
}

type ratelHit struct {
	ToolID string
	Score  float64
}

// startRatel installs a version of Ratel into a temporary directory and starts it. The error says why it cannot.
func startRatel(t *testing.T, version string) (*ratelProcess, error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed", program)
		}
	}
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", ratelPackage+"@"+version)
	install.Dir = dir
	if output, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm install: %w: %s", err, errorLines(string(output)))
	}
	script, err := os.ReadFile("ratel.mjs")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "ratel.mjs") // Node.js looks for packages beside the script
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, err
	}
	return runRatel(t, file)
}

// errorLines joins those lines of what npm or Node.js wrote that say what is wrong.
func errorLines(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "npm error") || strings.Contains(line, "Error: ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "; ")
}

func runRatel(t *testing.T, script string) (*ratelProcess, error) {
	p := &ratelProcess{errors: &bytes.Buffer{}}
	node := exec.Command("node", script)
	node.Stderr = p.errors
	stdin, err := node.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := node.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := node.Start(); err != nil {
		return nil, err
	}
	stop := func() error { return errors.Join(stdin.Close(), node.Wait()) }
	p.requests, p.responses = json.NewEncoder(stdin), json.NewDecoder(stdout)
	tool := ratelTool{ID: "probe", Name: "probe", InputSchema: struct{}{}, OutputSchema: struct{}{}}
	if _, err := p.request(ratelRequest{Tools: []ratelTool{tool}}); err != nil {
		stop() // its error adds nothing; the process has written the reason
		return nil, fmt.Errorf("%w: %s", err, errorLines(p.errors.String()))
	}
	p.catalogs++
	t.Cleanup(func() { require.NoError(t, stop()) })
	return p, nil
}

func (p *ratelProcess) request(r ratelRequest) (hits []ratelHit, err error) {
	if err := p.requests.Encode(r); err != nil {
		return nil, fmt.Errorf("writing to Ratel: %w", err)
	}
	if err := p.responses.Decode(&hits); err != nil {
		return nil, fmt.Errorf("reading from Ratel: %w", err)
	}
	return hits, nil
}

// ratelIndex is a catalog of a ratelProcess.
type ratelIndex struct {
	process *ratelProcess
	catalog int
	places  map[string]int // of the tools, by name
}

// newIndex is an index.Func.
func (p *ratelProcess) newIndex(_ context.Context, tools []*schema.ToolInfo) (index.Index, error) {
	r, places := ratelRequest{}, map[string]int{}
	for i, tool := range tools {
		places[tool.Name] = i
		params, err := tool.ToJSONSchema()
		if err != nil {
			return nil, err
		}
		entry := ratelTool{ID: tool.Name, Name: tool.Name, Description: tool.Desc, InputSchema: struct{}{}, OutputSchema: struct{}{}}
		if params != nil {
			entry.InputSchema = params
		}
		r.Tools = append(r.Tools, entry)
	}
	if _, err := p.request(r); err != nil {
		return nil, err
	}
	p.catalogs++
	return ratelIndex{p, p.catalogs - 1, places}, nil
}

// Search returns Ratel's hits. Ratel orders equal scores differently in each run, and their last digits vary. Here they
// stand in the order of the catalog, as with plainIndex, so that runs can be compared.
func (x ratelIndex) Search(_ context.Context, q index.Query) (results []index.Result, err error) {
	hits, err := x.process.request(ratelRequest{Catalog: x.catalog, Query: &q.Text, Limit: len(x.places)})
	slices.SortFunc(hits, func(a, b ratelHit) int {
		return cmp.Or(cmp.Compare(rounded(b.Score), rounded(a.Score)), cmp.Compare(x.places[a.ToolID], x.places[b.ToolID]))
	})
	for _, hit := range hits[:min(q.Limit, len(hits))] {
		results = append(results, index.Result{Name: hit.ToolID, Score: hit.Score})
	}
	return results, err
}

func rounded(score float64) float64 { return math.Round(score * 1e4) }

func TestRatel_NeedsNode(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := startRatel(t, "0.1.5")
	require.EqualError(t, err, "node is not installed")
}
