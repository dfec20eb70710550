// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file turns a Config into settings, or into one error that says all that is wrong.

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components/tool"

	"github.com/leanctx/leanctx"
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

// add notes what is wrong with a field; "" is the configuration as a whole.
func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, &leanctx.FieldError{Package: "toolsearch", Field: field, Err: fmt.Errorf(format, args...)})
}

// err is nil if nothing is wrong, and otherwise one error that joins all.
func (p problems) err() error { return errors.Join(p...) }

// newSettings checks a Config for an agent of the message type.
func newSettings(ctx context.Context, config *Config, agentic bool) (*settings, error) {
	if config == nil {
		wrong := problems{}
		wrong.add("", "the configuration is nil: pass a &toolsearch.Config{DynamicTools: ...}")
		return nil, wrong.err()
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
		wrong.add("Protocol", "%d is unknown: use Keyword, Regexp, SearchLoad or SearchCall", int(c.Protocol))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"MaxResults", c.MaxResults}, {"UnloadAfter", c.UnloadAfter}, {"CatalogLimit", c.CatalogLimit}} {
		if f.value < 0 {
			wrong.add(f.name, "%d is negative", f.value)
		}
	}
	if c.MinScore < 0 || c.MinScore != c.MinScore {
		wrong.add("MinScore", "%v is not 0 or above", c.MinScore)
	}
	if c.Protocol == Regexp && c.NewIndex != nil {
		wrong.add("NewIndex", "it is set, but the Regexp protocol matches names and ranks nothing")
	}
	if c.Protocol == Regexp && c.MinScore > 0 {
		wrong.add("MinScore", "it is %v, but the Regexp protocol matches names and scores nothing", c.MinScore)
	}
	if c.Protocol == SearchCall && c.UnloadAfter > 0 {
		wrong.add("UnloadAfter", "it is %d, but the SearchCall protocol never loads a tool", c.UnloadAfter)
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
			wrong.add(place("SearchableTools", i), "the name is empty")
		case seen[name]:
			wrong.add(place("SearchableTools", i), "%q is there twice", name)
		case isMetaTool(name):
			wrong.add(place("SearchableTools", i), "%q is the name of a search tool", name)
		}
		seen[name] = true
	}
}

func (s *settings) readTools(ctx context.Context, tools []tool.BaseTool, wrong *problems) {
	if len(tools) == 0 && len(s.cfg.SearchableTools) == 0 && !s.cfg.DeferMarkedTools {
		wrong.add("DynamicTools", "there are none: give it the tools to hide, or set SearchableTools or DeferMarkedTools")
	}
	s.byName = make(map[string]*entry, len(tools))
	s.entries = make([]*entry, 0, len(tools))
	all := make([]entry, len(tools))
	for i, t := range tools {
		info, err := readInfo(ctx, t)
		if err != nil {
			wrong.add(place("DynamicTools", i), "%w", err)
			continue
		}
		if s.byName[info.Name] != nil {
			j := 0
			for all[j].own.Name != info.Name {
				j++
			}
			wrong.add(place("DynamicTools", i), "it has the name of DynamicTools[%d], %q", j, info.Name)
			continue
		}
		if isMetaTool(info.Name) {
			wrong.add(place("DynamicTools", i), "it has the name of the search tool %q", info.Name)
			continue
		}
		s.byName[info.Name] = &all[i]
		if err := all[i].fill(t, info); err != nil {
			wrong.add(place("DynamicTools", i), "%w", err)
			continue
		}
		s.entries = append(s.entries, &all[i])
	}
}

func place(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
