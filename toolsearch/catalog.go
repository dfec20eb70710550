// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the catalogue: the hidden tools of an agent and the indexes over them.

import (
	"context"
	"encoding/gob"
	"io"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
)

// entry is one hidden tool. It is immutable.
type entry struct {
	info *schema.ToolInfo // our copy; read only
	safe *schema.ToolInfo // what goes into the agent's state: a copy that a checkpoint can hold
	tool tool.BaseTool    // guards the original: knows its info, and asks the gate

	own        schema.ToolInfo // what info points to: one piece of memory for both
	typeOnce   sync.Once
	typeText   string
	schemaOnce sync.Once
	schemaText string
	shownText  string
	checkOnce  sync.Once
	check      *check
}

func newEntry(t tool.BaseTool, info *schema.ToolInfo) (*entry, error) {
	e := &entry{}
	return e, e.fill(t, info)
}

// fill makes a new entry that of a tool.
func (e *entry) fill(t tool.BaseTool, info *schema.ToolInfo) (err error) {
	e.own = *info
	e.own.Extra = copyExtra(info.Extra)
	e.info, e.safe = &e.own, gobSafe(&e.own)
	e.tool, err = guardTool(t, e)
	return err
}

// gobSafe returns info without those entries of Extra that gob cannot encode. Infos in
// the agent's state become part of its checkpoints, and one entry of an unregistered
// type, such as a nested map, would make every checkpoint of the run fail.
func gobSafe(info *schema.ToolInfo) *schema.ToolInfo {
	var bad []string
	for k, v := range info.Extra {
		if gob.NewEncoder(io.Discard).Encode(map[string]any{k: v}) != nil {
			bad = append(bad, k)
		}
	}
	if len(bad) == 0 {
		return info
	}
	safe := *info
	safe.Extra = make(map[string]any, len(info.Extra))
	for k, v := range info.Extra {
		safe.Extra[k] = v
	}
	for _, k := range bad {
		delete(safe.Extra, k)
	}
	return &safe
}

// typ is the tool's type as callbacks are told it. It can cost more to find out than all
// else that New does.
func (e *entry) typ() string {
	e.typeOnce.Do(func() { e.typeText = typeOf(unwrap(e.tool)) })
	return e.typeText
}

// parameters is the JSON schema of the tool's arguments, as text.
func (e *entry) parameters() string {
	e.schemaOnce.Do(func() {
		e.schemaText = schemaText(e.info)
		e.shownText = outline(e.schemaText, maxShownSchema)
	})
	return e.schemaText
}

// shownParameters is the schema as answers show it, and whether it is shortened.
func (e *entry) shownParameters() (text string, shortened bool) {
	whole := e.parameters()
	return e.shownText, e.shownText != whole
}

// catalog is the hidden tools of an agent. It is immutable and safe for concurrent use.
type catalog struct {
	entries []*entry
	byName  map[string]*entry
	words   wordIndex // for suggestions, and the answer when the index fails
	index   Index
}

// newCatalog makes the catalogue of an agent in which lead is the first instance, and has
// the first entries.
func newCatalog(ctx context.Context, entries []*entry, lead *settings) (*catalog, error) {
	c := &catalog{entries: entries, byName: lead.byName}
	if len(entries) != len(lead.entries) {
		c.byName = make(map[string]*entry, len(entries))
		for _, e := range entries {
			c.byName[e.info.Name] = e
		}
	}
	c.words = wordIndex{atFirstUse(func() *keyword.Index { return keyword.New(documents(c.infos(), false)) })}
	c.index = keywordIndex{c.words}
	if lead.cfg.NewIndex == nil || len(entries) == 0 {
		return c, nil
	}
	x, err := makeIndex(ctx, lead.cfg.NewIndex, c.infos())
	if err != nil {
		wrong := problems{}
		wrong.add("NewIndex", "%w", err)
		return nil, wrong.err()
	}
	c.index = x
	return c, nil
}

func (c *catalog) infos() []*schema.ToolInfo {
	infos := make([]*schema.ToolInfo, len(c.entries))
	for i, e := range c.entries {
		infos[i] = e.info
	}
	return infos
}

// with is a catalogue of other entries, which look the same to the indexes.
func (c *catalog) with(entries []*entry) *catalog {
	own := &catalog{entries: entries, byName: make(map[string]*entry, len(entries)), words: c.words, index: c.index}
	for _, e := range entries {
		own.byName[e.info.Name] = e
	}
	return own
}

// resolve finds the tool that a model means by a name: the name itself, or, if only one
// tool comes into question, the name in another case or with other separators. Only tools
// that may be found come into question; nil if there is none.
func (c *catalog) resolve(name string, may func(*entry) bool) *entry {
	for _, n := range []string{name, unescapeName(name)} {
		if e := c.byName[n]; e != nil && may(e) {
			return e
		}
	}
	if doc, ok := c.words.index().Resolve(name, func(doc int) bool { return may(c.entry(doc)) }); ok {
		return c.entry(doc)
	}
	return nil
}

// entry is the tool at a position of the index.
func (c *catalog) entry(doc int) *entry { return c.byName[c.words.index().Name(doc)] }

// near returns the names closest to one that does not exist, of those that may be found.
func (c *catalog) near(name string, limit int, may func(*entry) bool) []string {
	for ask := 4 * limit; ; ask = 0 {
		var names []string
		docs := c.words.index().Suggest(name, ask)
		for _, doc := range docs {
			if e := c.entry(doc); len(names) < limit && len(e.info.Name) <= maxNearBytes && may(e) {
				names = append(names, e.info.Name)
			}
		}
		if len(names) == limit || len(docs) < ask || ask == 0 {
			return names
		}
	}
}

// documents are the tools as the keyword package wants them; rich ones have parameters.
func documents(tools []*schema.ToolInfo, rich bool) []keyword.Doc {
	docs := make([]keyword.Doc, len(tools))
	for i, t := range tools {
		docs[i] = keyword.Doc{Name: t.Name, Server: server(t.Name), Description: t.Desc}
		if rich {
			docs[i].Params = parameters(t)
		}
	}
	return docs
}
