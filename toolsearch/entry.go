// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A hidden tool: its own copy of the definition, and what is computed from it once. JSON
// schemas are untrusted: every walk through one is bounded, and a schema that is too deep
// or refers to itself counts as none.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/toolschema"
)

// entry is one hidden tool. It is immutable.
type entry struct {
	info *schema.ToolInfo // our copy; read only
	safe *schema.ToolInfo // what goes into the agent's state: a copy that a checkpoint can hold
	tool tool.BaseTool    // guards the original: knows its info, and asks the gate

	held       schema.ToolInfo // what info points to: one piece of memory for both
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

// settle indexes the entries that have no home yet in one new batch.
func settle(entries []*entry, o *origin) {
	var infos []*schema.ToolInfo
	var addresses []*address
	for _, e := range entries {
		if e.address == nil {
			e.address = &e.ownAddress
		}
		if e.address.now.Load() == nil {
			infos, addresses = append(infos, e.info), append(addresses, e.address)
		}
	}
	if len(infos) == 0 {
		return
	}
	b := newBatch(infos, addresses, o)
	for i, p := range addresses {
		p.now.Store(&b.homes[i])
	}
}

// readInfo returns a tool's info.
func readInfo(ctx context.Context, t tool.BaseTool) (*schema.ToolInfo, error) {
	if safe.IsNil(t) {
		return nil, errors.New("the tool is nil")
	}
	info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
	switch {
	case err != nil:
		return nil, infoError(t, err)
	case info == nil:
		return nil, fmt.Errorf("Info of %T returned nil", t)
	case info.Name == "":
		return nil, fmt.Errorf("Info of %T has an empty Name (description %.60q)", t, info.Desc)
	}
	return info, nil
}

func infoError(t tool.BaseTool, err error) error {
	var panicked *safe.PanicError
	if errors.As(err, &panicked) {
		panicked.What = fmt.Sprintf("Info of %T", t)
		return panicked
	}
	return fmt.Errorf("reading Info of %T: %w", t, err)
}

// gobSafe returns info without those entries of Extra that gob cannot encode. Infos in
// the agent's state become part of its checkpoints, and one entry of an unregistered
// type, such as a nested map, would make every checkpoint of the run fail.
func gobSafe(info *schema.ToolInfo) *schema.ToolInfo {
	if len(info.Extra) == 0 {
		return info
	}
	safe := *info
	safe.Extra = maps.Clone(info.Extra)
	maps.DeleteFunc(safe.Extra, func(k string, v any) bool {
		return gob.NewEncoder(io.Discard).Encode(map[string]any{k: v}) != nil
	})
	if len(safe.Extra) == len(info.Extra) {
		return info
	}
	return &safe
}

// typ is the tool's type as reported to callbacks. Finding it can cost more than all the
// rest of New.
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

// tokens is about how many tokens the definition of a tool takes.
func (e *entry) tokens() int64 {
	const bytesPerToken = 4
	return int64(len(e.info.Name)+len(e.info.Desc)+len(e.parameters())+bytesPerToken-1) / bytesPerToken
}

// schemaText is the JSON schema of a tool's arguments. An unreadable schema counts as none:
// the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) string {
	if text, ok := toolschema.Text(info.ParamsOneOf); ok {
		return text
	}
	return noParameters
}

func (e *entry) isCurrent(t *schema.ToolInfo) bool {
	return t.Desc == e.info.Desc && t.ParamsOneOf != nil && schemaText(t) == e.parameters()
}

// isMarked reports whether a tool asks to be hidden.
func isMarked(info *schema.ToolInfo) bool {
	marked, _ := info.Extra["defer_loading"].(bool)
	return marked
}

// definition is equal for tools with equal names, descriptions, schemas and Extra. A tool
// whose Extra cannot be compared equals only itself.
func (e *entry) definition() [sha256.Size]byte {
	e.defined.once.Do(func() {
		extra, plain := plainText(e.info.Extra)
		if !plain {
			extra = string(binary.BigEndian.AppendUint64([]byte("unlike"), unlike.Add(1)))
		}
		h := sha256.New()
		for _, text := range []string{e.info.Name, e.info.Desc, e.parameters(), extra} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
		h.Sum(e.defined.sum[:0])
	})
	return e.defined.sum
}

// definitionSum is an entry's definition, computed on first use.
type definitionSum struct {
	once sync.Once
	sum  [sha256.Size]byte
}

// unlike numbers the definitions that equal no other.
var unlike atomic.Uint64

