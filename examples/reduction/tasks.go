// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/leanctx/leanctx/examples/lab"
)

// conversation is what the user asks: each question is a run that continues
// the ones before.
func conversation(files fs.FS) []lab.Question {
	return []lab.Question{
		{Text: `Export the orders. Which city has "ord-31337"?`, Truth: order("ord-31337")},
		{Text: `List the files in src. How long is "src/net/http/server.go"?`, Truth: sizeOf(files, "src/net/http/server.go")},
		{Text: `Show the file src/runtime/proc.go. On which line is "func schedule() {"?`, Truth: lineOf(files, "src/runtime/proc.go", "func schedule() {")},
		{Text: `Run the tests of the package "store". Which test failed?`, Truth: func() []string { return []string{"--- FAIL: " + testName(failing)} }},
		{Text: `Follow the log of the service "shop". What are the last 3 lines?`, Truth: func() []string {
			return []string{"shutting down\nwaiting for 3 requests\nstopped"}
		}},
		{Text: `Draw the load of the host "db1". What was it at 2026-03-11 14:37?`, Truth: loadAt(2, 14, 37)},
		{Text: `List the files in src/net. How long is "src/net/ip.go"?`, Truth: sizeOf(files, "src/net/ip.go")},
		{Text: `In the first listing, how long is "src/sort/sort.go"?`, Truth: sizeOf(files, "src/sort/sort.go")},
		{Text: `In the test log, what does line 9424 say?`, Truth: func() []string { return []string{"lock_test.go:87: got 41 entries, want 42"} }},
		{Text: `In the log of the service, what was "exhausted"?`, Truth: func() []string { return []string{"ERROR pool of connections exhausted, 64 of 64 in use"} }},
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

// order is the city of an order, looked up in the decoded JSON.
func order(id string) func() []string {
	return sync.OnceValue(func() []string {
		var all struct{ Orders []struct{ ID, City string } }
		if err := json.Unmarshal([]byte(orders()), &all); err != nil {
			panic(err) // it was generated
		}
		for _, o := range all.Orders {
			if o.ID == id {
				return []string{fmt.Sprintf(`"city":%q`, o.City)}
			}
		}
		panic(id + " is no order")
	})
}

func loadAt(days, hours, minutes int) func() []string {
	return func() []string {
		n := (days*24+hours)*60 + minutes
		at := dawn.Add(time.Duration(n) * time.Minute)
		return []string{fmt.Sprintf("%s %.2f", at.Format("2006-01-02 15:04"), load(n))}
	}
}
