// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command thrift records runs of agents over real tools and tells what each would have
// cost under each policy of package replay.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/replay"
)

func main() {
	runs := flag.String("runs", "", "file of the recorded runs, written if it does not exist; by default they are kept in the temporary directory, for each version of Go")
	sample := flag.String("sample", "", "write every twelfth run into this file and stop")
	trigger := flag.Int64("trigger", 32_000, "tokens from which on policies clear")
	one := flag.String("conversation", "", "replay this conversation, a JSON array of messages, in place of the runs")
	tries := flag.Bool("sweep", false, "invent runs and try settings of the preset on them")
	copied := flag.String("o", "", "also write what is printed into this file")
	flag.Parse()
	out, err := output(*copied)
	if err == nil && *tries {
		err = sweep(context.Background(), out)
	} else if err == nil {
		err = thrift(context.Background(), out, input{*runs, *sample, *one}, *trigger)
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

// input says what to replay.
type input struct{ runs, sample, conversation string }

func thrift(ctx context.Context, out io.Writer, from input, trigger int64) error {
	if from.conversation != "" {
		return printOne(ctx, out, from.conversation, trigger)
	}
	file := from.runs
	if file == "" {
		file = fmt.Sprintf("%s/einolean-thrift-%s.jsonl.gz", strings.TrimSuffix(os.TempDir(), "/"), runtime.Version())
	}
	if _, err := os.Stat(file); err != nil {
		fmt.Fprintln(os.Stderr, "recording", file)
		if err := write(file, func(put func(*run) error) error { return all(ctx, put) }); err != nil {
			return err
		}
	}
	if from.sample == "" {
		return printAll(ctx, out, file, trigger)
	}
	return write(from.sample, func(put func(*run) error) error {
		n := 0
		return read(file, func(r replay.Recorded) error {
			msgs := r.Conversation.Messages()
			if n++; n%12 != 0 || size(msgs) > 500_000 {
				return nil
			}
			return put(&run{r.Name, r.Kind, msgs})
		})
	})
}

func size(msgs []*schema.Message) (n int) {
	for _, m := range msgs {
		n += len(m.Content)
	}
	return n
}

// recorded is a run in a file: messages have what a replay needs.
type recorded struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	Messages []*schema.Message `json:"messages"`
}

// write writes runs, one a line.
func write(file string, runs func(put func(*run) error) error) error {
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false)
	err = runs(func(r *run) error {
		return enc.Encode(recorded(*r))
	})
	if err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// read reads the runs of a file.
func read(file string, each func(replay.Recorded) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	return replay.ReadAll(z, each)
}
