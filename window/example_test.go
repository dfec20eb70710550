// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// city is what the weather tool takes.
type city struct {
	Name string `json:"name"`
}

func Example() {
	ctx := context.Background()
	weather, err := utils.InferTool("city_weather", "The weather in a city", func(context.Context, city) (string, error) { return "sunny", nil })
	if err != nil {
		log.Fatal(err)
	}
	// It stands in for your chat model: it searches for a tool and then answers.
	chatModel := einoleantest.Script[*schema.Message](einoleantest.Call("tool_search", `{"query":"weather city"}`), einoleantest.Say("It is sunny."))

	see := window.New(window.Config{})
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: []tool.BaseTool{weather}, OnEvent: see.Event})
	if err != nil {
		log.Fatal(err)
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers", Model: chatModel,
		Handlers: []adk.ChatModelAgentMiddleware{search, see.Handler()}, // see is last
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What is the weather in Oslo?")
	for {
		if _, ok := events.Next(); !ok {
			break
		}
	}

	for c := range see.Conversations() {
		for _, call := range c.Calls {
			fmt.Println("call", call.N, "hidden tools:", call.Hidden.Tools, "only for einolean:", call.Without == nil)
		}
		page := filepath.Join(os.TempDir(), "einolean-example.html")
		if err := inspect.WriteFile(page, c); err != nil {
			log.Fatal(err)
		}
		defer os.Remove(page)
	}
	// Output:
	// call 1 hidden tools: 1 only for einolean: true
	// call 2 hidden tools: 0 only for einolean: false
}

// conversation is a run of an agent with a collector, which the other examples look at.
func conversation(ctx context.Context, see *window.Collector) error {
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers", Model: einoleantest.Script[*schema.Message](einoleantest.Say("It is sunny.")),
		Handlers: []adk.ChatModelAgentMiddleware{see.Handler()}, // last
	})
	if err != nil {
		return err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "How is the weather? My key is sk-1234.")
	for {
		if _, more := events.Next(); !more {
			return nil
		}
	}
}

// A collector for a server: conversations with names, no secrets, bounded memory, and a
// file that "einolean view --follow" shows.
func ExampleNew() {
	type userKey struct{}
	secrets := regexp.MustCompile(`sk-\w+`)
	var file bytes.Buffer // use os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	see := window.New(window.Config{
		Conversation: func(ctx context.Context) (string, error) { return ctx.Value(userKey{}).(string), nil },
		Redact:       func(text string) string { return secrets.ReplaceAllString(text, "•••") },
		MaxBytes:     16 << 20,
		Log:          &file,
	})
	ctx := context.WithValue(context.Background(), userKey{}, "acme/42")
	if err := conversation(ctx, see); err != nil {
		log.Fatal(err)
	}
	if err := see.LogError(); err != nil { // did the log take everything?
		log.Fatal(err)
	}
	for _, run := range see.Conversation("acme/42").Runs {
		fmt.Println(run.Question)
	}
	// Output:
	// How is the weather? My key is •••.
}

// The handler of an agent on AgenticMessage.
func ExampleHandlerFor() {
	ctx := context.Background()
	see := window.New(window.Config{})
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[*schema.AgenticMessage]{
		Name: "assistant", Description: "answers", Model: einoleantest.Script[*schema.AgenticMessage](einoleantest.Say("It is sunny.")),
		Handlers: []adk.TypedChatModelAgentMiddleware[*schema.AgenticMessage]{window.HandlerFor[*schema.AgenticMessage](see)}, // last
	})
	if err != nil {
		log.Fatal(err)
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent})
	events := runner.Run(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("How is the weather?")})
	for {
		if _, more := events.Next(); !more {
			break
		}
	}
	for c := range see.Conversations() {
		fmt.Println(c.Calls[0].Answer)
	}
	// Output:
	// It is sunny.
}

// Writes conversations to a file and reads them back, to look at parts of one's own.
func ExampleReadJSON() {
	see := window.New(window.Config{})
	if err := conversation(context.Background(), see); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer // use os.Create
	if err := see.WriteJSON(&file); err != nil {
		log.Fatal(err)
	}
	all, err := window.ReadJSON(&file)
	if err != nil {
		log.Println(err) // some lines were torn; all holds the others
	}
	for _, c := range all {
		for _, call := range c.Calls {
			for _, p := range call.Parts() {
				fmt.Println(p.Category, p.Tokens, p.State, c.Texts[p.Text])
			}
		}
		sent, without := c.Totals().Cost(.1, 1.25) // a token from the cache costs a tenth
		fmt.Println(sent == without)
	}
	// Output:
	// user 13 new How is the weather? My key is sk-1234.
	// true
}

// Follows a log while it is written.
func ExampleFollowJSON() {
	var file bytes.Buffer // a reader that waits at the end of a file follows it
	if err := conversation(context.Background(), window.New(window.Config{Log: &file})); err != nil {
		log.Fatal(err)
	}
	err := window.FollowJSON(&file, func(c *window.Conversation, call *window.ModelCall) error {
		fmt.Println("call", call.N, "of", len(c.Runs), "question:", call.Tokens.Estimated, "tokens")
		return nil
	}, func(err error) { log.Println(err) })
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// call 1 of 1 question: 13 tokens
}

// Sums a call by category, in the order in which views show them.
func ExampleCategories() {
	see := window.New(window.Config{})
	if err := conversation(context.Background(), see); err != nil {
		log.Fatal(err)
	}
	for c := range see.Conversations() {
		for _, category := range window.Categories() {
			if tokens := c.Calls[0].By[category]; tokens > 0 {
				fmt.Println(category, tokens)
			}
		}
	}
	// Output:
	// user 13
}
