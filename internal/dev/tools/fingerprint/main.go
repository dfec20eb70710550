// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command fingerprint hashes what random runs do: requests, stored bytes, events and errors. Two commits that print
// the same hashes behave the same in these runs, so it shows whether a restructuring changed behavior:
//
//	go run ./internal/dev/tools/fingerprint -runs 3000
//
// With -each it prints a line per run. Compare the lines of two commits to find the first run that differs.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"sync"
)

// area is a part of the library with a generator of random runs.
type area struct {
	name string
	// run does one run and writes everything that a user could observe. Errors go to errs, because their texts may
	// change where nothing else does.
	run func(ctx context.Context, g *rand.Rand, out, errs io.Writer)
}

var areas = []area{
	{"toolsearch", searchRun},
	{"reduction", reductionRun},
	{"both", combinedRun},
	{"ranking", rankingRun},
	{"programs", programsRun},
}

func main() {
	runs := flag.Int("runs", 3000, "runs per area")
	seed := flag.Uint64("seed", 1, "chooses what each run is")
	only := flag.String("area", "", "the only area to run")
	each := flag.Bool("each", false, "print a line per run")
	show := flag.Int("show", -1, "print what this run wrote, instead of hashes")
	flag.Parse()
	for _, a := range areas {
		switch {
		case *only != "" && *only != a.name:
		case *show >= 0:
			a.run(context.Background(), generator(*seed, *show), normalizer{os.Stdout}, normalizer{os.Stdout})
		default:
			report(os.Stdout, a, *seed, *runs, *each)
		}
	}
}

func generator(seed uint64, run int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(run))) }

// report prints the hashes of an area. The order of the runs does not depend on how many run at once.
func report(w io.Writer, a area, seed uint64, runs int, each bool) {
	type sums struct{ out, errs string }
	results := make([]sums, runs)
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := range next {
				out, errs := sha256.New(), sha256.New()
				a.run(context.Background(), generator(seed, n), normalizer{out}, normalizer{errs})
				results[n] = sums{shortHash(out), shortHash(errs)}
			}
		})
	}
	for n := range runs {
		next <- n
	}
	close(next)
	wg.Wait()
	out, errs := sha256.New(), sha256.New()
	for n, s := range results {
		if each {
			fmt.Fprintln(w, a.name, n, s.out, s.errs)
		}
		io.WriteString(out, s.out)
		io.WriteString(errs, s.errs)
	}
	fmt.Fprintf(w, "%-10s %6d runs, seed %d: behavior %s, errors %s\n", a.name, runs, seed, shortHash(out), shortHash(errs))
}

func shortHash(h hash.Hash) string { return fmt.Sprintf("%x", h.Sum(nil)[:8]) }

// normalizer replaces what differs from process to process.
type normalizer struct{ w io.Writer }

var volatile = regexp.MustCompile(
	`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` + // ids of messages
		`|"took_ns":\d+|"time":"[^"]*"|0x[0-9a-f]{6,}|goroutine \d+`)

// Write writes a whole observation; one is not split over two calls.
func (n normalizer) Write(b []byte) (int, error) {
	_, err := n.w.Write(volatile.ReplaceAll(b, []byte("#")))
	return len(b), err
}
