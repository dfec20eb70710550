// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/store"
)

// brokenEnv names the broken store that a child process tests.
const brokenEnv = "BACKENDTEST_BROKEN_STORE"

// broken is a store with a fault, and the laws that must notice it.
type broken struct {
	store func() store.Backend
	fails []string
}

func faulty(f Fault, ops ...Op) func() store.Backend {
	return func() store.Backend { return NewFaulty(backend.NewMemory(0), Every(f, ops...)) }
}

var brokenStores = map[string]broken{
	"loses the end of what is written": {faulty(Fault{Mode: Torn, After: 100}, OpWrite), []string{
		"content comes back byte for byte"}},
	"loses the end of what is streamed": {faulty(Fault{Mode: Torn, After: 100}, OpCreate), []string{
		"streamed content comes back byte for byte"}},
	"reports an error for what it kept": {faulty(Fault{Mode: Late}, OpCreate), []string{
		"streamed content comes back byte for byte"}},
	"never writes": {faulty(Fault{Mode: Fail}, OpWrite), []string{
		"content comes back byte for byte", "files do not affect each other"}},
	"reads too little": {faulty(Fault{Mode: Torn, After: 3}, OpRead, OpReadRange), []string{
		"content comes back byte for byte", "reading lines returns exactly those lines", "reading a range returns exactly those bytes"}},
	"fails in the middle of a read": {faulty(Fault{Mode: Short, After: 3}, OpRead, OpReadRange), []string{
		"content comes back byte for byte", "reading lines returns exactly those lines", "reading a range returns exactly those bytes"}},
	"writes over what exists": {func() store.Backend { return overwriter{backend.NewMemory(0)} }, []string{
		"a taken name is refused before the content is read", "of concurrent calls for one name exactly one succeeds"}},
	"keeps half a stream": {func() store.Backend { return halfKeeper{backend.NewMemory(0)} }, []string{
		"content that fails to read leaves nothing behind", "a context that ends midway leaves nothing behind"}},
	"uses the last element as the name": {func() store.Backend { return flat{backend.NewMemory(0)} }, []string{
		"files do not affect each other", "hostile names are refused or name files of their own"}},
	"writes lower case": {func() store.Backend { return lowerWriter{backend.NewMemory(0)} }, []string{
		"a name in upper and lower case is the name that it is stored under"}},
	"creates lower case": {func() store.Backend { return lowerCreator{backend.NewMemory(0)} }, []string{
		"a name in upper and lower case is the name that it is stored under"}},
	"ignores the context": {func() store.Backend { return einoWithoutTypes() }, []string{
		"a call whose context has ended changes nothing"}},
	"has no typed error": {func() store.Backend { return einoWithoutTypes() }, []string{
		"a file that was never written is missing"}},
	"deletes too much": {func() store.Backend { return wiper{backend.NewMemory(0)} }, []string{
		"newer files stay", "older files are deleted, below the directory only"}},
}

func einoWithoutTypes() store.Backend { return filesystem.NewInMemoryBackend() }

type overwriter struct{ *backend.Memory }

func (o overwriter) Create(ctx context.Context, filePath string, content io.Reader) error {
	all, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return o.Write(ctx, &filesystem.WriteRequest{FilePath: filePath, Content: string(all)})
}

type lowerWriter struct{ *backend.Memory }

func (l lowerWriter) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return l.Memory.Write(ctx, &filesystem.WriteRequest{FilePath: strings.ToLower(req.FilePath), Content: req.Content})
}

type lowerCreator struct{ *backend.Memory }

func (l lowerCreator) Create(ctx context.Context, filePath string, content io.Reader) error {
	return l.Memory.Create(ctx, strings.ToLower(filePath), content)
}

type halfKeeper struct{ *backend.Memory }

func (h halfKeeper) Create(ctx context.Context, filePath string, content io.Reader) error {
	all, err := io.ReadAll(content)
	return errors.Join(err, h.Memory.Create(context.WithoutCancel(ctx), filePath, strings.NewReader(string(all))))
}

type flat struct{ *backend.Memory }

func (f flat) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return f.Memory.Write(ctx, &filesystem.WriteRequest{FilePath: last(req.FilePath), Content: req.Content})
}

func (f flat) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return f.Memory.Read(ctx, &filesystem.ReadRequest{FilePath: last(req.FilePath), Offset: req.Offset, Limit: req.Limit})
}

func last(filePath string) string { return filePath[strings.LastIndexByte(filePath, '/')+1:] }

type wiper struct{ *backend.Memory }

func (w wiper) DeleteUnused(ctx context.Context, _ string, _ time.Time) (int, int64, error) {
	return w.Memory.DeleteUnused(ctx, "", tomorrow())
}

// It runs only in the child processes of TestRun_FailsForBrokenStores and TestRun_FailsOnlyTheBrokenLaws.
func TestRun_ChildProcess(t *testing.T) {
	b, ok := allBroken()[os.Getenv(brokenEnv)]
	if !ok {
		t.Skip("not a child process")
	}
	Run(t, func(*testing.T) store.Backend { return b.store() }, Options{})
}

func allBroken() map[string]broken {
	all := maps.Clone(brokenStores)
	maps.Copy(all, brokenAnyStores)
	maps.Copy(all, brokenReaders)
	return all
}

var failedLaw = regexp.MustCompile(`(?m)^    --- FAIL: TestRun_ChildProcess/([^/\s]+) `)

// failedLaws are the laws that a run of the suite found broken.
func failedLaws(out []byte) (laws []string) {
	for _, m := range failedLaw.FindAllSubmatch(out, -1) {
		laws = append(laws, strings.ReplaceAll(string(m[1]), "_", " "))
	}
	return laws
}

// Each fault of CreateFirstFree, reading and deleting breaks the laws about it and no others.
func TestRun_FailsOnlyTheBrokenLaws(t *testing.T) {
	race.Skip(t, "starts a process for each broken store")
	kinds := maps.Clone(brokenAnyStores)
	maps.Copy(kinds, brokenReaders)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			out, err := runOnBroken(t, kind)
			require.Error(t, err, "the suite passes a store that %s", kind)
			require.ElementsMatch(t, kinds[kind].fails, failedLaws(out), "%s", out)
		})
	}
}

func runOnBroken(t *testing.T, kind string) ([]byte, error) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRun_ChildProcess$", "-test.v")
	child.Env = append(os.Environ(), brokenEnv+"="+kind)
	return child.CombinedOutput()
}

func TestRun_FailsForBrokenStores(t *testing.T) {
	race.Skip(t, "starts a process for each broken store")
	for _, kind := range slices.Sorted(maps.Keys(brokenStores)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			out, err := runOnBroken(t, kind)
			require.Error(t, err, "the suite passes a store that %s", kind)
			for _, law := range brokenStores[kind].fails {
				require.Contains(t, string(out), "--- FAIL: TestRun_ChildProcess/"+strings.ReplaceAll(law, " ", "_"))
			}
		})
	}
}
