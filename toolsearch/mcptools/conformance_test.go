// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The conformance suite of the protocol, where npm has it: each scenario starts a server of its own,
// and this test program is the client.

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"
)

// suite is the command line that has the suite; it needs Node 22, which npm has too.
var suite = []string{"npx", "-y", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "-c"}

// conformance says what this program does: run the "suite", or be its "client".
const conformance = "EINOLEAN_CONFORMANCE"

// scenarios are those for clients that concern tools; those of authorization concern the caller's
// HTTPClient and Header, and extensions are not read.
var scenarios = []string{
	"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "request-metadata", "sep-2322-client-request-state", "http-standard-headers",
	"http-custom-headers", "http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
}

// expected are the scenarios that fail, each with its reason. One that passes fails the test.
const expected = "testdata/conformance.yml"

func TestConformance_SuitePasses(t *testing.T) {
	if os.Getenv(conformance) != "suite" {
		t.Skip("make conformance runs it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, suite[0], append(suite[1:], "conformance --version")...).CombinedOutput(); err != nil {
		t.Skipf("did not run: npm cannot fetch the conformance suite: %v: %.200s", err, out)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	baseline, err := os.ReadFile(expected)
	require.NoError(t, err)
	checks := regexp.MustCompile(`Passed: (\d+)/(\d+)`)
	passed, all := 0, 0
	for _, name := range scenarios {
		client := self + " -test.run=^TestConformance_ClientCallsEveryTool$"
		command := "conformance client --scenario " + name + " --timeout 60000 --expected-failures " + expected + ` --command "` + client + `" -o "` + t.TempDir() + `"`
		cmd := exec.CommandContext(ctx, suite[0], append(suite[1:], command)...)
		cmd.Env = append(os.Environ(), conformance+"=client")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", name, out)
		how := "passed"
		if strings.Contains(string(baseline), "- "+name) {
			how = "failed as expected"
		}
		if found := checks.FindStringSubmatch(string(out)); found != nil {
			good, _ := strconv.Atoi(found[1]) // digits
			of, _ := strconv.Atoi(found[2])
			passed, all = passed+good, all+of
			how += ", " + found[1] + " of " + found[2] + " checks"
		}
		t.Logf("%s %s", name, how)
	}
	t.Logf("%d scenarios ran, %d of %d checks passed", len(scenarios), passed, all)
}

// TestConformance_ClientCallsEveryTool is the client of the suite: it calls every tool of the server whose address
// is its last argument.
func TestConformance_ClientCallsEveryTool(t *testing.T) {
	if os.Getenv(conformance) != "client" {
		return // it is no test of its own
	}
	address := flag.Arg(flag.NArg() - 1)
	servers, err := Open(t.Context(), map[string]Server{"server": {URL: address, NoPrefix: true, Timeout: 30 * time.Second}}, Options{
		Elicit: func(context.Context, Question) (Answer, error) { return Answer{}, nil }, // with the defaults
	})
	require.NoError(t, err)
	defer func() { _ = servers.Close() }() // always nil
	require.NoError(t, servers.Wait(t.Context()))
	set, err := servers.Tools(t.Context())
	require.NoError(t, err)
	var told struct {
		ToolCalls []struct {
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"toolCalls"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		require.NoError(t, json.Unmarshal([]byte(text), &told))
	}
	for one := range set.All() {
		info, err := one.Info(t.Context())
		require.NoError(t, err)
		calls := []map[string]any{}
		for _, c := range told.ToolCalls {
			if c.Name == info.Name {
				calls = append(calls, c.Arguments)
			}
		}
		if len(calls) == 0 {
			schema, err := info.ToJSONSchema()
			require.NoError(t, err)
			arguments := map[string]any{}
			for _, name := range schema.Required {
				arguments[name] = map[string]any{"number": 5, "integer": 5, "boolean": true}[schema.Properties.Value(name).Type]
				if arguments[name] == nil {
					arguments[name] = "text"
				}
			}
			calls = append(calls, arguments)
		}
		for _, arguments := range calls {
			text, err := json.Marshal(arguments)
			require.NoError(t, err)
			answer, err := one.(tool.InvokableTool).InvokableRun(t.Context(), string(text))
			t.Log(info.Name, answer, err)
		}
	}
}
