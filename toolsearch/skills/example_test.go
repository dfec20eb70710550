// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk/middlewares/skill"

	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
)

// aShelf is a library of one skill; skill.NewBackendFromFilesystem reads one from a directory.
type aShelf struct{}

func (aShelf) List(context.Context) ([]skill.FrontMatter, error) {
	return []skill.FrontMatter{{Name: "pdf", Description: "Fill in PDF forms."}}, nil
}

func (aShelf) Get(context.Context, string) (skill.Skill, error) {
	return skill.Skill{Content: "Look for the form's fields."}, nil
}

// A handful of skills or thousands: put the middleware into Handlers of the agent.
func ExampleNewSource() {
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{
		Source:       skills.NewSource(aShelf{}, skills.Options{}),
		NewIndex:     skills.Index(index.BM25),
		CatalogLimit: 10,
	})
	fmt.Println(err)
	// Output: <nil>
}

// Eino's middleware stays, for skills that run in agents and on models of their own: set its
// AgentHub and ModelHub as before. Put both into Handlers of the agent.
func ExampleBeside() {
	own, err := skill.NewMiddleware(context.Background(), skills.Beside(&skill.Config{Backend: aShelf{}}))
	if err != nil {
		panic(err)
	}
	_, err = toolsearch.New(context.Background(), &toolsearch.Config{
		Source:       skills.NewSource(aShelf{}, skills.Options{Run: skills.RunWith(own)}),
		NewIndex:     skills.Index(index.BM25),
		CatalogLimit: 10,
	})
	fmt.Println(err)
	// Output: <nil>
}

// The tools of a skill are found, and loaded, with it.
func ExampleIndex() {
	uses := func(skill.FrontMatter) []string { return []string{"fill_form"} }
	_, err := toolsearch.New(context.Background(), &toolsearch.Config{
		Source:   skills.NewSource(aShelf{}, skills.Options{Tools: uses}),
		NewIndex: skills.Index(index.BM25),
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleToolName() {
	fmt.Println(skills.ToolName("code-review"))
	// Output: skill__code-review
}
