// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog has the tools that toolsearch hides: a tool, with whatever is computed once from its
// definition, and sets of tools, with their indexes. Its sets are those of package toolset from inside.
//
// JSON schemas are untrusted: every walk through one is bounded, and one that is too deep or refers to
// itself counts as none.
package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/internal/warn"
)

// Digest is a short text that tells texts apart.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Set is an ordered set of tools with unique names: one block, or parts of several. It is immutable,
// and nil is the empty set.
type Set struct {
	parts []part
	size  int

	sumOnce sync.Once
	sumText string
	indexes sync.Map // see memoize
}

// block is tools that are indexed together, as a whole, once, when a search first needs it. It is what
// one call of New or Update made, and immutable.
type block struct {
	tools    []*Tool
	byName   func() map[string]int // the place of each
	segments sync.Map              // see memoize
}

// part is a block with the selection of its tools that are in a set.
type part struct {
	*block
	has  names.Set // nil means all
	size int
}

// New returns a set of tools, whose names are unique, as one block.
func New(tools []*Tool) *Set {
	if len(tools) == 0 {
		return &Set{}
	}
	b := &block{
		tools: tools,
		byName: sync.OnceValue(func() map[string]int {
			places := make(map[string]int, len(tools))
			for i, t := range tools {
				places[t.Info.Name] = i
			}
			return places
		}),
	}
	return &Set{parts: []part{{b, nil, len(tools)}}, size: len(tools)}
}

// Update is the set of exactly these tools, as package toolset describes it. It calls wrong with the
// fault of each tool that cannot be in a set, by its place; then the result means nothing.
func (s *Set) Update(ctx context.Context, tools []tool.BaseTool, wrong func(at int, err error)) *Set {
	known := make(map[tool.BaseTool]*Tool, s.Len())
	old, changed := make([]*Tool, 0, s.Len()), s == nil || len(tools) != s.size
	for e := range s.All() {
		old = append(old, e)
		if t := e.Value; isComparable(t) {
			known[t] = e
		}
	}
	next, places := make([]*Tool, 0, len(tools)), make(map[string]int, len(tools))
	for i, t := range tools {
		e, err := s.toolFor(ctx, t, known)
		if err != nil {
			wrong(i, err)
			continue
		}
		if first, twice := places[e.Info.Name]; twice {
			wrong(i, fmt.Errorf("it has the name of tools[%d], %q", first, e.Info.Name))
			continue
		}
		places[e.Info.Name] = i
		changed = changed || e != old[i]
		next = append(next, e)
	}
	if !changed {
		return s
	}
	return New(next)
}

// toolFor returns the tool of a value: that of the same value, or else one that shares the definition
// of a tool that looks the same.
func (s *Set) toolFor(ctx context.Context, t tool.BaseTool, known map[tool.BaseTool]*Tool) (*Tool, error) {
	if isComparable(t) && known[t] != nil {
		return known[t], nil
	}
	info, err := ReadInfo(ctx, t)
	if err != nil {
		return nil, err
	}
	e, err := NewTool(t, info)
	if err != nil {
		return nil, err
	}
	if old := s.Lookup(info.Name); old != nil && old.Definition() == e.Definition() {
		e.Info, e.CheckpointInfo, e.ownInfo = old.Info, old.CheckpointInfo, schema.ToolInfo{} // one copy for both
	}
	return e, nil
}

// isComparable reports whether a tool can be the key of a map.
func isComparable(t tool.BaseTool) bool { return t != nil && reflect.ValueOf(t).Comparable() }

// With adds tools of other names.
func (s *Set) With(more *Set) *Set {
	switch {
	case more.Len() == 0:
		return s
	case s.Len() == 0:
		return more
	}
	return &Set{parts: append(slices.Clip(s.parts), more.parts...), size: s.size + more.size}
}

// Len is the number of tools.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.size
}

