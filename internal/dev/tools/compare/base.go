// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// compareCommits measures the working tree against the commit s.base.
func (s settings) compareCommits(ctx context.Context, table, progress io.Writer) (err error) {
	temp, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	tree, remove, err := s.checkout(ctx, filepath.Join(temp, "base"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	base, err := s.findPrograms(ctx, tree)
	if err != nil {
		return fmt.Errorf("BASE %s: %w", s.base, err)
	}
	now, err := s.findPrograms(ctx, s.dir)
	if err != nil {
		return err
	}
	if len(base)+len(now) == 0 {
		return s.errNoBenchmark()
	}
	jobs, err := s.sharedJobs(ctx, base, now, temp)
	if err != nil {
		return err
	}
	printed, failed := s.measure(ctx, progress, jobs)
	rows, onlyBase, onlyNow := pair(parse(printed[0]), parse(printed[1]))
	if failed != nil {
		// A benchmark may be missing because it failed.
		onlyBase, onlyNow = nil, nil
	}
	onlyBase = append(onlyBase, withoutPartner(base, now)...)
	onlyNow = append(onlyNow, withoutPartner(now, base)...)
	if failed == nil && len(rows)+len(onlyBase)+len(onlyNow) == 0 {
		return s.errNoBenchmark()
	}
	fmt.Fprint(table, renderCommits(rows, onlyBase, onlyNow))
	return failed
}

// sharedJobs builds the programs that have Benchmark functions on both sides,
// and returns a job for each of these functions.
func (s settings) sharedJobs(ctx context.Context, base, now []program, temp string) (jobs []job, err error) {
	inBase := make(map[string]program)
	for _, p := range base {
		inBase[p.pkg] = p
	}
	for _, p := range now {
		old := inBase[p.pkg]
		isNew := func(function string) bool { return !slices.Contains(old.functions, function) }
		shared := slices.DeleteFunc(slices.Clone(p.functions), isNew)
		if len(shared) == 0 {
			continue
		}
		if old.path, err = old.build(ctx, temp); err != nil {
			return nil, fmt.Errorf("BASE %s: %w", s.base, err)
		}
		if p.path, err = p.build(ctx, temp); err != nil {
			return nil, err
		}
		for _, function := range shared {
			pattern, skip := s.pattern(function, ""), endingAtAnyDepth(".", eino)
			jobs = append(jobs, job{
				{side: "base", program: old, pattern: pattern, skip: skip},
				{side: "now", program: p, pattern: pattern, skip: skip},
			})
		}
	}
	return jobs, nil
}

// withoutPartner returns the names of functions that others do not have.
func withoutPartner(programs, others []program) (names []string) {
	known := make(map[string]bool)
	for _, p := range others {
		for _, function := range p.functions {
			known[workName(p.pkg, function)] = true
		}
	}
	for _, p := range programs {
		for _, function := range p.functions {
			if name := workName(p.pkg, function); !known[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

// checkout adds a worktree of s.base in dir. It returns the directory that
// corresponds to s.dir there, and a function that removes the worktree.
func (s settings) checkout(ctx context.Context, dir string) (string, func() error, error) {
	commit, err := git(ctx, s.dir, "rev-parse", "--verify", "--end-of-options", s.base+"^{commit}")
	if err != nil {
		return "", nil, fmt.Errorf("BASE (-base) %q is not a commit: %w", s.base, err)
	}
	prefix, err := git(ctx, s.dir, "rev-parse", "--show-prefix")
	if err != nil {
		return "", nil, err
	}
	if _, err := git(ctx, s.dir, "worktree", "add", "--quiet", "--detach", dir, commit); err != nil {
		return "", nil, err
	}
	remove := func() error {
		// Also after an interrupt, which ends ctx.
		_, err := git(context.WithoutCancel(ctx), s.dir, "worktree", "remove", "--force", dir)
		return err
	}
	return filepath.Join(dir, prefix), remove, nil
}

// git runs git in a directory and returns what it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var out, problem bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
