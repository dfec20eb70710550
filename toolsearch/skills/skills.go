// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package skills lets an agent find skills as it finds tools: each skill is a hidden tool of
// package toolsearch, which returns the skill's text when it is called.
//
//	library, err := skill.NewBackendFromFilesystem(ctx, &skill.BackendFromFilesystemConfig{…})
//	searchConfig := toolsearch.Recommended(nil)
//	searchConfig.Source = skills.NewSource(library, skills.Options{})
//	searchConfig.NewIndex = skills.Index(index.BM25)
//	searchConfig.CatalogLimit = 10
//	search, err := toolsearch.New(ctx, searchConfig)
//
// The library is a Backend of Eino's skill middleware, which shows every skill in every request.
// Here a request shows the search tool and at most CatalogLimit names, however many skills there
// are, and the model finds one by a sentence. All of toolsearch applies: its protocols, native
// search, filters, checkpoints, and skills that come and go.
//
// Beside Eino's middleware, which runs skills in agents and on models of their own, see [Beside]:
// its tool stays, and its description no longer shows all skills.
//
// reduction.Recommended leaves the texts of skills in the conversation. In a configuration of your
// own, name "skill__*" in its ClearExcludeTools and TruncExcludeTools.
package skills

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// toolsKey is the key in the Extra of a tool that is a skill with the names of the tools that the
// skill uses, a []string.
const toolsKey = "skill_tools"

// Options configures a Source. The zero value is ready to use. The functions must be safe for concurrent
// use.
type Options struct {
	// Tools returns the names of the tools that a skill uses. [Index] ranks them directly after the
	// skill, and the skill's text lists them. If nil, skills use none.
	Tools func(skill.FrontMatter) []string

	// Run runs a skill that the model calls, and returns what the model reads. Set it for skills
	// that run in an agent or on a model of their own, such as with [RunWith]. An error becomes
	// an answer. If nil, the model reads the skill's text.
	Run func(ctx context.Context, name string) (string, error)

	// Key names the user whose skills the backend lists. If nil, all share one list. With an
	// error or an empty key, there are no skills.
	Key func(context.Context) (string, error)

	// MaxAge is how long a list counts before the backend is asked again. If zero, defaults to
	// one minute; if negative, the backend is asked before every model call.
	MaxAge time.Duration
}

// NewSource returns a Source with a tool for each skill of a backend. If listing fails, the last
// skills stay. Of two skills with one name the first stays; one without a name, or with a
// description of more than 256 KB, is left out: the Source returns an error beside the others,
// which OnEvent of package toolsearch gets.
func NewSource(backend skill.Backend, options Options) toolset.Source {
	l := &library{backend: backend, options: options, lists: map[string]skillList{}}
	if l.options.MaxAge == 0 {
		l.options.MaxAge = time.Minute
	}
	return &source{toolset.NewSource(l.tools, options.Key), l}
}

// source is a library as a Source.
type source struct {
	toolset.Source
	library *library
}

// Tools returns the skills of the user of ctx. The error names skills that were skipped.
func (s *source) Tools(ctx context.Context) (*toolset.Set, error) {
	set, err := s.Source.Tools(ctx)
	if err != nil {
		return set, err
	}
	_, last, err := s.library.lastList(ctx)
	return set, errors.Join(err, last.err)
}

// library lists the skills of a backend as tools.
type library struct {
	backend skill.Backend
	options Options
	mu      sync.Mutex
	lists   map[string]skillList // by the user's key
}

// skillList is a list of the backend, as tools.
type skillList struct {
	tools    []tool.BaseTool
	err      error // of the skipped skills
	listedAt time.Time
}

// maxLists is how many users' lists are kept.
const maxLists = 1000