// All iterates over the tools in their order.
func (s *Set) All() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		if s == nil {
			return
		}
		for _, p := range s.parts {
			for i := range p.places() {
				if !yield(p.tools[i]) {
					return
				}
			}
		}
	}
}

// Infos are the infos of the tools in their order; read only.
func (s *Set) Infos() []*schema.ToolInfo {
	infos := make([]*schema.ToolInfo, 0, s.Len())
	for e := range s.All() {
		infos = append(infos, e.Info)
	}
	return infos
}

// Lookup returns the tool of a name; nil if there is none.
func (s *Set) Lookup(name string) *Tool {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if i, ok := p.byName()[name]; ok && (p.has == nil || p.has.Has(uint32(i))) {
			return p.tools[i]
		}
	}
	return nil
}

// Has reports whether there is a tool of a name.
func (s *Set) Has(name string) bool { return s.Lookup(name) != nil }

// Filter returns the tools for which keep returns true.
func (s *Set) Filter(keep func(*Tool) bool) *Set {
	if s == nil {
		return &Set{}
	}
	next := &Set{}
	for _, p := range s.parts {
		kept := part{block: p.block, has: names.NewSet(len(p.tools))}
		for i := range p.places() {
			if keep(p.tools[i]) {
				kept.has.Add(uint32(i))
				kept.size++
			}
		}
		if kept.size == p.size {
			kept = p
		}
		if kept.size > 0 {
			next.parts = append(next.parts, kept)
			next.size += kept.size
		}
	}
	if next.size == s.size {
		return s
	}
	return next
}

// Fingerprint is equal for sets of tools with equal definitions in the same order.
func (s *Set) Fingerprint() string {
	s.sumOnce.Do(func() {
		h := sha256.New()
		for e := range s.All() {
			one := e.Definition()
			h.Write(one[:])
		}
		s.sumText = string(h.Sum(nil))
	})
	return s.sumText
}

// Detach returns a copy that keeps nothing of a run.
func (s *Set) Detach() *Set {
	var tools []*Tool
	for e := range s.All() {
		tools = append(tools, &Tool{Info: toolschema.CopyInfo(e.Info)})
	}
	return New(tools)
}

