// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword"
)

// catalog is the tools of one field, with requests that they serve.
type catalog struct {
	name    string // of the field
	origin  string // whose texts they are: a fit leaves out all of one origin
	heldout bool   // to judge by
	docs    []keyword.Doc
	queries []query
}

type query struct {
	Query    string              `json:"query"`
	Relevant []string            `json:"relevant"`
	Equiv    map[string][]string `json:"equiv"`
}

func (q query) isAnsweredBy(name string) bool {
	return slices.ContainsFunc(q.Relevant, func(want string) bool { return name == want || slices.Contains(q.Equiv[want], name) })
}

// fields are the servers that make up one field of a catalogue of servers.
type field struct{ name, servers string }

var ownFields = []field{
	{"own development", "codehub kube sqldb watchtower sandbox deploy pipeline vault buckets"},
	{"own office", "teamchat mailbox cloud-drive agenda jotter wiki ticketdesk board crm people docsign airtab oa erp case insight"},
	{"own life", "homehub shop flights hotels maps vidtube jukebox fit piao waimai guahao kuaidi ditu yinyue weather"},
	{"own computing", "encoding number math text json units lines statistics color compress geometry hanzi cipher compare csv identifier " +
		"extract go markdown random archive regex unicode url html version xml hash template"},
}

var serverFields = []field{
	{"development", "github redis grafana supabase sonarqube kubernetes cloudflare playwright mongodb postgres circleci datadog sentry terraform puppeteer neo4j context7"},
	{"operations", "redis grafana sonarqube kubernetes cloudflare mongodb circleci datadog sentry terraform neo4j"},
	{"office", "gmail plane linear asana hubspot todoist trello atlassian word teams notion google_calendar excel outlook slack discord feishu airtable obsidian"},
	{"life", "amap baidu_map 12306 spotify youtube reddit weather arxiv coingecko google_news_trends pokemon wikipedia exa stripe shopify duckduckgo time"},
}

// foreign names, for requests of a field, the fields whose tools do not serve them. Where
// tools of general use may, the pair is left out; so is bfcl for operations, as it has tools
// for pods and commands.
var foreign = map[string][]string{
	"apibank":         {"development", "own development"},
	"metatool":        {"development", "office", "own computing"},
	"sealtools":       {"development", "office"},
	"acebench_zh":     {"development", "office", "own computing", "own development"},
	"operations":      {"apibank", "sealtools", "acebench_zh", "own life", "own office", "own computing"},
	"office":          {"operations"},
	"life":            {"development", "office", "own development"},
	"own development": {"apibank", "acebench_zh", "office", "life", "own life", "own computing", "own office"},
	"own office":      {"operations", "own life", "own computing", "own development"},
	"own life":        {"development", "office", "own development", "own computing", "own office"},
	"own computing":   {"operations", "office", "own development", "own office", "own life"},
}

func load(own, data string) ([]catalog, error) {
	all, err := loadOwn(own)
	if err != nil || data == "" {
		return all, err
	}
	folders, err := filepath.Glob(filepath.Join(data, "*", "tools.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, file := range folders {
		dir := filepath.Dir(file)
		c, err := loadFolder(dir)
		if err != nil {
			return nil, err
		}
		if c.name != "mcp_servers" {
			all = append(all, c)
			continue
		}
		for _, f := range serverFields {
			all = append(all, c.ofField(f))
		}
	}
	return all, nil
}

func loadFolder(dir string) (catalog, error) {
	c := catalog{name: filepath.Base(dir), origin: filepath.Base(dir)}
	var err error
	if c.docs, err = readDocs(filepath.Join(dir, "tools.jsonl")); err != nil {
		return c, err
	}
	for _, name := range []string{"queries.jsonl", "queries_llm.jsonl"} {
		queries, err := readLines[query](filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
		c.queries = append(c.queries, queries...)
	}
	return c, nil
}

func loadOwn(dir string) (all []catalog, err error) {
	var docs []keyword.Doc
	for _, name := range []string{"tools.jsonl", "library.jsonl"} {
		more, err := readDocs(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	for _, half := range []string{"dev", "heldout"} {
		queries, err := readLines[query](filepath.Join(dir, half+".jsonl"))
		if err != nil {
			return nil, err
		}
		c := catalog{origin: "own", heldout: half == "heldout", docs: docs, queries: queries}
		for _, f := range ownFields {
			all = append(all, c.ofField(f))
		}
	}
	return all, nil
}

// ofField is the part of a catalogue that belongs to a field.
func (c catalog) ofField(f field) catalog {
	servers, known := strings.Fields(f.servers), map[string]bool{}
	part := catalog{name: f.name, origin: c.origin, heldout: c.heldout}
	for _, d := range c.docs {
		if server, _, _ := strings.Cut(d.Name, "__"); slices.Contains(servers, server) {
			part.docs = append(part.docs, d)
			known[d.Name] = true
		}
	}
	for _, q := range c.queries {
		if len(q.Relevant) > 0 && !slices.ContainsFunc(q.Relevant, func(name string) bool { return !known[name] }) {
			part.queries = append(part.queries, q)
		}
	}
	return part
}

// readDocs reads tools whose parameters are a map to descriptions, or a JSON schema.
func readDocs(file string) ([]keyword.Doc, error) {
	type tool struct {
		Name, Description, Server string
		Params                    map[string]string
		InputSchema               struct {
			Properties map[string]struct {
				Description string
				Enum        []any
			}
		}
	}
	tools, err := readLines[tool](file)
	docs := make([]keyword.Doc, len(tools))
	for i, t := range tools {
		d := keyword.Doc{Name: t.Name, Server: t.Server, Description: t.Description}
		if server, _, ok := strings.Cut(t.Name, "__"); ok && d.Server == "" {
			d.Server = server
		}
		for name, description := range t.Params {
			d.Params = append(d.Params, keyword.Param{Name: name, Description: description})
		}
		for name, p := range t.InputSchema.Properties {
			param := keyword.Param{Name: name, Description: p.Description}
			for _, value := range p.Enum {
				param.Enum = append(param.Enum, fmt.Sprint(value))
			}
			d.Params = append(d.Params, param)
		}
		slices.SortFunc(d.Params, func(a, b keyword.Param) int { return strings.Compare(a.Name, b.Name) })
		docs[i] = d
	}
	return docs, err
}

func readLines[T any](file string) (all []T, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		all = append(all, v)
	}
	return all, lines.Err()
}