// lastList returns the user's key, and the last list of that user.
func (l *library) lastList(ctx context.Context) (key string, last skillList, err error) {
	if l.options.Key != nil {
		if key, err = l.options.Key(ctx); err != nil {
			return "", skillList{}, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return key, l.lists[key], nil
}

func (l *library) tools(ctx context.Context) ([]tool.BaseTool, error) {
	key, last, err := l.lastList(ctx)
	if err != nil || !last.listedAt.IsZero() && time.Since(last.listedAt) < l.options.MaxAge {
		return last.tools, err
	}
	matters, err := safe.Value("the backend of skills", func() ([]skill.FrontMatter, error) { return l.backend.List(ctx) })
	if err != nil {
		return nil, err
	}
	next := l.listOf(matters)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lists) >= maxLists {
		clear(l.lists)
	}
	l.lists[key] = next
	return next.tools, nil
}

// maxDescription is the maximal size of a skill's name and description, in bytes.
const maxDescription = 256 << 10

// listOf makes a tool of each skill, and collects the errors of the skipped ones.
func (l *library) listOf(matters []skill.FrontMatter) skillList {
	next := skillList{listedAt: time.Now()}
	known, duplicates, oversized, unnamed := map[string]bool{}, []string(nil), []string(nil), 0
	for _, m := range matters {
		switch name := ToolName(m.Name); {
		case m.Name == "":
			unnamed++
		case len(m.Name)+len(m.Description) > maxDescription:
			oversized = append(oversized, m.Name)
		case known[name]:
			duplicates = append(duplicates, m.Name)
		default:
			known[name] = true
			next.tools = append(next.tools, l.toolFor(m))
		}
	}
	if unnamed > 0 {
		next.err = fmt.Errorf("skills: %d without a name", unnamed)
	}
	next.err = errors.Join(next.err, skippedError("described in more than 256 KB", oversized), skippedError("listed twice", duplicates))
	return next
}

// skippedError names ten skills that were skipped, and counts the others.
func skippedError(reason string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	const maxNamed = 10
	var out []string
	for _, name := range names[:min(len(names), maxNamed)] {
		out = append(out, display.Short(name, 100))
	}
	if more := len(names) - maxNamed; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("skills: %s: %s", reason, strings.Join(out, ", "))
}

func (l *library) toolFor(m skill.FrontMatter) *skillTool {
	t := &skillTool{library: l, name: m.Name}
	if l.options.Tools != nil {
		t.uses = slices.Clone(l.options.Tools(m))
	}
	t.info = &schema.ToolInfo{
		Name: ToolName(m.Name), Desc: text("about", textData{Name: m.Name, Description: m.Description, Tools: strings.Join(t.uses, ", ")}),
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}),
	}
	if len(t.uses) > 0 {
		t.info.Extra = map[string]any{toolsKey: t.uses}
	}
	return t
}

var invalidChars = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// ToolName returns the name of the tool for a skill: "skill__" and the skill's name, in the
// characters and the length that every provider takes.
func ToolName(name string) string {
	const maxLength = 64
	toolName := toolnames.SkillPrefix + invalidChars.ReplaceAllString(name, "_")
	if toolName == toolnames.SkillPrefix+name && len(toolName) <= maxLength {
		return toolName
	}
	sum := sha256.Sum256([]byte(name))
	return toolName[:min(len(toolName), maxLength-9)] + "_" + hex.EncodeToString(sum[:4])
}

// skillTool is a skill as a tool.
type skillTool struct {
	library *library
	name    string
	uses    []string
	info    *schema.ToolInfo
}

// Info describes the skill.
func (t *skillTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// InvokableRun returns the skill's text. A skill that cannot be read is an answer: it must not
// end the run.
func (t *skillTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	out, err := safe.Value("the skill", func() (string, error) {
		if run := t.library.options.Run; run != nil {
			ran, err := run(ctx, t.name)
			if err != nil || len(t.uses) == 0 {
				return ran, err
			}
			return ran + "\n" + text("uses", textData{Tools: strings.Join(t.uses, ", ")}), nil
		}
		s, err := t.library.backend.Get(ctx, t.name)
		if err != nil {
			return "", err
		}
		return text("content", textData{Name: t.name, Dir: s.BaseDirectory, Tools: strings.Join(t.uses, ", "), Content: s.Content}), nil
	})
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil || isInterrupt(err) {
		return "", err
	}
	return text("failed", textData{Name: t.name, Error: safe.ErrorText(err)}), nil
}

// isInterrupt reports whether a skill interrupts its run rather than failing.
func isInterrupt(err error) bool {
	_, reruns := compose.IsInterruptRerunError(err)
	_, interrupts := compose.ExtractInterruptInfo(err)
	return reruns || interrupts
}

// textData is the data of the text templates.
type textData struct{ Name, Description, Dir, Tools, Content, Error string }

//go:embed prompt
var files embed.FS

var english, chinese = parseTemplates("en"), parseTemplates("zh")

func parseTemplates(lang string) *template.Template {
	return template.Must(template.ParseFS(files, "prompt/skill."+lang+".tmpl"))
}

func text(name string, f textData) string {
	t := english
	if prompt.Chinese() {
		t = chinese
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, f); err != nil {
		return err.Error() // the texts have no other fields
	}
	return b.String()
}
