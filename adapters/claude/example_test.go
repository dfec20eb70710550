// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/adapters/claude"
)

// It is made and used as eino-ext's own is: only the import differs.
func ExampleNewChatModel() {
	ctx := context.Background()
	m, err := claude.NewChatModel(ctx, &claude.Config{APIKey: os.Getenv("ANTHROPIC_API_KEY"), Model: "claude-opus-5", MaxTokens: 1000})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := m.Generate(ctx, []*schema.Message{schema.UserMessage("Hello?")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Content)
}
