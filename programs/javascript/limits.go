// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Everything that bounds a program. The prelude and the texts get these numbers from here.
//
// Package programs has the bounds across the programs of an agent: how many tools they call in one
// turn, and the agent's MaxIterations.

import (
	"errors"
	"time"

	"github.com/einolean/einolean"
)

// Limits bound a program. A field that is zero has its default. What a program has printed
// before it reaches a limit is kept, and its answer names the limit.
type Limits struct {
	// Memory is the maximum memory of a program, in bytes. If zero, defaults to 64 MB; the
	// minimum is 8 MB.
	Memory int64
	// Time is how long a program may compute. Waiting for calls does not count, and on Linux
	// neither does waiting for a processor. If zero, defaults to 2 seconds.
	Time time.Duration
	// Calls is the maximum number of calls of a program. If zero, defaults to 200.
	Calls int
	// MaxBatches is how often a program may wait for calls. Calls made at the same time count as one
	// batch. If zero, defaults to 15.
	MaxBatches int
	// MaxConcurrentCalls is how many calls of a program run at the same time. The others follow when
	// these have ended, in the same batch. If zero, defaults to 50.
	MaxConcurrentCalls int
	// MaxTotalMemory is how many bytes the programs of one interpreter may hold while they wait
	// for calls. Above it, the programs that have waited longest lose their memory. When their results
	// are there, they run again from the beginning, without repeating a call. If zero, defaults
	// to 256 MB.
	MaxTotalMemory int64
	// Output is the maximum size of what a program prints, and of what it returns, in bytes.
	// If zero, defaults to 20,000.
	Output int
}

// The values that Limits may have.
const (
	minMemory      = 8 << 20
	maxMemory      = 4 << 30
	maxOutputLimit = 1 << 20
)

const (
	// stackSize stops functions that call each other too deeply, in bytes.
	stackSize = 256 << 10
	// memoryReserve is the part of Limits.Memory that QuickJS does not use: a quarter. So a program
	// gets an out-of-memory error of QuickJS before WebAssembly memory ends.
	memoryReserve = 4
	// maxGoMemory is the largest memory of a program that is a Go slice, in bytes. Few programs need
	// more. A larger memory is mapped from the system.
	maxGoMemory = 8 << 20
)

// heapLimit returns how much of a program's memory QuickJS may use.
func heapLimit(memory int64) uint64 { return uint64(memory - memory/memoryReserve) }

// preludeLimits are the bounds that the prelude applies. Lengths are in UTF-16 code units.
type preludeLimits struct {
	Output    int `json:"output"`    // bytes that are printed, and length of what is returned; the rest is cut
	Calls     int `json:"calls"`     // calls; the next one is rejected and stops the program
	Arguments int `json:"arguments"` // length of the arguments of a call, which is rejected above
	Notes     int `json:"notes"`     // notes of a program; further ones are dropped
	Error     int `json:"error"`     // length of the error that ends a program; the rest is cut
	Failure   int `json:"failure"`   // length of an error in a note; the rest is cut
	Sent      int `json:"sent"`      // length of arguments quoted in an error; the rest is cut
	Value     int `json:"value"`     // length of the last value, if nothing was printed; above, its shape is shown
	Shapes    int `json:"shapes"`    // length of the list of shapes that calls returned; further ones are dropped
	Depth     int `json:"depth"`     // nesting of a shape; "any" below
	Keys      int `json:"keys"`      // keys of an object in a shape; "..." for the others
}

// forPrelude returns the bounds for the prelude.
func (l Limits) forPrelude() preludeLimits {
	return preludeLimits{Output: l.Output, Calls: l.Calls, Arguments: 1 << 20, Notes: 5, Error: 2000, Failure: 300,
		Sent: 200, Value: 2000, Shapes: 1000, Depth: 3, Keys: 20}
}

// orDefaults returns the limits with defaults for fields that are zero.
func (l Limits) orDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = 64 << 20
	}
	if l.Time == 0 {
		l.Time = 2 * time.Second
	}
	if l.Calls == 0 {
		l.Calls = 200
	}
	if l.MaxBatches == 0 {
		l.MaxBatches = 15
	}
	if l.MaxConcurrentCalls == 0 {
		l.MaxConcurrentCalls = 50
	}
	if l.MaxTotalMemory == 0 {
		l.MaxTotalMemory = 256 << 20
	}
	if l.Output == 0 {
		l.Output = 20_000
	}
	return l
}

// check returns all mistakes of the limits.
func (l Limits) check() error {
	var problems []error
	add := func(field, problem string) {
		problems = append(problems, &einolean.FieldError{Package: "javascript", Field: "Limits." + field, Err: errors.New(problem)})
	}
	if l.Memory < minMemory || l.Memory > maxMemory {
		add("Memory", "must be from 8 MB to 4 GB")
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"Time", int64(l.Time)}, {"Calls", int64(l.Calls)}, {"MaxBatches", int64(l.MaxBatches)},
		{"MaxConcurrentCalls", int64(l.MaxConcurrentCalls)}, {"MaxTotalMemory", l.MaxTotalMemory},
	} {
		if f.value < 0 {
			add(f.name, "must not be negative")
		}
	}
	if l.Output < 0 || l.Output > maxOutputLimit {
		add("Output", "must be from 0 to 1 MB")
	}
	return errors.Join(problems...)
}
