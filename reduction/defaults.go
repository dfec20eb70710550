// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file checks a configuration, copies it and fills in the defaults.

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/leanctx/leanctx"
)

const (
	defaultReadTool  = "read_file"
	defaultRootDir   = "/tmp"
	defaultMaxLength = 50_000  // bytes
	defaultMaxTokens = 160_000 // tokens
	defaultRetention = 1       // rounds
)

// withDefaults returns a copy that no later change of t reaches, or a
// [leanctx.FieldError] for each field that is wrong, joined.
func (t *TypedConfig[M]) withDefaults() (*TypedConfig[M], error) {
	if t == nil {
		return nil, &leanctx.FieldError{Package: "reduction", Err: errors.New("the configuration is nil")}
	}
	if wrong := t.wrong(); len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	c := *t
	c.ReadFileToolName = orDefault(c.ReadFileToolName, defaultReadTool)
	c.RootDir = orDefault(c.RootDir, defaultRootDir)
	c.MaxLengthForTrunc = orDefault(c.MaxLengthForTrunc, defaultMaxLength)
	c.MaxTokensForClear = orDefault(c.MaxTokensForClear, defaultMaxTokens)
	c.ClearRetentionSuffixLimit = orDefault(c.ClearRetentionSuffixLimit, defaultRetention)
	c.MinSavingBytes = orDefault(c.MinSavingBytes, 1)
	if c.TokenCounter == nil {
		c.TokenCounter = defaultCounter[M]()
	}
	c.TruncExcludeTools = slices.Clone(c.TruncExcludeTools)
	c.ClearExcludeTools = slices.Clone(c.ClearExcludeTools)
	c.ToolConfig = make(map[string]*ToolReductionConfig, len(t.ToolConfig))
	for name, own := range t.ToolConfig {
		entry := *own
		c.ToolConfig[name] = &entry
	}
	return &c, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// wrongField is the error of one field.
func wrongField(field, format string, args ...any) error {
	return &leanctx.FieldError{Package: "reduction", Field: field, Err: fmt.Errorf(format, args...)}
}

// wrong lists what is wrong, one error for each field.
func (t *TypedConfig[M]) wrong() (out []error) {
	if isNil(t.Backend) && (t.Backend != nil || !t.SkipTruncation) {
		out = append(out, wrongField("Backend", "is missing, and needed unless SkipTruncation is set"))
	}
	limits := []struct {
		field string
		value int64
	}{
		{"MaxLengthForTrunc", int64(t.MaxLengthForTrunc)},
		{"MaxTokensForClear", t.MaxTokensForClear},
		{"ClearRetentionSuffixLimit", int64(t.ClearRetentionSuffixLimit)},
		{"ClearAtLeastTokens", t.ClearAtLeastTokens},
		{"ClearTargetTokens", t.ClearTargetTokens},
		{"MinSavingBytes", int64(t.MinSavingBytes)},
	}
	for _, l := range limits {
		if l.value < 0 {
			out = append(out, wrongField(l.field, "is %d, and must not be negative", l.value))
		}
	}
	out = append(out, t.tooSmall("MaxLengthForTrunc", t.MaxLengthForTrunc)...)
	if trigger := orDefault(t.MaxTokensForClear, defaultMaxTokens); trigger > 0 && t.ClearTargetTokens > trigger {
		out = append(out, wrongField("ClearTargetTokens", "is %d, and must not be above MaxTokensForClear, %d", t.ClearTargetTokens, trigger))
	}
	return append(append(out, t.wrongTools()...), t.unreadable()...)
}

// noticeRoom is what the longest notice needs, in bytes, beside RootDir and
// ReadFileToolName.
const noticeRoom = 400

// tooSmall says so if a limit has no room for a notice: it would cut nothing.
func (t *TypedConfig[M]) tooSmall(field string, limit int) []error {
	least := noticeRoom + len(orDefault(t.RootDir, defaultRootDir)) + len(orDefault(t.ReadFileToolName, defaultReadTool))
	if limit <= 0 || limit >= least {
		return nil
	}
	return []error{wrongField(field, "is %d, and must be at least %d, which a notice needs with this RootDir and ReadFileToolName", limit, least)}
}

// unreadable lists what keeps ProvideReadTool from reading everything back.
func (t *TypedConfig[M]) unreadable() (out []error) {
	if !t.ProvideReadTool {
		return nil
	}
	stores := map[string]Backend{"Backend": t.Backend}
	for name, own := range t.ToolConfig {
		if own != nil {
			stores[toolField(name, "Backend")] = own.Backend
		}
	}
	none := true
	for _, field := range slices.Sorted(maps.Keys(stores)) {
		b := stores[field]
		_, reads := b.(Reader)
		_, ranges := b.(RangeReader)
		if b != nil && !reads && !ranges {
			out = append(out, wrongField(field, "is a %T, which cannot read, and must for ProvideReadTool", b))
		}
		none = none && b == nil
	}
	if none {
		out = append(out, wrongField("ProvideReadTool", "is set, but there is no Backend"))
	}
	return out
}

func toolField(tool, field string) string { return fmt.Sprintf("ToolConfig[%q].%s", tool, field) }

// wrongTools lists what is wrong with ToolConfig, by name of the tool.
func (t *TypedConfig[M]) wrongTools() (out []error) {
	for _, name := range slices.Sorted(maps.Keys(t.ToolConfig)) {
		own, limit := t.ToolConfig[name], toolField(name, "MaxLengthForTrunc")
		if own == nil {
			out = append(out, wrongField(fmt.Sprintf("ToolConfig[%q]", name), "is nil"))
			continue
		}
		if own.Backend != nil && isNil(own.Backend) {
			out = append(out, wrongField(toolField(name, "Backend"), "is a nil pointer"))
		}
		switch {
		case own.MaxLengthForTrunc < 0:
			out = append(out, wrongField(limit, "is %d, and must not be negative", own.MaxLengthForTrunc))
		case own.MaxLengthForTrunc > 0 && own.Backend == nil && t.Backend == nil:
			out = append(out, wrongField(limit, "is set, but there is no Backend"))
		default:
			out = append(out, t.tooSmall(limit, own.MaxLengthForTrunc)...)
		}
	}
	return out
}

// isNil reports whether b is nil, or an interface around a nil pointer.
func isNil(b Backend) bool {
	if b == nil {
		return true
	}
	v := reflect.ValueOf(b)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
