// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"strings"

	"github.com/einolean/einolean/demo/lab"
)

// conversation is what the user asks: each question is a run that continues
// the ones before.
func conversation(files fs.FS) []lab.Question {
	return []lab.Question{
		{Text: `Export the orders. Which city has "ord-31337"?`, Truth: lab.Is(`"city":"Gent"`)},
		{Text: `List the files in src. How long is "src/net/http/server.go"?`, Truth: sizeOf(files, "src/net/http/server.go")},
		{Text: `Show the file src/runtime/proc.go. On which line is "func schedule() {"?`, Truth: lineOf(files, "src/runtime/proc.go", "func schedule() {")},
		{Text: `Run the tests of the package "store". Which test failed?`, Truth: lab.Is("--- FAIL: TestReaderClosesRemote4711")},
		{Text: `Follow the log of the service "shop". What are the last 3 lines?`, Truth: lab.Is("shutting down\nwaiting for 3 requests\nstopped")},
		{Text: `Draw the load of the host "db1". What was it at 2026-03-11 14:37?`, Truth: lab.Is("2026-03-11 14:37 3.31")},
		{Text: `List the files in src/net. How long is "src/net/ip.go"?`, Truth: sizeOf(files, "src/net/ip.go")},
		{Text: `In the first listing, how long is "src/sort/sort.go"?`, Truth: sizeOf(files, "src/sort/sort.go")},
		{Text: `In the test log, what does line 9424 say?`, Truth: lab.Is("lock_test.go:87: got 41 entries, want 42")},
		{Text: `In the log of the service, what was "exhausted"?`, Truth: lab.Is("ERROR pool of connections exhausted, 64 of 64 in use")},
		{Text: `In the second listing, how long is "src/net/dial.go"?`, Truth: sizeOf(files, "src/net/dial.go")},
	}
}

func sizeOf(files fs.FS, name string) func() []string {
	return func() []string {
		info, err := fs.Stat(files, name)
		if err != nil {
			panic(err) // without it there is no truth
		}
		return []string{fmt.Sprintf("%s %d bytes", name, info.Size())}
	}
}

// lineOf is the line that begins with a text, as grep -n prints it.
func lineOf(files fs.FS, name, start string) func() []string {
	return func() []string {
		f, err := files.Open(name)
		if err != nil {
			panic(err) // without it there is no truth
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			if strings.HasPrefix(lines.Text(), start) {
				return []string{fmt.Sprintf("%d:%s", n, start)}
			}
		}
		panic(name + " has no such line")
	}
}
