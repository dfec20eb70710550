// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The hidden tools of a run by name, their own copies of the definitions, and what an index
// reads of their JSON schemas, which strangers write: every walk through one is bounded, and
// a schema that is too deep or refers to itself counts as none.

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/toolschema"
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
	check      *toolschema.Check
	defined    definitionSum
	ownAddress address
	address    *address // where its definition is indexed
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
	fixed  []*entry          // the dynamic tools, and those that the agent gave up
	byName map[string]*entry // of these
	sets   []*ToolSet        // those of sources; no two of all these tools have the same name
	words  wordIndex         // for suggestions, and the answer when the index fails
	index  Index
	sure   bm25Index // for the confidence of what another index found
}

// indexBy makes the indexes of the catalogue.
func (c *catalog) indexBy(ctx context.Context, f IndexFunc, live bool) error {
	settle(c.fixed, nil)
	var all selection
	all.add(c.fixed...)
	for _, s := range c.sets {
		all.addSet(s)
	}
	c.words = newWords(all)
	c.index, c.sure = keywordIndex{c.words}, newBM25(all)
	return c.makeIndex(ctx, f, all, live)
}

// entries iterates over the tools in their order.
func (c *catalog) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range c.fixed {
			if !yield(e) {
				return
			}
		}
		for _, s := range c.sets {
			for e := range s.entries() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

func (c *catalog) len() int {
	n := len(c.fixed)
	for _, s := range c.sets {
		n += s.len()
	}
	return n
}

// makeIndex makes the index of the catalogue. Where tools come and go, one that cannot be
// made ends nothing: the specified score answers, and each search says why.
func (c *catalog) makeIndex(ctx context.Context, f IndexFunc, all selection, live bool) error {
	if f == nil || c.len() == 0 {
		return nil
	}
	if isFunc(f, BM25Index) { // it needs no list of a hundred thousand tools for one that changed
		c.index = c.sure
		return nil
	}
	infos := c.infos()
	x, err := makeIndex(withSelection(ctx, infos, all), f, infos)
	switch {
	case err == nil:
		c.index = x
	case live:
		c.index = brokenIndex{err}
	default:
		wrong := problems{}
		wrong.add("NewIndex", "%w", err)
		return wrong.err()
	}
	return nil
}

// isFunc reports whether two functions are the same one. It does not tell closures apart.
func isFunc(a, b IndexFunc) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }

// brokenIndex takes the place of an index that could not be made.
type brokenIndex struct{ err error }

func (b brokenIndex) Search(context.Context, Query) ([]Result, error) { return nil, b.err }

// lookup returns the tool of a name; nil if there is none.
func (c *catalog) lookup(name string) *entry {
	if e := c.byName[name]; e != nil {
		return e
	}
	for _, s := range c.sets {
		if e := s.lookup(name); e != nil {
			return e
		}
	}
	return nil
}

func (c *catalog) infos() []*schema.ToolInfo {
	infos := make([]*schema.ToolInfo, 0, c.len())
	for _, e := range c.fixed {
		infos = append(infos, e.info)
	}
	for _, s := range c.sets {
		infos = s.appendInfos(infos)
	}
	return infos
}

// resolve finds the tool that a model means by a name: the name itself, or, if only one
// tool comes into question, the name in another case or with other separators. Only tools
// that may be found come into question; nil if there is none.
func (c *catalog) resolve(name string, may func(*entry) bool) *entry {
	for _, n := range []string{name, unescapeName(name)} {
		if e := c.lookup(n); e != nil && may(e) {
			return e
		}
	}
	if doc, ok := c.words.index().Resolve(name, func(doc int) bool { return may(c.entry(doc)) }); ok {
		return c.entry(doc)
	}
	return nil
}

// entry is the tool at a position of the index.
func (c *catalog) entry(doc int) *entry { return c.lookup(c.words.index().Name(doc)) }

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
		docs[i] = keyword.Doc{Name: t.Name, Server: serverOf(t.Name), Description: t.Desc}
		if rich {
			docs[i].Params, docs[i].Phrases = parameters(t), phrases(t)
		}
	}
	return docs
}

