// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills

// Eino's own skill middleware in the same agent.

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
)

// Beside returns a configuration of Eino's skill middleware for an agent that searches for its
// skills. Its tool stays, and loads a skill by its name, but a request no longer shows all skills:
//
//   - CustomToolDescription, CustomSystemPrompt and CustomToolParams, if nil, are short and lead to
//     the search.
//   - Backend returns an answer for a skill that does not exist or cannot be read, where Eino
//     ends the run. It finds skills by the names of their tools too. It lists nothing, unless
//     CustomToolDescription is set.
//
// Put the middleware into Handlers, before or after that of toolsearch, and give [Options.Run] to
// [NewSource], so that a skill runs in the same way by either tool:
//
//	own, err := skill.NewMiddleware(ctx, skills.Beside(&skill.Config{Backend: library, AgentHub: agents}))
//	source := skills.NewSource(library, skills.Options{Run: skills.RunWith(own)})
func Beside[M adk.MessageType](config *skill.TypedConfig[M]) *skill.TypedConfig[M] {
	if config == nil || safe.IsNil(config.Backend) {
		return config // Eino says what is missing
	}
	clone := *config
	b := &backend{Backend: clone.Backend, lists: clone.CustomToolDescription != nil}
	clone.Backend = b
	if !b.lists {
		clone.CustomToolDescription = func(context.Context, []skill.FrontMatter) string { return text("tool", textData{}) }
	}
	if clone.CustomSystemPrompt == nil {
		clone.CustomSystemPrompt = func(context.Context, string) string { return text("system", textData{}) }
	}
	if clone.CustomToolParams == nil {
		clone.CustomToolParams = func(context.Context, map[string]*schema.ParameterInfo) (map[string]*schema.ParameterInfo, error) {
			return map[string]*schema.ParameterInfo{"skill": {Type: schema.String}}, nil
		}
	}
	return &clone
}

// backend is a Backend for Eino's middleware.
type backend struct {
	skill.Backend
	lists bool
}

// List lists the skills that the tool's description shows.
func (b *backend) List(ctx context.Context) ([]skill.FrontMatter, error) {
	if !b.lists {
		return nil, nil
	}
	return b.Backend.List(ctx)
}

// Get returns a skill, or why there is none as its text.
func (b *backend) Get(ctx context.Context, name string) (skill.Skill, error) {
	s, err := b.get(ctx, name)
	if skillName, isTool := strings.CutPrefix(name, toolnames.SkillPrefix); err != nil && isTool {
		if byTool, toolErr := b.get(ctx, skillName); toolErr == nil {
			return byTool, nil
		}
		if skillName = b.nameOf(ctx, name); skillName != "" {
			s, err = b.get(ctx, skillName)
		}
	}
	if err == nil || ctx.Err() != nil {
		return s, err
	}
	return skill.Skill{FrontMatter: skill.FrontMatter{Name: name}, Content: text("failed", textData{Name: name, Error: safe.ErrorText(err)})}, nil
}

func (b *backend) get(ctx context.Context, name string) (skill.Skill, error) {
	return safe.Value("the backend of skills", func() (skill.Skill, error) { return b.Backend.Get(ctx, name) })
}

// nameOf is the skill whose tool has a name; "" for none.
func (b *backend) nameOf(ctx context.Context, toolName string) string {
	matters, _ := safe.Value("the backend of skills", func() ([]skill.FrontMatter, error) { return b.Backend.List(ctx) })
	for _, m := range matters {
		if ToolName(m.Name) == toolName {
			return m.Name
		}
	}
	return ""
}

// RunWith returns an [Options.Run] that runs skills with Eino's skill middleware: in an agent of
// their own, on another model, with a text that BuildContent writes. The middleware need not be
// among the agent's Handlers, except for its ModelHub.
func RunWith[M adk.MessageType](middleware adk.TypedChatModelAgentMiddleware[M]) func(context.Context, string) (string, error) {
	return func(ctx context.Context, name string) (string, error) {
		var run einorun.RunContext
		if _, err := einorun.Begin(ctx, middleware, &run); err != nil {
			return "", err
		}
		for _, t := range run.Tools {
			if loads, ok := t.(tool.InvokableTool); ok {
				args, err := json.Marshal(map[string]string{"skill": name})
				if err != nil {
					return "", err
				}
				return loads.InvokableRun(ctx, string(args))
			}
		}
		return "", errors.New("skills: the middleware of RunWith has no tool that loads skills")
	}
}
