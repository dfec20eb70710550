// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// watch has an agent answer, with a collector that looks at it.
func watch() *window.Collector {
	ctx := context.Background()
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers", Model: einoleantest.Script[*schema.Message](einoleantest.Say("It is sunny.")),
		Handlers: []adk.ChatModelAgentMiddleware{see.Handler()}, // last
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "How is the weather?")
	for {
		if _, more := events.Next(); !more {
			return see
		}
	}
}

// Writes the page of a conversation into a file.
func ExampleWriteFile() {
	see := watch()
	folder, err := os.MkdirTemp("", "einolean")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "window.html")
	if err := inspect.WriteFile(name, see.Conversation("acme/42")); err != nil {
		log.Fatal(err)
	}
	page, err := os.ReadFile(name)
	fmt.Println(strings.Contains(string(page), "acme/42"), err)
	// Output:
	// true <nil>
}

// Writes the page to anything else.
func ExampleWrite() {
	var page bytes.Buffer
	if err := inspect.Write(&page, watch().Conversation("acme/42")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"))
	// Output:
	// true
}

// Prints a line for each model call.
func ExampleWriteText() {
	if err := inspect.WriteText(os.Stdout, watch().Conversation("acme/42"), inspect.TextOptions{Width: 90}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// einolean  acme/42  1 question, 1 call
	// sent 6 tokens; without einolean 6: the same
	// in money: Claude the same · Claude 5.5, GPT-6 the same · GPT-5, Gemini the same · Doubao,
	// Qwen, GLM the same · DeepSeek the same
	//
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared  P programs
	//
	// call    tokens  window                           cache  what happened
	// > How is the weather?
	//    1         6  tttttttttttttttttttttttttttttt     0 %
}

// Prints the window of one call.
func ExampleWriteCall() {
	if err := inspect.WriteCall(os.Stdout, watch().Conversation("acme/42"), 1, inspect.TextOptions{Width: 70}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// call 1 of 1: 6 tokens  acme/42, assistant
	// > How is the weather?
	//
	// tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt
	//         6 t user            How is the weather?             new
	//
	// what it cost and saved
	//         6 tokens sent, estimated
	//         6 without einolean
	//
	// what the model did
	//   answered: It is sunny.
}

// Prints calls as they end, in the program itself.
func ExampleFollow() {
	show := inspect.Follow(os.Stdout, inspect.TextOptions{Width: 80, Color: false})
	see := watch()
	for c := range see.Conversations() { // or after each run, or in window.Config.OnCall
		if err := show(c); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// T tools  L loaded tools  N names  t talk  R results  X cut  C cleared  P programs
	//
	// call    tokens  window                 cache  what happened
	//                 a full bar is 1,000 tokens
	// einolean  acme/42
	// > How is the weather?
	//    1         6                           0 %
}

// Serves the pages of all conversations to this machine.
func ExampleHandler() {
	http.Handle("/context/", http.StripPrefix("/context", inspect.Handler(watch())))
	// go http.ListenAndServe("localhost:8080", nil)

	server := httptest.NewServer(http.DefaultServeMux)
	defer server.Close()
	answer, err := http.Get(server.URL + "/context/")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	// Output:
	// 200 OK
}
