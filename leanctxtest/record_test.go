// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package leanctxtest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/leanctxtest"
)

// fake is a test that may fail.
type fake struct {
	testing.TB
	failed   string
	cleanups []func()
}

func (f *fake) Helper()          {}
func (f *fake) Failed() bool     { return f.failed != "" }
func (f *fake) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fake) Error(args ...any) {
	f.failed += fmt.Sprintln(args...)
}
func (f *fake) Errorf(format string, args ...any) { f.Error(fmt.Sprintf(format, args...)) }
func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// failure runs a test that has to fail, and returns what it says.
func failure(t *testing.T, run func(testing.TB)) string {
	t.Helper()
	f := &fake{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	for _, c := range f.cleanups {
		c()
	}
	require.NotEmpty(t, f.failed, "the test passed")
	return f.failed
}

func TestAReplayAnswersAsTheRecordedModelDid(t *testing.T) {
	adktest.Both(t, answersAsRecorded[*schema.Message], answersAsRecorded[*schema.AgenticMessage])
}

func answersAsRecorded[M adk.MessageType](t *testing.T, streaming bool) {
	usage := schema.TokenUsage{PromptTokens: 7, TotalTokens: 9}
	file := filepath.Join(t.TempDir(), "testdata", "run.jsonl")
	rec := leanctxtest.Record(leanctxtest.Script[M](leanctxtest.Say("<so>").And("shell", `{"a":"\u003c"}`), leanctxtest.Say("done").WithUsage(usage)))
	was := leanctxtest.Run(t, config[M](rec), "go", streamed(streaming)...)
	rec.Save(t, file)
	for _, again := range []bool{false, true} {
		is := leanctxtest.Run(t, config(leanctxtest.Replay[M](t, file)), "go", streamed(again)...)
		require.Len(t, is.Messages, len(was.Messages))
		for i := range was.Messages {
			require.Equal(t, adktest.Dump(was.Messages[i]), adktest.Dump(is.Messages[i]))
		}
	}
}

func TestAReplayRefusesWhatWasNotRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	rec := leanctxtest.Record(leanctxtest.Script[*schema.Message](leanctxtest.Call("shell", `{}`), leanctxtest.Say("done")))
	leanctxtest.Run(t, config[*schema.Message](rec), "go")
	rec.Save(t, file)
	other := leanctxtest.Tool("clock", "Tells the time.", echo)
	for name, c := range map[string]struct {
		run  func(tb testing.TB)
		want string
	}{
		"another question": {func(tb testing.TB) {
			leanctxtest.Run(tb, config(leanctxtest.Replay[*schema.Message](tb, file)), "stop", leanctxtest.MayFail())
		}, "message 1 was\n{\"content\":\"go\",\"role\":\"user\"}\nand is\n{\"content\":\"stop\",\"role\":\"user\"}"},
		"another tool": {func(tb testing.TB) {
			leanctxtest.Run(tb, config(leanctxtest.Replay[*schema.Message](tb, file), other), "go", leanctxtest.MayFail())
		}, "tool 1 was"},
		"one more message": {func(tb testing.TB) {
			leanctxtest.Run(tb, config(leanctxtest.Replay[*schema.Message](tb, file)), "go", leanctxtest.MayFail(), leanctxtest.After(schema.UserMessage("go")))
		}, "there were 1 messages, and are 2"},
		"once more": {func(tb testing.TB) {
			m := leanctxtest.Replay[*schema.Message](tb, file)
			leanctxtest.Run(tb, config(m), "go")
			leanctxtest.Run(tb, config(m), "go", leanctxtest.MayFail())
		}, "every recorded request has been answered"},
		"no request": {func(tb testing.TB) { leanctxtest.Replay[*schema.Message](tb, file) }, "2 of the requests in " + file + " were not made"},
		"no file":    {func(tb testing.TB) { leanctxtest.Replay[*schema.Message](tb, file+"x") }, "no such file"},
		"another file": {func(tb testing.TB) {
			require.NoError(t, os.WriteFile(file+"y", []byte("hello\n"), 0o600))
			leanctxtest.Replay[*schema.Message](tb, file+"y")
		}, "is not a recording"},
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, failure(t, c.run), c.want) })
	}
}

func TestErrorsOfTheModelAreRecorded(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		for name, turn := range map[string]leanctxtest.Turn{"refused": leanctxtest.Fail(errors.New("overloaded")), "broken": leanctxtest.Say("well").BreakAfter(1, errors.New("overloaded"))} {
			t.Run(fmt.Sprint(name, streaming), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "run.jsonl")
				rec := leanctxtest.Record(leanctxtest.Script[*schema.Message](turn))
				options := append(streamed(streaming), leanctxtest.MayFail())
				was := leanctxtest.Run(t, config[*schema.Message](rec), "go", options...)
				require.ErrorContains(t, was.Err, "overloaded")
				rec.Save(t, file)
				is := leanctxtest.Run(t, config(leanctxtest.Replay[*schema.Message](t, file)), "go", options...)
				require.Equal(t, was.Err.Error(), is.Err.Error())
			})
		}
	}
}

func TestOnlyTheOwnerMayReadARecording(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	file := filepath.Join(folder, "run.jsonl")
	recorder := leanctxtest.Record[*schema.Message](leanctxtest.Script[*schema.Message](leanctxtest.Say("a secret")))
	_, err := recorder.Generate(t.Context(), []*schema.Message{schema.UserMessage("tell me")})
	require.NoError(t, err)
	for range 2 {
		recorder.Save(t, file)
		for name, want := range map[string]os.FileMode{file: 0o600, folder: 0o700} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, want, info.Mode().Perm(), name)
		}
		require.NoError(t, os.Chmod(file, 0o644))
	}
}
