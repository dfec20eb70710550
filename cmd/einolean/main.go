// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command einolean shows, without code, how well searches find your tools, what recorded
// conversations would have cost, which settings do best with your model, and what a model's
// window contained:
//
//	go run github.com/einolean/einolean/cmd/einolean@latest eval tools.json
//	go run github.com/einolean/einolean/cmd/einolean@latest search tools.json "convert miles"
//	go run github.com/einolean/einolean/cmd/einolean@latest replay conversation.json
//	go run github.com/einolean/einolean/cmd/einolean@latest bench --model NAME
//	go run github.com/einolean/einolean/cmd/einolean@latest view window.jsonl --open
//
// Results go to standard output, and messages to standard error. The exit code is 0 for
// success, 1 if a threshold was missed, a search found nothing or results could not be written, 2 for wrong usage, 3 if
// input cannot be read, and 4 if a provider, or with --strict a server, cannot be used. Only bench, and eval with
// --model, send anything anywhere; servers are started or called only with --connect.
package main

// Choosing the command, and its exit code.

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

// The exit codes.
const (
	exitDone = iota
	exitMissed
	exitUsage
	exitInput
	exitServer
	exitInterrupted = 130
)

// failure is an error with an exit code and its printable text.
type failure struct {
	code int
	err  error
	text string
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

func fail(code int, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...), printableMessage(format, args)}
}

// printableMessage formats a message. It escapes file names, flags and errors, so that they cannot control the
// terminal.
func printableMessage(format string, args []any) string {
	printable := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			printable[i] = display.Printable(arg)
		case error:
			printable[i] = errorText(arg)
		case []string: // a line each
			lines := slices.Clone(arg)
			for j := range lines {
				lines[j] = display.Printable(lines[j])
			}
			printable[i] = strings.Join(lines, "\n  ")
		default:
			printable[i] = arg
		}
	}
	return fmt.Sprintf(verbs.Replace(format), printable...)
}

// verbs are those of formats whose arguments are escaped already.
var verbs = strings.NewReplacer("%w", "%v", "%q", `"%s"`)

// errorText returns the printable text of an error. Joined errors take one line each.
func errorText(err error) string {
	switch err := err.(type) {
	case *failure:
		return err.text
	case interface{ Unwrap() []error }:
		const most = 10
		errs := err.Unwrap()
		var all []string
		for _, one := range errs[:min(most, len(errs))] {
			all = append(all, errorText(one))
		}
		if more := len(errs) - most; more > 0 {
			all = append(all, "and "+display.Grouped(more)+" more problems")
		}
		return strings.Join(all, "\n")
	}
	return display.Printable(err.Error())
}

// command is a subcommand.
type command struct {
	name, arguments, summary string
	run                      func(ctx context.Context, io streams, args []string) error
}

var commands []command

