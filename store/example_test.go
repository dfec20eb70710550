// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// A directory keeps results across restarts. Nothing but the store's own files is
// ever touched, whatever the paths.
func ExampleNewDir() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	files, err := store.NewDir(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	ctx := context.Background()
	fmt.Println(files.Create(ctx, "/tmp/trunc/call_1", strings.NewReader("a result")))
	err = files.Create(ctx, "../../outside", strings.NewReader("anything"))
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

// A store in memory is bounded: the oldest results go first.
func ExampleNewMemory() {
	files := store.NewMemory(1 << 20)
	mw, err := reduction.New(context.Background(), &reduction.Config{Backend: files})
	fmt.Println(mw != nil, err)
	// Output: true <nil>
}

// What a store can do is asked by As.
func ExampleAs() {
	files := store.Scoped(store.NewMemory(0), store.Scope{Key: func(context.Context) (string, error) { return "acme", nil }})
	if cleaner, ok := store.As[store.Cleaner](files); ok {
		count, bytes, err := cleaner.Stored(context.Background(), "/")
		fmt.Println(count, bytes, err)
	}
	// Output: 0 0 <nil>
}

type userKey struct{}

// userOf returns who a request is for.
func userOf(ctx context.Context) (string, error) {
	user, ok := ctx.Value(userKey{}).(string)
	if !ok {
		return "", errors.New("no user in the context")
	}
	return user, nil
}

// A server keeps its users apart in one store.
func ExampleScoped() {
	ctx := context.Background()
	results := store.NewMemory(0)
	tenants := store.Scoped(results, store.Scope{Key: func(ctx context.Context) (string, error) {
		return userOf(ctx) // such as "acme/42"; an error or "" stores and reads nothing
	}})
	reduce, err := reduction.New(ctx, reduction.Recommended(tenants))
	if err != nil {
		log.Fatal(err)
	}
	tool, err := reduce.WrapInvokableToolCall(ctx, func(context.Context, string, ...tool.Option) (string, error) {
		return strings.Repeat("a line of the report\n", 5000), nil
	}, &adk.ToolContext{Name: "report", CallID: "call_1"})
	if err != nil {
		log.Fatal(err)
	}
	reader, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: tenants})
	if err != nil {
		log.Fatal(err)
	}
	ann, bob := context.WithValue(ctx, userKey{}, "acme/ann"), context.WithValue(ctx, userKey{}, "acme/bob")
	if _, err := tool(ann, "{}"); err != nil {
		log.Fatal(err)
	}
	for _, user := range []context.Context{ann, bob} {
		page, err := reader.InvokableRun(user, `{"file_path":"/tmp/trunc/call_1","offset":1,"limit":1}`)
		fmt.Println(strings.Contains(page, "a line of the report"), err)
	}
	// Output:
	// true <nil>
	// false <nil>
}
