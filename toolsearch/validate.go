// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file turns a Config into settings, or into one error that says all that is wrong.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

const defaultMaxResults = 5

// settings is a Config that has been checked, with its defaults filled in and the
// infos of its tools read. It is immutable.
type settings struct {
	cfg      Config
	contract contract
	entries  []*entry
	byName   map[string]*entry // its entries
	joined   joinCache
}

// problems collects what is wrong with a configuration.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// err is nil if nothing is wrong, and otherwise one error that unwraps to each.
func (p problems) err() error {
	switch len(p) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("toolsearch: %w", p[0])
	}
	return &configError{p}
}

type configError struct{ all []error }

func (e *configError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "toolsearch: %d problems in the configuration: ", len(e.all))
	for i, err := range e.all {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "(%d) %v", i+1, err)
	}
	return b.String()
}

func (e *configError) Unwrap() []error { return e.all }

// newSettings checks a Config for an agent of the message type.
func newSettings(ctx context.Context, config *Config, agentic bool) (*settings, error) {
	if config == nil {
		return nil, errors.New("toolsearch: config is nil: pass a &toolsearch.Config{DynamicTools: ...}")
	}
	s := &settings{cfg: *config}
	s.cfg.DynamicTools = nil // their entries take their place
	s.cfg.SearchableTools = append([]string(nil), config.SearchableTools...)
	if s.cfg.MaxResults == 0 {
		s.cfg.MaxResults = defaultMaxResults
	}
	var wrong problems
	s.checkFields(&wrong)
	s.readTools(ctx, config.DynamicTools, &wrong)
	s.contract = chooseContract(&s.cfg, agentic, len(config.DynamicTools)+len(config.SearchableTools) > 0, &wrong)
	return s, wrong.err()
}

func (s *settings) checkFields(wrong *problems) {
	c := &s.cfg
	if c.Protocol < Keyword || c.Protocol > SearchCall {
		wrong.add("Protocol %d is unknown: use Keyword, Regexp, SearchLoad or SearchCall", int(c.Protocol))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"MaxResults", c.MaxResults}, {"UnloadAfter", c.UnloadAfter}, {"CatalogLimit", c.CatalogLimit}} {
		if f.value < 0 {
			wrong.add("%s is %d: it must not be negative", f.name, f.value)
		}
	}
	if c.MinScore < 0 || c.MinScore != c.MinScore {
		wrong.add("MinScore is %v: it must not be negative", c.MinScore)
	}
	if c.Protocol == Regexp && c.NewIndex != nil {
		wrong.add("NewIndex is set, but the Regexp protocol matches names and ranks nothing")
	}
	if c.Protocol == Regexp && c.MinScore > 0 {
		wrong.add("MinScore is %v, but the Regexp protocol matches names and scores nothing", c.MinScore)
	}
	if c.Protocol == SearchCall && c.UnloadAfter > 0 {
		wrong.add("UnloadAfter is %d, but the SearchCall protocol never loads a tool", c.UnloadAfter)
	}
	if isNil(c.Backend) {
		c.Backend = nil
	}
	checkSearchable(c, wrong)
}

func checkSearchable(c *Config, wrong *problems) {
	seen := map[string]bool{}
	for i, name := range c.SearchableTools {
		switch {
		case name == "":
			wrong.add("SearchableTools[%d] is empty", i)
		case seen[name]:
			wrong.add("SearchableTools[%d] %q is there twice", i, name)
		case isMetaTool(name):
			wrong.add("SearchableTools[%d] %q is the name of a search tool", i, name)
		}
		seen[name] = true
	}
}

func (s *settings) readTools(ctx context.Context, tools []tool.BaseTool, wrong *problems) {
	if len(tools) == 0 && len(s.cfg.SearchableTools) == 0 && !s.cfg.DeferMarkedTools {
		wrong.add("DynamicTools is empty: give it the tools to hide, or set SearchableTools or DeferMarkedTools")
	}
	s.byName = make(map[string]*entry, len(tools))
	s.entries = make([]*entry, 0, len(tools))
	all := make([]entry, len(tools))
	for i, t := range tools {
		info, err := readInfo(ctx, t)
		if err != nil {
			wrong.add("DynamicTools[%d]: %w", i, err)
			continue
		}
		if s.byName[info.Name] != nil {
			j := 0
			for all[j].own.Name != info.Name {
				j++
			}
			wrong.add("DynamicTools[%d] and DynamicTools[%d] are both named %q", j, i, info.Name)
			continue
		}
		if isMetaTool(info.Name) {
			wrong.add("DynamicTools[%d] %q has the name of the search tool %q", i, info.Name, info.Name)
			continue
		}
		s.byName[info.Name] = &all[i]
		if err := all[i].fill(t, info); err != nil {
			wrong.add("DynamicTools[%d]: %w", i, err)
			continue
		}
		s.entries = append(s.entries, &all[i])
	}
}

// readInfo asks a tool what it is; a panic in it is an error.
func readInfo(ctx context.Context, t tool.BaseTool) (info *schema.ToolInfo, err error) {
	if isNil(t) {
		return nil, errors.New("the tool is nil")
	}
	defer func() {
		if r := recover(); r != nil {
			info, err = nil, fmt.Errorf("Info of %T panicked: %v", t, r)
		}
	}()
	info, err = t.Info(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading Info of %T: %w", t, err)
	case info == nil:
		return nil, fmt.Errorf("Info of %T returned nil", t)
	case info.Name == "":
		return nil, fmt.Errorf("Info of %T has an empty Name (description %.60q)", t, info.Desc)
	}
	return info, nil
}

// isNil also sees a nil pointer inside an interface.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Slice, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}
