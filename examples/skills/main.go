// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command skills is an agent that finds skills by a sentence. It runs without a key.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
)

func main() {
	ctx := context.Background()

	// Put your own skills here, such as skill.NewBackendFromFilesystem, and your own chat model: this
	// model always makes the same calls.
	fill, err := utils.InferTool("fill_form", "Writes values into the fields of a PDF form.", fillForm)
	check(err)
	library := skills.NewSource(shelf{}, skills.Options{
		Tools: func(s skill.FrontMatter) []string { // found and loaded with the skill
			if s.Name == "pdf" {
				return []string{"fill_form"}
			}
			return nil
		},
	})
	model := einoleantest.Script[*schema.Message](
		einoleantest.Call("tool_search", `{"query":"Fill in a form with the customer's address"}`),
		einoleantest.Call("skill__pdf", `{}`),
		einoleantest.Call("fill_form", `{"Field":"address","Value":"Via Roma 1, Turin"}`),
		einoleantest.Say("The form is filled in."),
	)

	search, err := toolsearch.New(ctx, &toolsearch.Config{
		Source:       library,
		DynamicTools: []tool.BaseTool{fill},
		NewIndex:     skills.Index(index.BM25), // the tools of a skill are found with it
		CatalogLimit: 10,                       // names that a request shows, of however many
	})
	check(err)
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Model: model, Handlers: []adk.ChatModelAgentMiddleware{search},
	})
	check(err)

	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Put the customer's address into form.pdf, please.")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		check(event.Err)
		message, _, err := adk.GetMessage(event)
		check(err)
		for _, call := range message.ToolCalls {
			fmt.Println("=>", call.Function.Name, call.Function.Arguments)
		}
		if message.Content != "" {
			fmt.Println(message.Content)
		}
	}
}

// shelf is a library of a thousand skills.
type shelf struct{}

// List returns what a model may search.
func (shelf) List(context.Context) ([]skill.FrontMatter, error) {
	all := []skill.FrontMatter{
		{Name: "pdf", Description: "Read, fill, merge and sign PDF files and forms."},
		{Name: "xlsx", Description: "Create and edit spreadsheets with formulas and charts."},
	}
	for i := range 1000 {
		all = append(all, skill.FrontMatter{Name: fmt.Sprintf("runbook-%d", i), Description: fmt.Sprintf("What to do if machine %d of the plant stops.", i)})
	}
	return all, nil
}

// Get returns the text of a skill.
func (shelf) Get(_ context.Context, name string) (skill.Skill, error) {
	text := "1. Look for the form's fields.\n2. Fill them with fill_form, one by one."
	if strings.HasPrefix(name, "runbook") {
		text = "Call the shift leader."
	}
	return skill.Skill{FrontMatter: skill.FrontMatter{Name: name}, Content: text}, nil
}

type field struct{ Field, Value string }

func fillForm(_ context.Context, f field) (string, error) { return f.Field + " is " + f.Value, nil }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
