// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// need is a request in several languages for a tool of a public catalogue.
type need struct {
	Half     string // dev or heldout
	Tools    string // the catalogue; empty: no tool of any serves it
	Relevant []string
	Long     bool
	Said     map[string]string
	Foreign  string // a catalogue of which no tool serves it
}

func (n need) asCase(said string) toolsearcheval.Case {
	c := toolsearcheval.Case{Query: n.Said[said], Relevant: n.Relevant}
	if len(n.Relevant) > 1 {
		c.Relevant, c.Equivalent = n.Relevant[:1], map[string][]string{n.Relevant[0]: n.Relevant[1:]}
	}
	return c
}

// serverHalves are the servers of the two halves, drawn at random.
var serverHalves = map[string]string{
	"dev": "sentry google_news_trends word obsidian todoist outlook weather airtable arxiv time supabase youtube stripe context7 brightdata " +
		"datadog mongodb atlassian grafana figma github firecrawl playwright redis amap lotus_wisdom google_calendar baidu_map spotify hubspot",
	"heldout": "teams trello neo4j feishu shopify linear plane chart duckduckgo wikipedia sonarqube reddit coingecko 12306 exa circleci notion " +
		"discord memory postgres excel gmail cloudflare pokemon terraform sequentialthinking asana slack kubernetes puppeteer",
}

// half is the part of a public catalogue that is asked: whole servers, where it has servers.
func half(t *testing.T, dir, catalogue, half string) []*schema.ToolInfo {
	tools, err := toolsearcheval.LoadTools(filepath.Join(dir, catalogue, "tools.jsonl"))
	require.NoError(t, err)
	if catalogue != "mcp_servers" {
		return tools
	}
	servers := strings.Fields(serverHalves[half])
	return slices.DeleteFunc(tools, func(t *schema.ToolInfo) bool {
		server, _, _ := strings.Cut(t.Name, "__")
		return !slices.Contains(servers, server)
	})
}

// neededPairs are languages of requests, and of the tools of a catalogue.
var neededPairs = [][3]string{
	{"en", "en", "mcp_servers"}, {"zh", "en", "mcp_servers"}, {"de", "en", "mcp_servers"}, {"zh", "zh", "acebench_zh"}, {"en", "zh", "acebench_zh"},
}

// neededTable is what each pair of languages gives in one half.
func neededTable(t *testing.T, all []need, half string, tools func(catalogue string) []*schema.ToolInfo) string {
	var b strings.Builder
	b.WriteString(spokenHead)
	for _, pair := range neededPairs {
		said, told, catalogue := pair[0], pair[1], pair[2]
		var own, long, foreign []toolsearcheval.Case
		for _, n := range all {
			switch {
			case n.Half != half || n.Said[said] == "":
			case n.Tools == catalogue && n.Long:
				long = append(long, n.asCase(said))
			case n.Tools == catalogue:
				own = append(own, n.asCase(said))
			case n.Foreign == catalogue:
				foreign = append(foreign, toolsearcheval.Case{Query: n.Said[said]})
			}
		}
		var h heard
		h.hear(t, tools(catalogue), own, long, foreign)
		b.WriteString(h.line(said, told))
	}
	return b.String()
}

// Public catalogues are asked in several languages, by requests that were written before any of them was run.
func TestPublicServers_LanguagesMatchDocs(t *testing.T) {
	dir, set := os.LookupEnv(dataVariable)
	if !set || dir == "" {
		t.Skipf("set %s to a directory of catalogues; `make recall` does", dataVariable)
	}
	skipWithoutServers(t, dir)
	all, held := linesOf[need](t, "spoken.jsonl"), ""
	for _, h := range []string{"dev", "heldout"} {
		held = neededTable(t, all, h, func(catalogue string) []*schema.ToolInfo { return half(t, dir, catalogue, h) })
		fmt.Printf("%s, public catalogues\n%s\n", h, held)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "internal", "dev", "RESULTS.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), "<!-- measured: servers -->\n```\n"+held+"```\n")
}
