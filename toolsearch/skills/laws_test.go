// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
)

// Whoever a Key cannot name gets no skills, whichever of its calls fails and whatever it returns beside the error.
func TestNewSource_WithoutKeyHasNoSkills(t *testing.T) {
	for _, value := range []string{"", "ann"} {
		for failing := 1; failing < 4; failing++ {
			asked := 0
			source := skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "one", Description: "d"}}}, skills.Options{MaxAge: -1, Key: func(context.Context) (string, error) {
				if asked++; asked == failing {
					return value, errors.New("who is it?")
				}
				return "ann", nil
			}})
			set, err := source.Tools(t.Context())
			if asked < failing {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, "who is it?", "call %d returns %q beside an error", failing, value)
			if set != nil && failing < 3 { // the third asks what was wrong with the list, which is there
				require.Empty(t, slices.Collect(set.All()), "call %d", failing)
			}
		}
	}
}

// order is an index that finds everything in its order.
type order []index.Result

func (o order) Search(context.Context, index.Query) ([]index.Result, error) {
	return slices.Clone(o), nil
}

// The tools of the best result follow it, each once and only those that there are, and all others keep their order.
func TestIndex_ToolsFollowTheirSkill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		var infos []*schema.ToolInfo
		var found order
		for i := range 2 + r.IntN(8) {
			infos = append(infos, &schema.ToolInfo{Name: fmt.Sprint("tool", i)})
			found = append(found, index.Result{Name: infos[i].Name, Score: 1 / float64(i+1)})
		}
		r.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		var uses []string
		for range r.IntN(4) {
			if name := fmt.Sprint("tool", r.IntN(12)); !slices.Contains(uses, name) && name != found[0].Name {
				uses = append(uses, name)
			}
		}
		best := infos[slices.IndexFunc(infos, func(x *schema.ToolInfo) bool { return x.Name == found[0].Name })]
		best.Extra = map[string]any{"skill_tools": uses}
		x, err := skills.Index(func(context.Context, []*schema.ToolInfo) (index.Index, error) { return found, nil })(t.Context(), infos)
		require.NoError(t, err)
		got, err := x.Search(t.Context(), index.Query{})
		require.NoError(t, err)
		want := []string{best.Name}
		for _, name := range uses {
			if slices.ContainsFunc(infos, func(x *schema.ToolInfo) bool { return x.Name == name }) {
				want = append(want, name)
			}
		}
		for _, other := range found {
			if !slices.Contains(want, other.Name) {
				want = append(want, other.Name)
			}
		}
		var names []string
		for _, result := range got {
			names = append(names, result.Name)
		}
		require.Equal(t, want, names, "seed %d, found %v, uses %v", seed, found, uses)
	}
}

// In Chinese, what a model reads of a skill is Chinese: its description, its text, which tools it uses and that it
// cannot be read.
func TestNewSource_SpeaksChinese(t *testing.T) {
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	uses := func(skill.FrontMatter) []string { return []string{"mail"} }
	run := func(context.Context, string) (string, error) { return "ran", nil }
	for what, options := range map[string]skills.Options{"text": {Tools: uses}, "run": {Tools: uses, Run: run}} {
		set, err := skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "one", Description: "d"}, {Name: "two", Description: "torn"}}}, options).Tools(t.Context())
		require.NoError(t, err)
		for x := range set.All() {
			info, err := x.Info(t.Context())
			require.NoError(t, err)
			said, err := x.(tool.InvokableTool).InvokableRun(t.Context(), "{}")
			require.NoError(t, err)
			for _, text := range []string{info.Desc, said} {
				require.True(t, strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%s, %s: %q", what, info.Name, text)
			}
		}
	}
}

// wrong is a middleware that cannot begin, and returns a value beside its error.
type wrong struct {
	*adk.BaseChatModelAgentMiddleware
}

func (wrong) Begin(ctx context.Context, _ *einorun.RunContext) (context.Context, error) {
	return ctx, errors.New("no model for it")
}

// A middleware that cannot run a skill says so, and its skill is no empty success.
func TestRunWith_FailedMiddlewareIsAnError(t *testing.T) {
	said, err := skills.RunWith[*schema.Message](einorun.New(wrong{}))(t.Context(), "one")
	require.ErrorContains(t, err, "no model for it")
	require.Empty(t, said)
}
