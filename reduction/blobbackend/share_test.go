// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob"

	detector "github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction/blobbackend"
)

// stores are the stores that processes can share.
var stores = map[string]func(t testing.TB) string{
	"directory": func(t testing.TB) string { return fileURL(t.TempDir()) },
	"server":    serverURL,
}

// shared runs a test over each of them, in a place of its own that is emptied in the end.
func shared(t *testing.T, run func(t *testing.T, job task)) {
	detector.Skip(t, "starts processes, which share a store and no memory")
	t.Parallel()
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			at := url(t)
			run(t, task{Do: "agent", Store: at, Prefix: placeOn(t, at).Prefix, Dir: t.TempDir(), Calls: []string{"report", "log", "note"}})
		})
	}
}

// fresh opens the store of a task as a process that has never seen it.
func fresh(t *testing.T, job task) *blobbackend.Backend {
	return open(t, job.Store, &blobbackend.Options{Prefix: job.Prefix})
}

// A process is killed in the middle of its third round, and another one continues with what it left. It reads back
// every result that was moved out of the conversation, and gets the ids of the lost round again, with other
// content.
//
//claim:store-21
func TestBackend_KilledAgentLosesNothing(t *testing.T) {
	for _, moment := range []string{"model", "cut report", "cut log", "stream", "cleared"} {
		t.Run(moment, func(t *testing.T) {
			shared(t, func(t *testing.T, job task) { killAndGoOn(t, job, moment) })
		})
	}
}

func killAndGoOn(t *testing.T, job task, moment string) {
	job.Name, job.Rounds, job.Stop, job.InRound = "first", 3, moment, 3
	first := start(t, job)
	first.await(moment)
	first.kill()
	seen := known(t, job)
	require.Empty(t, halves(t, job, seen), "a content is in the store, but not whole")

	job.Name, job.Rounds, job.Stop = "second", 2, ""
	start(t, job).finish()
	seen = known(t, job)
	require.Empty(t, halves(t, job, seen))
	read := readings(t, job)
	calls := map[string]int{}
	for _, r := range read {
		require.Contains(t, seen, r.key(), "%s was read from %s", r.Call, r.Path)
		calls[seen[r.key()]]++
	}
	require.GreaterOrEqual(t, calls["first"], 2*3, "not everything that the first process left was found")
	require.Equal(t, 2*3, calls["second"])
	require.Equal(t, results(t, job), len(read), "a result was moved out and not found")
	again(t, job, read)
}

// results counts the results of all rounds in the history.
func results(t *testing.T, job task) (n int) {
	t.Helper()
	past, err := readLines[record](filepath.Join(job.Dir, historyFile))
	require.NoError(t, err)
	for _, r := range past {
		if slices.Contains(job.Calls, r.Message.ToolName) {
			n++
		}
	}
	return n
}

// A run is interrupted after two rounds. The process that resumes it is killed in the third round, and another one
// resumes from the same checkpoint.
//
//claim:store-22
func TestBackend_CheckpointIsResumedTwice(t *testing.T) {
	shared(t, func(t *testing.T, job task) {
		job.Name, job.Rounds, job.Ask = "first", 2, true
		start(t, job).finish()
		job.Name, job.Rounds, job.Ask, job.Resume, job.Stop, job.InRound = "second", 1, false, true, "cut log", 1
		second := start(t, job)
		second.await("cut log")
		second.kill()
		job.Name, job.Stop = "third", ""
		start(t, job).finish()
		truth, err := readLines[fact](filepath.Join(job.Dir, truthFile))
		require.NoError(t, err)
		seen := map[string]string{}
		for _, f := range truth {
			if f.Process != "second" { // what it did after the checkpoint is gone
				seen[f.key()] = f.Process
			}
		}
		read := readings(t, job)
		require.Len(t, read, 3*3)
		for _, r := range read {
			require.Contains(t, seen, r.key(), "%s was read from %s", r.Call, r.Path)
		}
		require.Empty(t, halves(t, job, seen))
		again(t, job, read)
	})
}

func (f fact) key() string { return fmt.Sprint(f.Call, f.Size, f.Sum) }

