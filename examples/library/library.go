// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package library is a library of working tools, large enough that no model
// should be shown all of it at once. Each tool does its work offline, with Go's
// standard library and a few others. They are grouped into servers as tools from
// MCP servers are, and named server__tool.
//
// A tool never ends a run because of what a model sent: bad arguments get an
// answer that begins with "error:" and says what to send instead. Tools for
// files see one folder, the root, and cannot leave it.
package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/cloudwego/eino/components/tool"
)

// Server is a group of tools with one subject, as one MCP server would give.
type Server struct {
	Name  string          // what the names of its tools begin with
	Title string          // its subject, for people
	Tools []tool.BaseTool // in the order in which they are listed
}

// Servers makes all servers. Those that work on files see only the folder
// root, which need not exist until a tool is called. The tools are safe for
// concurrent use, except where they change the same files.
func Servers(root string) []Server {
	groups := []group{
		timeServer, calendarServer, cronServer,
		textServer, linesServer, caseServer, regexServer, extractServer, compareServer, unicodeServer, templateServer,
		mathServer, numberServer, statisticsServer, geometryServer, unitsServer, financeServer, randomServer,
		encodingServer, hashServer, cipherServer, compressServer, identifierServer, versionServer,
		jsonServer, csvServer, xmlServer, htmlServer, markdownServer, goServer,
		urlServer, networkServer, colorServer,
		filesServer, folderServer, archiveServer, imageServer,
		hanziServer, chinaServer,
	}
	out := make([]Server, len(groups))
	for i, g := range groups {
		out[i] = Server{Name: g.name, Title: g.title}
		for _, make := range g.tools {
			out[i].Tools = append(out[i].Tools, make(folder{root}))
		}
	}
	return out
}

// Tools gives the tools of all servers, sorted by name. It is an error if root
// is not a folder or if two tools have the same name.
func Tools(root string) ([]tool.BaseTool, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("library: opening root %q: %w", root, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("library: opening root %q: not a folder", root)
	}
	return merge(Servers(root))
}

// merge sorts the servers' tools into one list, and reports every duplicate name.
func merge(servers []Server) ([]tool.BaseTool, error) {
	byName := map[string]tool.BaseTool{}
	var names []string
	var clashes []error
	for _, s := range servers {
		for _, t := range s.Tools {
			info, err := t.Info(context.Background())
			if err != nil {
				return nil, fmt.Errorf("library: describing a tool of %q: %w", s.Name, err)
			}
			if byName[info.Name] != nil {
				clashes = append(clashes, fmt.Errorf("library: naming %q: two tools have this name", info.Name))
			}
			byName[info.Name] = t
			names = append(names, info.Name)
		}
	}
	if len(clashes) > 0 {
		return nil, errors.Join(clashes...)
	}
	sort.Strings(names)
	out := make([]tool.BaseTool, len(names))
	for i, name := range names {
		out[i] = byName[name]
	}
	return out, nil
}
