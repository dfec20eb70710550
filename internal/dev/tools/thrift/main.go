// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command thrift tells what invented runs of agents, or a recorded one, would cost under each policy
// of package replay.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	trigger := flag.Int64("trigger", 32_000, "tokens from which on policies clear")
	one := flag.String("conversation", "", "replay this conversation, a JSON array of messages, in place of the invented runs")
	tries := flag.Bool("sweep", false, "try settings of the preset")
	windows := flag.Bool("windows", false, "tell which runs end with an answer if the model refuses long requests")
	against := flag.Bool("against", false, "compare each run under the preset with Eino's package")
	copied := flag.String("o", "", "also write what is printed into this file")
	flag.Parse()
	out, err := output(*copied)
	switch ctx := context.Background(); {
	case err != nil:
	case *tries:
		err = sweep(ctx, out)
	case *windows:
		err = printWindows(ctx, out, inventedRuns())
	case *against:
		err = printAgainst(ctx, out, *trigger)
	case *one != "":
		err = printOne(ctx, out, *one, *trigger)
	default:
		err = printAll(ctx, out, *trigger)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "thrift:", err)
		os.Exit(1)
	}
}

// output is where tables go.
func output(file string) (io.Writer, error) {
	if file == "" {
		return os.Stdout, nil
	}
	f, err := os.Create(file)
	return io.MultiWriter(os.Stdout, f), err
}