// places iterates over the places in the block of the part's tools.
func (p part) places() iter.Seq[int] {
	return func(yield func(int) bool) {
		if p.has == nil {
			for i := range p.tools {
				if !yield(i) {
					return
				}
			}
			return
		}
		for at, word := range p.has {
			for ; word != 0; word &= word - 1 {
				if !yield(64*at + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// memoize returns the T of a map by types. It builds it on first use. A panic in build is the error.
func memoize[T any](values *sync.Map, build func() (T, error)) (T, error) {
	key := reflect.TypeFor[T]()
	known, ok := values.Load(key)
	if !ok {
		known, _ = values.LoadOrStore(key, &safe.Once[T]{})
	}
	return known.(*safe.Once[T]).Get("toolsearch: building the index", build)
}

// Tool is one hidden tool. It is immutable.
type Tool struct {
	Info           *schema.ToolInfo // our copy; read only
	CheckpointInfo *schema.ToolInfo // what goes into the agent's state: a copy that a checkpoint can hold
	Value          tool.BaseTool    // the user's

	ownInfo    schema.ToolInfo // what Info points to: one piece of memory for both
	typeOnce   sync.Once
	typeText   string
	schemaOnce sync.Once
	schemaText string
	shownText  string
	signOnce   sync.Once
	signText   string
	checkOnce  sync.Once
	check      *toolschema.Check
	sumOnce    sync.Once
	sum        [sha256.Size]byte
}

// NewTool hides a tool.
func NewTool(t tool.BaseTool, info *schema.ToolInfo) (*Tool, error) {
	e := &Tool{}
	return e, e.Fill(t, info)
}

// Fill sets the fields of a new Tool.
func (e *Tool) Fill(t tool.BaseTool, info *schema.ToolInfo) error {
	e.ownInfo = *info
	e.ownInfo.Extra = toolschema.CopyMap(info.Extra)
	e.Info, e.CheckpointInfo = &e.ownInfo, &e.ownInfo
	if len(e.ownInfo.Extra) > 0 {
		if extra := encodable(e.ownInfo.Extra); len(extra) < len(e.ownInfo.Extra) {
			safe := e.ownInfo
			safe.Extra, e.CheckpointInfo = extra, &safe
		}
	}
	switch e.Value = t; t.(type) {
	case tool.InvokableTool, tool.StreamableTool, tool.EnhancedInvokableTool, tool.EnhancedStreamableTool:
		return nil
	}
	return fmt.Errorf("tool %q (%T) can neither be invoked nor streamed", info.Name, t)
}

// ReadInfo returns a tool's info.
func ReadInfo(ctx context.Context, t tool.BaseTool) (*schema.ToolInfo, error) {
	if safe.IsNil(t) {
		return nil, errors.New("the tool is nil")
	}
	info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
	switch {
	case err != nil:
		var panicked *safe.PanicError
		if errors.As(err, &panicked) {
			panicked.Source = fmt.Sprintf("Info of %T", t)
			return nil, panicked
		}
		return nil, fmt.Errorf("reading Info of %T: %w", t, err)
	case info == nil:
		//lint:ignore ST1005 Info is the name of the method.
		return nil, fmt.Errorf("Info of %T returned nil", t)
	case info.Name == "":
		//lint:ignore ST1005 Info is the name of the method.
		return nil, fmt.Errorf("Info of %T has an empty Name (description %.60q)", t, info.Desc)
	}
	return info, nil
}

// encodable returns an Extra without those entries that a checkpoint cannot hold. What the agent's
// state holds becomes part of its checkpoints, and one entry of an unregistered type, such as a nested
// map, would make every checkpoint of the run fail.
func encodable(extra map[string]any) map[string]any {
	kept := maps.Clone(extra)
	maps.DeleteFunc(kept, func(_ string, v any) bool { return !isEncodable(v) })
	return kept
}

// isEncodable reports whether a checkpoint can hold a value: Eino writes it as JSON, and what it reads
// from that with gob, so a []string becomes a []any, which is not registered.
func isEncodable(v any) bool {
	switch v.(type) {
	case string, bool:
		return true
	}
	var read any
	text, err := json.Marshal(v)
	return err == nil && json.Unmarshal(text, &read) == nil && inGob(v) && inGob(read)
}

func inGob(v any) bool {
	return gob.NewEncoder(io.Discard).Encode(map[string]any{"": v}) == nil
}

// Type is the tool's type as reported to callbacks. Finding it can cost more than all the
// rest of New.
func (e *Tool) Type() string {
	e.typeOnce.Do(func() { e.typeText = einorun.TypeOf(e.Value) })
	return e.typeText
}

// Parameters is the JSON schema of the tool's arguments, as text.
func (e *Tool) Parameters() string {
	e.schemaOnce.Do(func() {
		e.schemaText = schemaText(e.Info)
		e.shownText = toolschema.Outline(e.schemaText, MaxShown)
	})
	return e.schemaText
}

// MaxShown bounds a schema in an answer, in bytes.
const MaxShown = 48 << 10

// ShownSchema returns the schema as answers show it, and whether it is shortened.
func (e *Tool) ShownSchema() (text string, shortened bool) {
	whole := e.Parameters()
	return e.shownText, e.shownText != whole
}

// Signature is the tool as a line of TypeScript.
func (e *Tool) Signature() string {
	e.signOnce.Do(func() {
		returns, _ := e.Info.Extra[toolschema.OutputKey].(string)
		e.signText = toolschema.Signature(e.Info.Name, e.Info.Desc, e.Parameters(), returns)
	})
	return e.signText
}

// Tokens is about how many tokens the definition of a tool takes.
func (e *Tool) Tokens() int64 {
	const bytesPerToken = 4
	return int64(len(e.Info.Name)+len(e.Info.Desc)+len(e.Parameters())+bytesPerToken-1) / bytesPerToken
}

// schemaText is the JSON schema of a tool's arguments. An unreadable schema counts as none:
// the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) string {
	if text, ok := toolschema.Text(info.ParamsOneOf); ok {
		return text
	}
	return toolschema.None
}

// noParameters is the JSON schema with which a tool goes out that has none.
const noParameters = `{"properties":{},"type":"object"}`

// IsCurrent reports whether an info, as it went out, says what the tool's own does.
func (e *Tool) IsCurrent(t *schema.ToolInfo) bool {
	if t.Desc != e.Info.Desc || t.ParamsOneOf == nil {
		return false
	}
	sent := schemaText(t)
	return sent == e.Parameters() || e.Info.ParamsOneOf == nil && sent == noParameters
}

// Definition is equal for tools with equal names, descriptions, schemas and Extra. A tool
// whose Extra cannot be compared equals only itself.
func (e *Tool) Definition() [sha256.Size]byte {
	e.sumOnce.Do(func() {
		extra, plain := toolschema.PlainText(e.Info.Extra)
		if !plain {
			extra = string(binary.BigEndian.AppendUint64([]byte("unlike"), uniqueID.Add(1)))
		}
		h := sha256.New()
		for _, text := range []string{e.Info.Name, e.Info.Desc, e.Parameters(), extra} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
		h.Sum(e.sum[:0])
	})
	return e.sum
}

// uniqueID numbers the definitions that equal no other.
var uniqueID atomic.Uint64

// Arguments returns the arguments to pass to the tool, or the problem with them. raw is their text as
// the model wrote it: an object, or a text that holds one. No arguments at all are an empty object.
func (e *Tool) Arguments(raw string) (args string, problem error) {
	v, raw, ok := readArguments(raw)
	if !ok {
		return "", ErrNoObject
	}
	e.checkOnce.Do(func() { e.check = toolschema.Compile(e.Parameters()) })
	if err := e.check.Validate(v); err != nil {
		return "", err
	}
	return raw, nil
}

// Problems returns what is wrong with an object of arguments that Arguments rejects.
func (e *Tool) Problems(raw string) []toolschema.Problem {
	v, _, _ := readArguments(raw)
	e.checkOnce.Do(func() { e.check = toolschema.Compile(e.Parameters()) })
	return e.check.Problems(v)
}

// ErrNoObject is the problem with arguments that are no JSON object.
var ErrNoObject = errors.New("the arguments are no JSON object")

// exactJSON decodes numbers without losing digits.
var exactJSON = sonic.Config{UseInt64: true, CopyString: true}.Froze()

// ObjectText returns the text of a JSON object: of an object, or of a text that holds one. None at all is an empty one.
func ObjectText(raw string) (text string, ok bool) {
	_, text, ok = readArguments(raw)
	return text, ok
}

// parameterNames is the part of a schema that names parameters.
type parameterNames struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func (e *Tool) parameterNames() (p parameterNames) {
	if json.Unmarshal([]byte(e.Parameters()), &p) != nil { // a schema in a form of its own
		return parameterNames{}
	}
	return p
}

// HasParameter reports whether the tool's schema declares a parameter.
func (e *Tool) HasParameter(name string) bool { return e.parameterNames().Properties[name] != nil }

// CompareNames returns the names in an object of arguments that the tool's schema does not declare, and the required ones
// that the object lacks. Both are sorted.
func (e *Tool) CompareNames(arguments string) (unknown, missing []string) {
	object, _, _ := readArguments(arguments)
	declared := e.parameterNames()
	for name := range object {
		if declared.Properties[name] == nil && len(declared.Properties) > 0 {
			unknown = append(unknown, name)
		}
	}
	for _, name := range declared.Required {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(unknown)
	slices.Sort(missing)
	return unknown, missing
}

func readArguments(raw string) (object map[string]any, text string, ok bool) {
	for range 2 { // an object, or a text that holds one
		if raw = strings.TrimSpace(raw); raw == "" || raw == "null" {
			return map[string]any{}, "{}", true
		}
		var v any
		if exactJSON.UnmarshalFromString(raw, &v) != nil {
			return nil, "", false
		}
		if object, ok = v.(map[string]any); ok {
			return object, raw, true
		}
		if raw, ok = v.(string); !ok {
			return nil, "", false
		}
	}
	return nil, "", false
}

// Selection is a segment of an index, with the selection of its tools that are in a set; nil means all.
type Selection[S any] struct {
	Segment S
	Has     names.Set
}

// IndexOf returns the X of a set, joined from the S of each block. Both are built once, on first use: sets of the same
// tools share them.
func IndexOf[X, S any](s *Set, segment func([]*Tool) S, join func([]Selection[S]) X) (X, error) {
	return memoize(&s.indexes, func() (X, error) {
		all := make([]Selection[S], len(s.parts))
		for i, p := range s.parts {
			built, err := memoize(&p.segments, func() (S, error) { return segment(p.tools), nil })
			if err != nil {
				var none X
				return none, err
			}
			all[i] = Selection[S]{built, p.has}
		}
		return join(all), nil
	})
}

// Score is Eino's keyword score over the tools. It also finds names that are like another one.
func (s *Set) Score() (*keyword.Index, error) {
	return IndexOf(s, func(tools []*Tool) *keyword.Segment {
		docs := make([]keyword.Doc, len(tools))
		for i, e := range tools {
			docs[i] = keyword.Doc{Name: e.Info.Name, Server: toolnames.Server(e.Info.Name), Description: e.Info.Desc}
		}
		return keyword.NewSegment(docs)
	}, func(all []Selection[*keyword.Segment]) *keyword.Index {
		parts := make([]keyword.Part, len(all))
		for i, p := range all {
			parts[i] = keyword.Part{Segment: p.Segment, Has: p.Has}
		}
		return keyword.Join(parts...)
	})
}

// ctxKey is a key of what this package keeps in a context.
type ctxKey int

const (
	setKey     ctxKey = iota // *Set
	failureKey               // func(error)
)

// IndexContext returns the context in which an index of the set's infos is made.
func (s *Set) IndexContext(ctx context.Context) context.Context {
	return context.WithValue(ctx, setKey, s)
}

// SetOf is the set that an index is made of: that of the context, whose indexes are shared, or else a
// new one.
func SetOf(ctx context.Context, infos []*schema.ToolInfo) *Set {
	if known, _ := ctx.Value(setKey).(*Set); known != nil && slices.Equal(known.Infos(), infos) {
		return known
	}
	tools := make([]*Tool, len(infos))
	for i, info := range infos {
		tools[i] = &Tool{Info: info}
	}
	return New(tools)
}

// InternalOnly marks the methods of an index that packages of this module call, and nobody else can.
type InternalOnly struct{}

// Build builds an index that is built on first use. The time limit of a search starts after that.
func Build(x any) error {
	if b, ok := x.(interface{ Build(InternalOnly) error }); ok {
		return b.Build(InternalOnly{})
	}
	return nil
}

// OnFailure returns a context in which report is called for each failure.
func OnFailure(ctx context.Context, report func(error)) context.Context {
	return context.WithValue(ctx, failureKey, report)
}

// ReportFailure reports that an index, or a part of one, failed: to the function of OnFailure or, without one, to the log.
func ReportFailure(ctx context.Context, err error) {
	if report, _ := ctx.Value(failureKey).(func(error)); report != nil {
		report(err)
		return
	}
	e := einolean.Event{Time: time.Now(), Kind: einolean.KindIndexFailed, Err: err}
	warn.Send(ctx, e.Level(), string(e.Kind), e)
}
