// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

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

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
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

func TestReplay_AnswersAsRecorded(t *testing.T) {
	adktest.Both(t, answersAsRecorded[*schema.Message], answersAsRecorded[*schema.AgenticMessage])
}

func answersAsRecorded[M adk.MessageType](t *testing.T, streaming bool) {
	usage := schema.TokenUsage{PromptTokens: 7, TotalTokens: 9}
	file := filepath.Join(t.TempDir(), "testdata", "run.jsonl")
	rec := einoleantest.Record(einoleantest.Script[M](einoleantest.Say("<so>").And("shell", `{"a":"\u003c"}`), einoleantest.Say("done").WithUsage(usage)))
	was := einoleantest.Run(t, config[M](rec), "go", streamed(streaming)...)
	rec.Save(t, file)
	for _, again := range []bool{false, true} {
		is := einoleantest.Run(t, config(einoleantest.Replay[M](t, file)), "go", streamed(again)...)
		require.Len(t, is.Messages, len(was.Messages))
		for i := range was.Messages {
			require.Equal(t, adktest.Dump(was.Messages[i]), adktest.Dump(is.Messages[i]))
		}
	}
}

func TestReplay_RejectsUnrecordedRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	rec := einoleantest.Record(einoleantest.Script[*schema.Message](einoleantest.Call("shell", `{}`), einoleantest.Say("done")))
	einoleantest.Run(t, config[*schema.Message](rec), "go")
	rec.Save(t, file)
	other := einoleantest.Tool("clock", "Tells the time.", echo)
	for name, c := range map[string]struct {
		run  func(tb testing.TB)
		want string
	}{
		"another question": {func(tb testing.TB) {
			einoleantest.Run(tb, config(einoleantest.Replay[*schema.Message](tb, file)), "stop", einoleantest.MayFail())
		}, "message 1 was\n{\"content\":\"go\",\"role\":\"user\"}\nand is\n{\"content\":\"stop\",\"role\":\"user\"}"},
		"another tool": {func(tb testing.TB) {
			einoleantest.Run(tb, config(einoleantest.Replay[*schema.Message](tb, file), other), "go", einoleantest.MayFail())
		}, "tool 1 was"},
		"one more message": {func(tb testing.TB) {
			einoleantest.Run(tb, config(einoleantest.Replay[*schema.Message](tb, file)), "go", einoleantest.MayFail(), einoleantest.After(schema.UserMessage("go")))
		}, "there were 1 messages, and are 2"},
		"an extra request": {func(tb testing.TB) {
			m := einoleantest.Replay[*schema.Message](tb, file)
			einoleantest.Run(tb, config(m), "go")
			einoleantest.Run(tb, config(m), "go", einoleantest.MayFail())
		}, "every recorded request has been answered"},
		"no request": {func(tb testing.TB) { einoleantest.Replay[*schema.Message](tb, file) }, "2 of the requests in " + file + " were not made"},
		"no file":    {func(tb testing.TB) { einoleantest.Replay[*schema.Message](tb, file+"x") }, "no such file"},
		"another file": {func(tb testing.TB) {
			require.NoError(t, os.WriteFile(file+"y", []byte("hello\n"), 0o600))
			einoleantest.Replay[*schema.Message](tb, file+"y")
		}, "is not a recording"},
	} {
		t.Run(name, func(t *testing.T) { require.Contains(t, failure(t, c.run), c.want) })
	}
}

func TestRecord_KeepsModelErrors(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		for name, turn := range map[string]einoleantest.Turn{"refused": einoleantest.Fail(errors.New("overloaded")), "broken": einoleantest.Say("well").BreakAfter(1, errors.New("overloaded"))} {
			t.Run(fmt.Sprint(name, streaming), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "run.jsonl")
				rec := einoleantest.Record(einoleantest.Script[*schema.Message](turn))
				options := append(streamed(streaming), einoleantest.MayFail())
				was := einoleantest.Run(t, config[*schema.Message](rec), "go", options...)
				require.ErrorContains(t, was.Err, "overloaded")
				rec.Save(t, file)
				is := einoleantest.Run(t, config(einoleantest.Replay[*schema.Message](t, file)), "go", options...)
				require.Equal(t, was.Err.Error(), is.Err.Error())
			})
		}
	}
}

func TestSave_RecordingIsPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	file := filepath.Join(folder, "run.jsonl")
	recorder := einoleantest.Record[*schema.Message](einoleantest.Script[*schema.Message](einoleantest.Say("a secret")))
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
