// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Jobs run in processes of their own, of which some are killed.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/window"
)

func command(ctx context.Context, j job) (*exec.Cmd, *bytes.Buffer) {
	text, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	problem := &bytes.Buffer{}
	cmd.Stderr = problem
	return cmd, problem
}

// inProcess has a process do the job. One that dies is a crash.
func inProcess(ctx context.Context, j job) *tally {
	cmd, problem := command(ctx, j)
	out, err := cmd.Output()
	t := &tally{}
	if err == nil {
		err = json.Unmarshal(out, t)
	}
	if err != nil {
		t = &tally{Crashes: 1}
		t.problem("CRASH process %d: %v\n%.4000s", j.Part, err, problem)
	}
	return t
}

// claim is a path that a model was shown, and the content that belongs there.
type claim struct {
	Path, Key string
	Size      int
}

// killProcess has a process run agents on the shared directory, kills it in the middle of its
// work, and checks that everything is there that it had shown to its models.
func killProcess(ctx context.Context, j job) *tally {
	t := &tally{}
	claims, err := untilKilled(ctx, j)
	if err != nil {
		t.Crashes++
		t.problem("CRASH process to be killed %d: %v", j.Part, err)
		return t
	}
	t.Killed, t.Claims = 1, len(claims)
	if j.Break == "files" && len(claims) > 0 {
		_ = os.Remove(filepath.Join(j.Dir, filepath.FromSlash(claims[0].Path)))
	}
	for _, c := range claims {
		data, err := os.ReadFile(filepath.Join(j.Dir, filepath.FromSlash(c.Path)))
		if err != nil || string(data) != content(c.Key, c.Size) {
			t.loss(int64(c.Size), fmt.Sprintf("%s of a process that was killed: %d bytes, %v", c.Path, len(data), err))
			continue
		}
		t.Checked += int64(c.Size)
	}
	return t
}

// untilKilled returns what the process wrote before it was killed.
func untilKilled(ctx context.Context, j job) (claims []claim, err error) {
	cmd, problem := command(ctx, j)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	last := rand.New(rand.NewPCG(j.Seed, uint64(j.Part))).IntN(60)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var c claim
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			continue // the line that it was writing
		}
		claims = append(claims, c)
		if len(claims) == last+1 {
			_ = cmd.Process.Kill() // kill -9; what is in the pipe can still be read
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() || len(claims) <= last {
		return nil, fmt.Errorf("it ended by itself: %v\n%.4000s", err, problem)
	}
	return claims, nil
}

// suffer runs agents on the shared directory until the process is killed, and writes
// which paths the models were shown.
func suffer(ctx context.Context, j job, shared *store.Dir, see *window.Collector, out io.Writer) {
	var mu sync.Mutex
	tell := func(c claim) {
		line, err := json.Marshal(c)
		if err != nil {
			panic(err)
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(append(line, '\n'))
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := worker; ; n += 4 {
				p := choose(j.options, n, shared)
				p.inDirectory(shared)
				p.owner, p.claims = fmt.Sprintf("killed-%d.%d", j.Part, n), tell
				p.collector = see
				one(ctx, p)
			}
		})
	}
	wg.Wait()
}

// checkFiles looks at every file of the shared directory: each is complete, no
// matter who wrote it and how the writer ended.
func checkFiles(dir string, o options) *tally {
	t := &tally{}
	if o.Break == "torn" {
		_ = os.WriteFile(filepath.Join(dir, "torn"), []byte(content("anyone", 500)[:300]), 0o600)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".einolean-") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t.Files++
		if !isWhole(string(data)) {
			t.problem("ERROR %s is no whole content: %d bytes, %.200q", path, len(data), data)
		}
		return nil
	})
	if err != nil {
		t.problem("ERROR the directory cannot be read: %v", err)
	}
	return t
}