// native is a copy of the info that may be deferred: providers refuse a deferred tool that
// is also a place to cache up to.
func (e *entry) native() *schema.ToolInfo {
	dup := shallowInfo(e.safe)
	if dup.ParamsOneOf == nil {
		dup.ParamsOneOf = noParams()
	}
	for _, key := range cacheKeys {
		delete(dup.Extra, key)
	}
	return dup
}

// noParams replaces missing parameters, which some adapters cannot send.
func noParams() *schema.ParamsOneOf {
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})
}

// cacheKeys are the keys of ToolInfo.Extra under which the claude and the agenticclaude
// adapter keep a cache breakpoint.
var cacheKeys = []string{"_eino_claude_breakpoint", "_eino_claude_breakpoint_ttl", "_agenticclaude_cache_control_ttl"}

// guarded is a tool that is hidden already.
type guarded interface {
	original() tool.BaseTool
	describes() *schema.ToolInfo
}

func unwrap(t tool.BaseTool) tool.BaseTool {
	if g, ok := t.(guarded); ok {
		return g.original()
	}
	return t
}

// copyInfo copies an info, its Extra, and the schema of its parameters.
func copyInfo(info *schema.ToolInfo) *schema.ToolInfo {
	return withOwnParams(shallowInfo(info))
}

// withOwnParams gives a copy of an info a schema of its own.
func withOwnParams(dup *schema.ToolInfo) *schema.ToolInfo {
	dup.ParamsOneOf = copyParams(dup.ParamsOneOf)
	return dup
}

// shallowInfo copies an info and its Extra: a schema takes longer.
func shallowInfo(info *schema.ToolInfo) *schema.ToolInfo {
	dup := *info
	dup.Extra = copyExtra(dup.Extra)
	return &dup
}

func copyExtra(extra map[string]any) map[string]any {
	if extra == nil {
		return nil
	}
	dup := make(map[string]any, len(extra))
	for k, v := range extra {
		dup[k] = copyValue(v, toolschema.MaxDepth)
	}
	return dup
}

// copyValue copies maps and slices within a value. It shares what pointers refer to, and
// everything below depth.
func copyValue(v any, depth int) any {
	if depth == 0 {
		return v
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return v
	case map[string]any:
		dup := maps.Clone(v)
		for k, x := range dup {
			dup[k] = copyValue(x, depth-1)
		}
		return dup
	case []any:
		dup := slices.Clone(v)
		for i, x := range dup {
			dup[i] = copyValue(x, depth-1)
		}
		return dup
	}
	return copyByKind(reflect.ValueOf(v), depth)
}

// copyByKind copies maps and slices of other types.
func copyByKind(v reflect.Value, depth int) any {
	assign := func(to func(reflect.Value), x reflect.Value) {
		if dup := copyValue(x.Interface(), depth-1); dup != nil {
			x = reflect.ValueOf(dup)
		}
		to(x)
	}
	switch {
	case v.Kind() == reflect.Map && !v.IsNil():
		dup := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			assign(func(x reflect.Value) { dup.SetMapIndex(it.Key(), x) }, it.Value())
		}
		return dup.Interface()
	case v.Kind() == reflect.Slice && !v.IsNil():
		dup := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			assign(dup.Index(i).Set, v.Index(i))
		}
		return dup.Interface()
	}
	return v.Interface()
}

// copyParams copies parameters. Those given as a JSON schema return that schema itself,
// which must be copied; others build one for each caller.
func copyParams(p *schema.ParamsOneOf) (dup *schema.ParamsOneOf) {
	if p == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			dup = p
		}
	}()
	s, err := p.ToJSONSchema()
	again, _ := p.ToJSONSchema()
	if err != nil || s == nil || s != again {
		c := *p
		return &c
	}
	k := newCopier(s)
	dup = schema.NewParamsOneOfByJSONSchema(k.of(s))
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
	return dup
}

// copier copies the nodes of a schema, each once: a schema may contain itself.
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
	dup := slices.Clone(nodes)
	for i, n := range dup {
		dup[i] = k.of(n)
	}
	return dup
}

func (k *copier[T]) byName(nodes map[string]*T) map[string]*T {
	dup := maps.Clone(nodes)
	for name, n := range dup {
		dup[name] = k.of(n)
	}
	return dup
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

// plainText differs for different values of Extra; ok is false if they hold more than
// texts, numbers, lists and maps.
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
	case nil, bool, string, int, int64, float64, []string:
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