// copyInfo copies an info, its Extra, and the schema of its parameters.
func copyInfo(info *schema.ToolInfo) *schema.ToolInfo {
	own := shallowInfo(info)
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

// shallowInfo copies an info and its Extra: a schema takes longer.
func shallowInfo(info *schema.ToolInfo) *schema.ToolInfo {
	own := *info
	own.Extra = copyExtra(own.Extra)
	return &own
}

func copyExtra(extra map[string]any) map[string]any {
	if extra == nil {
		return nil
	}
	own := make(map[string]any, len(extra))
	for k, v := range extra {
		own[k] = copyValue(v, toolschema.MaxDepth)
	}
	return own
}

// copyValue copies maps and slices within a value. What pointers lead to is the user's to
// guard, and so is what lies below depth.
func copyValue(v any, depth int) any {
	if depth == 0 {
		return v
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return v
	case map[string]any:
		own := maps.Clone(v)
		for k, x := range own {
			own[k] = copyValue(x, depth-1)
		}
		return own
	case []any:
		own := slices.Clone(v)
		for i, x := range own {
			own[i] = copyValue(x, depth-1)
		}
		return own
	}
	return copyByKind(reflect.ValueOf(v), depth)
}

// copyByKind copies maps and slices of other types.
func copyByKind(v reflect.Value, depth int) any {
	set := func(to func(reflect.Value), x reflect.Value) {
		if own := copyValue(x.Interface(), depth-1); own != nil {
			x = reflect.ValueOf(own)
		}
		to(x)
	}
	switch {
	case v.Kind() == reflect.Map && !v.IsNil():
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			set(func(x reflect.Value) { own.SetMapIndex(it.Key(), x) }, it.Value())
		}
		return own.Interface()
	case v.Kind() == reflect.Slice && !v.IsNil():
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			set(own.Index(i).Set, v.Index(i))
		}
		return own.Interface()
	}
	return v.Interface()
}

// copyParams copies parameters. Those that were given as a JSON schema hand out that schema
// itself; others make one for each caller.
func copyParams(p *schema.ParamsOneOf) (own *schema.ParamsOneOf) {
	if p == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			own = p
		}
	}()
	s, err := p.ToJSONSchema()
	again, _ := p.ToJSONSchema()
	if err != nil || s == nil || s != again {
		c := *p
		return &c
	}
	k := newCopier(s)
	own = schema.NewParamsOneOfByJSONSchema(k.of(s))
	for i := 0; i < len(k.copies); i++ {
		n := k.copies[i]
		if from := n.Properties; from != nil {
			n.Properties = emptyOf(from)
			for p := from.Oldest(); p != nil; p = p.Next() {
				n.Properties.Set(p.Key, k.of(p.Value))
			}
		}
		n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems = k.copyList(n.AllOf), k.copyList(n.AnyOf), k.copyList(n.OneOf), k.copyList(n.PrefixItems)
		n.Not, n.If, n.Then, n.Else = k.of(n.Not), k.of(n.If), k.of(n.Then), k.of(n.Else)
		n.Items, n.Contains, n.PropertyNames = k.of(n.Items), k.of(n.Contains), k.of(n.PropertyNames)
		n.AdditionalProperties, n.ContentSchema = k.of(n.AdditionalProperties), k.of(n.ContentSchema)
		n.Definitions = k.byName(n.Definitions)
		n.DependentSchemas, n.PatternProperties = k.byName(n.DependentSchemas), k.byName(n.PatternProperties)
		n.MaxLength, n.MinLength, n.MaxItems, n.MinItems = pointed(n.MaxLength), pointed(n.MinLength), pointed(n.MaxItems), pointed(n.MinItems)
		n.MaxContains, n.MinContains = pointed(n.MaxContains), pointed(n.MinContains)
		n.MaxProperties, n.MinProperties = pointed(n.MaxProperties), pointed(n.MinProperties)
		n.TypeEnhanced, n.Required = slices.Clone(n.TypeEnhanced), slices.Clone(n.Required)
		n.DependentRequired, _ = copyValue(n.DependentRequired, toolschema.MaxDepth).(map[string][]string)
		n.Enum, _ = copyValue(n.Enum, toolschema.MaxDepth).([]any)
		n.Examples, _ = copyValue(n.Examples, toolschema.MaxDepth).([]any)
		n.Const, n.Default = copyValue(n.Const, toolschema.MaxDepth), copyValue(n.Default, toolschema.MaxDepth)
		n.Extras = copyExtra(n.Extras)
	}
	return own
}

