// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// windowPolicies are the policies that meet models with windows.
func windowPolicies() []replay.Policy {
	all := replay.Policies()
	return []replay.Policy{
		all[0],
		{Name: "Eino, as it is by default", New: func(ctx context.Context, files *store.Memory, _ int64) (adk.ChatModelAgentMiddleware, error) {
			return theirs.New(ctx, &theirs.Config{Backend: files})
		}},
		{Name: "Eino, from 32,000 tokens on", New: all[2].New},
		{Name: "Recommended without Overflow", New: func(ctx context.Context, files *store.Memory, _ int64) (adk.ChatModelAgentMiddleware, error) {
			c := reduction.Recommended(files)
			c.Overflow = nil
			return reduction.New(ctx, c)
		}},
		{Name: "Recommended", New: func(ctx context.Context, files *store.Memory, _ int64) (adk.ChatModelAgentMiddleware, error) {
			return reduction.New(ctx, reduction.Recommended(files))
		}},
	}
}

// tally is what became of runs.
type tally struct{ answered, refused int }

// printWindows has agents repeat runs with models that refuse what is longer than their window, each in
// the words of another provider. Every second one counts a quarter more than is estimated here.
func printWindows(ctx context.Context, out io.Writer, runs []replay.Recorded) error {
	windows, policies := []int64{32_000, 64_000, 128_000}, windowPolicies()
	tallies := make([]tally, len(windows)*len(policies))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	var without []string // runs without an answer under the last policy
	todo := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range todo {
				for at := range tallies {
					w := replay.Window{Tokens: windows[at/len(policies)], Factor: 1 + float64(i%2)/4, Refuse: replay.Refusals[i/2%len(replay.Refusals)]}
					end, err := runs[i].Conversation.End(ctx, policies[at%len(policies)], w)
					mu.Lock()
					failed = errors.Join(failed, err)
					if end.Answered {
						tallies[at].answered++
					}
					tallies[at].refused += end.Refused
					if end.Err != nil && at%len(policies) == len(policies)-1 {
						without = append(without, fmt.Sprintf("%d k, %s: %s", w.Tokens/1000, runs[i].Name, strings.SplitN(end.Err.Error(), "\n", 2)[0]))
					}
					mu.Unlock()
				}
			}
		})
	}
	for i := range runs {
		todo <- i
	}
	close(todo)
	wg.Wait()
	fmt.Fprintf(out, "%d runs, answered; requests that were refused\n%-32s", len(runs), "")
	for _, w := range windows {
		fmt.Fprintf(out, " %13d k", w/1000)
	}
	for i, p := range policies {
		fmt.Fprintf(out, "\n%-32s", p.Name)
		for k := range windows {
			t := tallies[k*len(policies)+i]
			fmt.Fprintf(out, " %8d; %5d", t.answered, t.refused)
		}
	}
	slices.Sort(without)
	fmt.Fprintf(out, "\nwithout an answer under the last:\n%s\n", strings.Join(without, "\n"))
	return failed
}
