// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The seam to the engine that runs programs.

import (
	"context"
	"time"
)

// Interpreter runs the programs that a model writes. The module programs/javascript has one;
// einoleantest.TestInterpreter holds every implementation to what is said here. It must be safe
// for concurrent use, and a program must reach nothing but its own memory and what it is given.
type Interpreter interface {
	// Start begins a program, and returns when it waits for calls or has ended. Whatever is
	// wrong with the program is part of its state. The error is ctx's, or says that the
	// interpreter itself cannot be used.
	Start(ctx context.Context, p Program) (Run, error)
}

// Program is what a model wrote, and all that its outcome may depend on besides the results of
// its calls: the same Program with the same results prints the same.
type Program struct {
	// Code is the text as the model wrote it.
	Code string
	// Seed is what its random numbers follow from.
	Seed string
	// Time is what its clock begins with.
	Time time.Time
}

// Run is a program that has begun. One goroutine uses it at a time.
type Run interface {
	// State says what the program waits for, or how it ended.
	State() State
	// Resume gives the program the results of all calls that it waits for, in any order, and
	// returns when it waits again or has ended. Its error is that of Start.
	Resume(ctx context.Context, results []Result) error
	// Close gives the memory back. Closing twice is allowed; State keeps what it said.
	Close()
}

// State is where a program is. It belongs to the caller.
type State struct {
	// Calls are what the program waits for, in the order in which it made them. If there are
	// none, it has ended.
	Calls []Call
	// Printed is everything that it has printed so far, within the interpreter's limit.
	Printed string
	// Returned is what it returned: text as it is, everything else as JSON; "" if nothing.
	Returned string
	// Error says why it ended before its end, where, and what to write instead; "" if it did not.
	Error string
	// Notes are further things that its author should know, such as a forgotten await.
	Notes []string
}

// Call is one call that a program waits for: of a tool, or of stored(path).
type Call struct {
	// Number counts the calls of the program from 1.
	Number int
	// Tool is the name that the program wrote; "" for stored(path).
	Tool string
	// Arguments is a JSON object. A number that may have been rounded, of 2^53 and more, is written
	// with an exponent; an integer beyond that is written digit by digit. If the program passed
	// anything else, it is a list of what it passed, and the tool does not run.
	Arguments string
	// Path is the argument of stored(path).
	Path string
	// Line is where in the program the call is, from 1; 0 if that is not known.
	Line int
}

// Result is how a call ended.
type Result struct {
	// Number is that of the call.
	Number int
	// Text is the result. JSON is its value in the program: an integer digit by digit, a decimal as
	// the nearest double. Anything else is a string.
	Text string
	// Failed rejects the call's promise with Text.
	Failed bool
}