// copier copies the nodes of a schema, each once: a schema may contain itself. Its parts
// are copied one after another, for the nodes in copies.
type copier[T any] struct {
	done   map[*T]*T
	copies []*T
}

func newCopier[T any](*T) *copier[T] { return &copier[T]{done: map[*T]*T{}} }

func (k *copier[T]) of(node *T) *T {
	if node == nil {
		return nil
	}
	c := k.done[node]
	if c == nil {
		c = pointed(node)
		k.done[node] = c
		k.copies = append(k.copies, c)
	}
	return c
}

func (k *copier[T]) copyList(nodes []*T) []*T {
	own := slices.Clone(nodes)
	for i, n := range own {
		own[i] = k.of(n)
	}
	return own
}

func (k *copier[T]) byName(nodes map[string]*T) map[string]*T {
	own := maps.Clone(nodes)
	for name, n := range own {
		own[name] = k.of(n)
	}
	return own
}

func pointed[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

// emptyOf is an empty ordered map of the type of another.
func emptyOf[T any](*T) *T {
	v := new(T)
	if err := json.Unmarshal([]byte("{}"), v); err != nil {
		panic(err)
	}
	return v
}

// plainText is a text that differs wherever two values of Extra do; ok is false where they
// hold more than texts, numbers, lists and maps.
func plainText(extra map[string]any) (text string, ok bool) {
	for _, v := range extra {
		if !isPlain(v, toolschema.MaxDepth) {
			return "", false
		}
	}
	text, err := sonic.ConfigStd.MarshalToString(extra)
	return text, err == nil
}

func isPlain(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return true
	case []string:
		return true
	case []any:
		return depth > 0 && !slices.ContainsFunc(v, func(x any) bool { return !isPlain(x, depth-1) })
	case map[string]any:
		for _, x := range v {
			if depth == 0 || !isPlain(x, depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

const (
	// noParameters is the schema of a tool that takes none.
	noParameters = `{"type":"object","properties":{}}`

	// What is indexed of a schema; more would drown what the tool is about.
	maxIndexedDepth = 3
	maxIndexed      = 100 // parameters
	maxIndexedBytes = 16 << 10
)

// schemaText is the JSON schema of a tool's arguments. A schema that cannot be read is
// answered like none: the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) string {
	if text, ok := toolschema.Text(info.ParamsOneOf); ok {
		return text
	}
	return noParameters
}

// parameters are the parameters of a tool for an index: names, descriptions and enum
// values, nested ones as well.
func parameters(info *schema.ToolInfo) (params []keyword.Param) {
	size := 0
	toolschema.Each(info.ParamsOneOf, func(part toolschema.Param) bool {
		p := keyword.Param{Name: part.Name, Description: part.Description, Enum: enumTexts(part.Enum)}
		size += len(p.Name) + len(p.Description)
		for _, v := range p.Enum {
			size += len(v)
		}
		if len(params) == maxIndexed || size > maxIndexedBytes {
			return false
		}
		if part.Depth <= maxIndexedDepth {
			params = append(params, p)
		}
		return true
	})
	return params
}

// enumTexts are the values of an enum that are texts or numbers.
func enumTexts(values []any) []string {
	const most = 50
	var out []string
	for _, v := range values {
		switch v.(type) {
		case string, float64, int, int64, json.Number:
			if len(out) < most {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}