// known is what the tools of a conversation have returned, and in which process. A result
// counts only if it is in the history as the work of that process, or nowhere in it.
func known(t *testing.T, job task) map[string]string {
	t.Helper()
	truth, err := readLines[fact](filepath.Join(job.Dir, truthFile))
	require.NoError(t, err)
	past, err := readLines[record](filepath.Join(job.Dir, historyFile))
	require.NoError(t, err)
	writer := map[string]string{}
	for _, r := range past {
		if r.Message.ToolCallID != "" {
			writer[r.Message.ToolCallID] = r.Process
		}
	}
	out := map[string]string{}
	for _, f := range truth {
		if by, ok := writer[f.Call]; !ok || by == f.Process {
			out[f.key()] = f.Process
		}
	}
	return out
}

func readings(t *testing.T, job task) []fact {
	t.Helper()
	out, err := readJSON[[]fact](filepath.Join(job.Dir, readingsFile+job.Name))
	require.NoError(t, err)
	return out
}

// again reads the same paths by other means, after all processes have ended.
func again(t *testing.T, job task, read []fact) {
	t.Helper()
	store := fresh(t, job)
	for _, want := range read {
		got := factOf(want.Process, want.Call, text(t, store, want.Path))
		got.Path = want.Path
		require.Equal(t, want, got)
	}
}

// halves lists the objects that hold anything else than what some tool returned.
func halves(t *testing.T, job task, seen map[string]string) (out []string) {
	t.Helper()
	truth, err := readLines[fact](filepath.Join(job.Dir, truthFile))
	require.NoError(t, err)
	whole := map[string]bool{}
	for _, f := range truth {
		whole[f.Sum] = true
	}
	store := fresh(t, job)
	for _, name := range names(t, job) {
		if f := factOf("", "", text(t, store, name)); !whole[f.Sum] {
			out = append(out, fmt.Sprint(name, ": ", f.Size, " bytes"))
		}
	}
	require.NotEmpty(t, seen)
	return out
}

// names lists the names in a store, without asking the Backend.
func names(t *testing.T, job task) (out []string) {
	t.Helper()
	bucket, err := blob.OpenBucket(context.Background(), job.Store)
	require.NoError(t, err)
	defer bucket.Close()
	list := bucket.List(&blob.ListOptions{Prefix: job.Prefix + "/"})
	for {
		object, err := list.Next(context.Background())
		if err != nil {
			return out
		}
		name := strings.TrimPrefix(object.Key, job.Prefix)
		if !strings.HasPrefix(filepath.Base(name), ".einolean-") { // a directory's unfinished files
			out = append(out, name)
		}
	}
}

// Four processes have conversations of their own and share one place for results, and their models give the same
// ids to different calls.
//
//claim:store-04
func TestBackend_ProcessesDoNotOverwriteEachOther(t *testing.T) {
	shared(t, func(t *testing.T, job task) {
		job.Calls, job.Rounds, job.Stop, job.InRound, job.Wait = []string{"report", "note", "report"}, 2, "model", 1, true
		jobs := race(t, job, 4, "model")
		paths := map[string]string{}
		for _, j := range jobs {
			read := readings(t, j)
			require.Len(t, read, 2*3)
			seen := known(t, j)
			for _, r := range read {
				require.Contains(t, seen, r.key(), "%s of %s was read from %s", r.Call, j.Name, r.Path)
				require.Empty(t, paths[r.Path], "two results under one name")
				paths[r.Path] = j.Name
			}
			again(t, j, read)
		}
	})
}

// race runs a task in several processes, which wait for each other at a point.
func race(t *testing.T, job task, n int, point string) (jobs []task) {
	t.Helper()
	var running []*process
	for i := range n {
		j := job
		j.Name, j.Dir = fmt.Sprint("process-", i), filepath.Join(job.Dir, fmt.Sprint(i))
		require.NoError(t, os.Mkdir(j.Dir, 0o700))
		jobs = append(jobs, j)
		running = append(running, start(t, j))
	}
	for _, p := range running {
		p.await(point)
	}
	for _, p := range running {
		p.tell()
	}
	for _, p := range running {
		p.finish()
	}
	return jobs
}

// Several streams start under one id before any of them ends. The first to end keeps the name, and each of the
// others is stored whole under another name.
//
//claim:store-05
func TestCreate_ConcurrentStreamsOfOneIDStayWhole(t *testing.T) {
	shared(t, func(t *testing.T, job task) {
		job.Calls, job.Rounds, job.Stop, job.InRound, job.Wait = []string{"log"}, 1, "stream", 1, true
		for _, j := range race(t, job, 3, "stream") {
			read, seen := readings(t, j), known(t, j)
			require.Len(t, read, 1, "a stream was not saved")
			require.Contains(t, seen, read[0].key())
			again(t, j, read)
		}
	})
}
