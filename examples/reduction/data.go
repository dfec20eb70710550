// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"sync"
	"time"
)

const (
	howManyOrders  = 82_000
	howManyTests   = 9_000
	howManyEvents  = 12_000
	howManyMinutes = 7 * 24 * 60
)

// words that names are made of.
var (
	places   = []string{"Turin", "Malmö", "Brno", "Łódź", "Porto", "Graz", "Köln", "Lyon", "Gent", "Cádiz", "Tartu"}
	subjects = []string{"Store", "Reader", "Cursor", "Index", "Page", "Lock", "Cache", "Queue", "Batch", "Token"}
	verbs    = []string{"Opens", "Closes", "Splits", "Merges", "Expires", "Survives", "Retries", "Reports", "Orders", "Copies"}
	objects  = []string{"Empty", "Large", "Twice", "Late", "Half", "Nested", "Shared", "Remote", "Broken", "Again"}
)

// What the tools return is generated once.
var (
	orders     = sync.OnceValue(makeOrders)
	testLog    = sync.OnceValue(makeTestLog)
	serviceLog = sync.OnceValue(makeServiceLog)
	loads      = sync.OnceValue(makeLoads)
)

// makeOrders makes JSON in one line of about 5 MB.
func makeOrders() string {
	var b strings.Builder
	b.WriteString(`{"orders":[`)
	for n := range howManyOrders {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"ord-%05d","city":"%s","items":%d,"total":"%d.%02d"}`, n, places[n*7%len(places)], 1+n*13%9, 5+n*31%900, n*17%100)
	}
	b.WriteString(`]}`)
	return b.String()
}

func testName(n int) string {
	return "Test" + subjects[n%10] + verbs[n/10%10] + objects[n/100%10] + fmt.Sprint(n)
}

// failing is the test that fails, somewhere in the middle.
const failing = 4_711

// makeTestLog makes what go test -v prints.
func makeTestLog() string {
	var b strings.Builder
	for n := range howManyTests {
		name, verdict := testName(n), "PASS"
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		if n == failing {
			verdict = "FAIL"
			fmt.Fprintf(&b, "    lock_test.go:87: got 41 entries, want 42\n")
		}
		fmt.Fprintf(&b, "--- %s: %s (%d.%02ds)\n", verdict, name, n%3/2, n*7%100)
	}
	b.WriteString("FAIL\nFAIL\texample.org/store\t161.803s\nFAIL\n")
	return b.String()
}

// dawn is when the generated logs begin.
var dawn = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)

// makeServiceLog makes what a service writes while it runs.
func makeServiceLog() string {
	var b strings.Builder
	for n := range howManyEvents {
		at := dawn.Add(time.Duration(n) * 250 * time.Millisecond).Format("15:04:05.000")
		fmt.Fprintf(&b, "%s INFO  request %06d from %s served in %d ms\n", at, n, places[n*5%len(places)], 3+n*29%170)
		if n == howManyEvents/2 {
			fmt.Fprintf(&b, "%s ERROR pool of connections exhausted, 64 of 64 in use\n", at)
		}
	}
	b.WriteString("shutting down\nwaiting for 3 requests\nstopped\n")
	return b.String()
}

// load is that of a minute of the week.
func load(minute int) float64 {
	return 2 + math.Round(150*math.Sin(float64(minute*minute%977)/311))/100
}

// makeLoads makes a line for each minute.
func makeLoads() string {
	var b strings.Builder
	for n := range howManyMinutes {
		fmt.Fprintf(&b, "%s %.2f\n", dawn.Add(time.Duration(n)*time.Minute).Format("2006-01-02 15:04"), load(n))
	}
	return b.String()
}

// drawing is a PNG of the first hours.
func drawing() []byte {
	img := image.NewGray(image.Rect(0, 0, 480, 80))
	for x := range 480 {
		for y := range int(load(x) * 20) {
			img.SetGray(x, 79-y, color.Gray{Y: 200})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}
