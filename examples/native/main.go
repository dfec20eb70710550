// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command native shows what goes over the wire when a provider's own tool search is used:
// the same conversation under each contract of package toolsearch, with eino-ext's
// adapters and servers on loopback that are as strict as the providers. It needs neither
// network nor key.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/einolean/einolean/internal/dev/provider"
)

func main() {
	stream := flag.Bool("stream", false, "ask for answers in chunks")
	bodies := flag.Bool("bodies", false, "print each request as it is sent")
	flag.Parse()
	if err := show(context.Background(), os.Stdout, *stream, *bodies); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// show has the conversation in each way, and prints its requests and then their sums.
func show(ctx context.Context, w io.Writer, stream, bodies bool) error {
	root, err := os.MkdirTemp("", "native")
	if err != nil {
		return fmt.Errorf("making a folder for the file tools: %w", err)
	}
	defer os.RemoveAll(root)
	var done []outcome
	for _, way := range ways {
		o, err := way.play(ctx, root, stream)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		printRequests(w, o, bodies)
		done = append(done, o)
	}
	printSums(w, done)
	return nil
}

// printRequests prints one line for each request.
func printRequests(w io.Writer, o outcome, bodies bool) {
	fmt.Fprintf(w, "%s: %s\n", o.way.name, o.way.about)
	t := tabwriter.NewWriter(w, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "request\tin full\tdeferred\tsearch by\tloaded\tKB on the wire\ttokens read\tstart of the prompt\t")
	for i, r := range o.requests {
		fmt.Fprintf(t, "%d\t%d\t%d\t%s\t%d\t%.1f\t%d\t%s\t\n", i+1, len(r.Tools)-len(r.Deferred()), len(r.Deferred()), o.searchBy(r),
			len(r.Loaded), float64(len(r.Body))/1024, r.Tokens(), prefix(o.requests, i))
	}
	t.Flush()
	fmt.Fprintln(w)
	for i, r := range o.requests {
		if bodies {
			fmt.Fprintf(w, "request %d: %s\n\n", i+1, r.Body)
		}
	}
}

// prefix says whether a prompt cache of the request before helps this one: providers put
// the tools that are shown in full first.
func prefix(list []provider.Request, i int) string {
	if i == 0 {
		return "new"
	}
	before, now := inFull(list[i-1]), inFull(list[i])
	if len(before) != len(now) {
		return "changed"
	}
	for j := range now {
		if now[j] != before[j] {
			return "changed"
		}
	}
	return "same"
}

func inFull(r provider.Request) (names []string) {
	for _, t := range r.Tools {
		if !t.Deferred {
			names = append(names, t.Name)
		}
	}
	return names
}

// printSums compares the ways.
func printSums(w io.Writer, done []outcome) {
	fmt.Fprintf(w, "The whole conversation, two runs, with %d tools:\n", done[0].tools)
	t := tabwriter.NewWriter(w, 2, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "way\tadapter\trequests\ttokens read\tof all in full\tKB on the wire\t")
	all := 0
	for i, o := range done {
		tokens, bytes := 0, 0
		for _, r := range o.requests {
			tokens += r.Tokens()
			bytes += len(r.Body)
		}
		if i == 0 {
			all = tokens
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.1f %%\t%.0f\t\n", o.way.name, o.way.adapter, len(o.requests), tokens, 100*float64(tokens)/float64(all), float64(bytes)/1024)
	}
	t.Flush()
}