func init() { // the commands name themselves in their usage
	commands = []command{
		{"eval", "TOOLS [--queries FILE | --model NAME]", "which tools are never found, and what to write instead", runEval},
		{"search", "TOOLS [QUERY…]", "which tools a query finds, and why with --why; without a query, a prompt", runSearch},
		{"replay", "CONVERSATION…", "what recorded conversations cost under each policy and price card", runReplay},
		{"bench", "--model NAME", "which settings do best with your own model, over 60 tasks", runBench},
		{"view", "FILE", "what a model's window contained: lines in the terminal, also while the agent runs, or a page", runView},
		{"version", "", "which version this is, and with which versions of Go and Eino it was built", runVersion},
	}
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, streams{&interruptibleReader{ctx: ctx, r: os.Stdin}, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs the program and returns its exit code.
func run(ctx context.Context, s streams, args []string) int {
	if len(args) == 0 {
		usage(s.out)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "--help", "-help":
		out := &output{w: s.out}
		if usage(out); out.err != nil {
			return exitMissed
		}
		return exitDone
	case "--version", "-version":
		args[0] = "version"
	}
	at := slices.IndexFunc(commands, func(c command) bool { return c.name == args[0] })
	if at < 0 {
		fmt.Fprintf(s.err, "einolean: unknown command %q; see einolean help\n", args[0])
		return exitUsage
	}
	out := &output{w: s.out}
	s.out = out
	err := commands[at].run(ctx, s, args[1:])
	if out.err != nil { // whatever else went wrong, nobody has read it
		err = fail(exitMissed, "the results could not be written: %w", unnamed(out.err))
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case ctx.Err() != nil:
		fmt.Fprintln(s.err, "einolean: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(s.err, "einolean %s: %s\n", args[0], errorText(err))
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitInput
}

func usage(w io.Writer) {
	fmt.Fprint(w, "einolean shows how well searches find your tools, what conversations cost, which settings do best with your model,\nand what a model's window contained.\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  einolean %-32s %s\n", c.name+" "+c.arguments, c.summary)
	}
	fmt.Fprint(w, `
TOOLS is a file of tools, or - for standard input: JSON Lines with name and description, the tools of an
OpenAI or Anthropic request, an MCP server's answer to tools/list, or an mcpServers file, whose servers are
started only with --connect. CONVERSATION is a file of Eino, OpenAI, Anthropic, Gemini, Bedrock or Vercel
messages (a JSON array, a request body or JSON Lines), a recording by einoleantest.Recorder, or FILE. FILE is written by
window.Collector.WriteJSON or window.Config.Log. For its flags, run a command with --help.
`)
}

// flags returns the flag set of a command, with the flags that all commands share.
func flags(s streams, c string, common *options) *flag.FlagSet {
	f := flag.NewFlagSet(c, flag.ContinueOnError)
	f.SetOutput(io.Discard) // run says what is wrong
	f.BoolVar(&common.json, "json", false, "write one JSON object")
	f.BoolVar(&common.schema, "schema", false, "print the JSON Schema of the --json output and exit")
	f.StringVar(&common.color, "color", "auto", "auto, always or never; NO_COLOR and TERM=dumb count as never")
	f.BoolVar(&common.quiet, "quiet", false, "write no messages to standard error")
	f.Usage = func() {
		at := slices.IndexFunc(commands, func(other command) bool { return other.name == c })
		f.SetOutput(s.out)
		fmt.Fprintf(s.out, "einolean %s %s\n%s.\n\n", c, commands[at].arguments,
			strings.ToUpper(commands[at].summary[:1])+commands[at].summary[1:])
		var b strings.Builder
		f.SetOutput(&b)
		f.PrintDefaults()
		fmt.Fprint(s.out, strings.ReplaceAll("\n"+b.String(), "\n  -", "\n  --")[1:]) // as all our texts write them
	}
	return f
}

// repeated is a flag whose values add up.
func repeated(f *flag.FlagSet, values *[]string, name, usage string) {
	f.Func(name, usage, func(value string) error {
		*values = append(*values, value)
		return nil
	})
}

// flagErrors are the errors of package flag, and what they mean.
var flagErrors = []struct {
	pattern *regexp.Regexp
	mean    string
}{
	{regexp.MustCompile(`^flag provided but not defined: -(.*)$`), "there is no flag --$1"},
	{regexp.MustCompile(`^flag needs an argument: -(.*)$`), "--$1 needs a value"},
	{regexp.MustCompile(`^invalid (?:boolean )?value (.*) for (?:flag )?-(.*?): .*$`), "--$2 cannot be $1"},
	{regexp.MustCompile(`^bad flag syntax: (.*)$`), "$1 is no flag"},
}

// flagWords words an error of package flag for who typed the flag.
func describeFlagError(err error) string {
	for _, e := range flagErrors {
		if e.pattern.MatchString(err.Error()) {
			return e.pattern.ReplaceAllString(err.Error(), e.mean)
		}
	}
	return err.Error()
}

// parse reads flags wherever they stand among the arguments, and returns the rest. It
// prints the usage on request.
func parse(f *flag.FlagSet, args []string) (rest []string, err error) {
	usage := f.Usage
	f.Usage = func() {}
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				usage()
				return nil, err
			}
			return nil, fail(exitUsage, "%s. See einolean %s --help", describeFlagError(err), f.Name())
		}
		if args = f.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	return rest, nil
}
