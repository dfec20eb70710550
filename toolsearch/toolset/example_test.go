// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolset_test

// Examples that need no agent: a Source or a set goes into toolsearch.Config.Source.

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// A few hundred tools for each server: only the set of a server that changes is indexed anew.
func ExampleUnion() {
	ctx := context.Background()
	shared, err := toolset.New(ctx, named("weather__get_forecast"), named("travel__find_hotel"))
	if err != nil {
		fmt.Println(err)
		return
	}
	own, err := toolset.New(ctx, named("crm__find_customer"))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(toolset.Union(shared, own))
	// Output:
	// weather__get_forecast
	// travel__find_hotel
	// crm__find_customer
}

// The error names each tool that cannot be in a set.
func ExampleNew() {
	_, err := toolset.New(context.Background(), named("find_city"), named("find_customer"), named("find_city"))
	fmt.Println(err)
	// Output:
	// toolset: tools[2]: it has the name of tools[0], "find_city"
}

// One more tool: the others are not read again.
func ExampleSet_Update() {
	ctx := context.Background()
	city, customer := named("find_city"), named("find_customer")
	set, err := toolset.New(ctx, city)
	if err != nil {
		fmt.Println(err)
		return
	}
	more, err := set.Update(ctx, city, customer)
	if err != nil {
		fmt.Println(err)
		return
	}
	same, err := more.Update(ctx, city, customer)
	fmt.Println(same == more, err)
	// Output:
	// true <nil>
}

// One user's view of a set.
func ExampleSet_Select() {
	ctx := context.Background()
	all, err := toolset.New(ctx, named("crm__find_customer"), named("billing__refund"))
	if err != nil {
		fmt.Println(err)
		return
	}
	view := all.Select(func(info *schema.ToolInfo) bool { return strings.HasPrefix(info.Name, "crm__") })
	show(view)
	// Output:
	// crm__find_customer
}

// The tools of each user, listed before every model call.
func ExampleNewSource() {
	type userKey struct{}
	user := func(ctx context.Context) (string, error) {
		name, _ := ctx.Value(userKey{}).(string)
		return name, nil // an empty key has no tools
	}
	source := toolset.NewSource(func(ctx context.Context) ([]tool.BaseTool, error) {
		name, err := user(ctx)
		return []tool.BaseTool{named("find_customer_of_" + name)}, err
	}, user)
	set, err := source.Tools(context.WithValue(context.Background(), userKey{}, "ann"))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(set)
	// Output:
	// find_customer_of_ann
}

// Several sources: one that fails keeps its last tools, and does not affect the others.
func ExampleMulti() {
	ctx := context.Background()
	fixed, err := toolset.New(ctx, named("weather__get_forecast"))
	if err != nil {
		fmt.Println(err)
		return
	}
	down := toolset.NewSource(func(context.Context) ([]tool.BaseTool, error) { return nil, errors.New("the server is down") }, nil)
	set, err := toolset.Multi(fixed, down).Tools(ctx)
	fmt.Println(err)
	show(set)
	// Output:
	// source 1: the server is down
	// weather__get_forecast
}

// A tool with an opaque definition is found by phrases that people use. Write them by hand,
// or have a model write them once and keep them with your tools.
func ExamplePhrasesKey() {
	info := &schema.ToolInfo{Name: "tx_a10", Desc: "Posts an entry.", Extra: map[string]any{
		toolset.PhrasesKey: []string{"write down what we paid", "book a bill"},
	}}
	x, err := index.BM25(context.Background(), []*schema.ToolInfo{info, {Name: "tx_b20", Desc: "Reverses an entry."}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := x.Search(context.Background(), index.Query{Text: "book the electricity bill", Limit: 1})
	fmt.Println(found[0].Name, err)
	// Output: tx_a10 <nil>
}

// show prints the names of a set's tools.
func show(set *toolset.Set) {
	for t := range set.All() {
		info, err := t.Info(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(info.Name)
	}
}

// named is a tool that does nothing.
func named(name string) tool.BaseTool {
	t, _ := utils.InferTool(name, "Does "+name+".", func(context.Context, struct{}) (string, error) { return "done", nil })
	return t
}
