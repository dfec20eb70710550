// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/formats"
)

// A recording of an earlier build answers the same requests. The samples are those of package formats.
func TestReplay_ReadsRecordingOfEarlierBuild(t *testing.T) {
	adktest.EachType(t, replaysTheOld[*schema.Message]("plain"), replaysTheOld[*schema.AgenticMessage]("agentic"))
}

func replaysTheOld[M adk.MessageType](kind string) func(t *testing.T) {
	return func(t *testing.T) {
		first := []M{adktest.User[M]("go")}
		second := append(first[:1:1], adktest.Assistant[M]("so"), adktest.User[M]("and then"))
		tools := []model.Option{
			model.WithTools([]*schema.ToolInfo{{Name: "shell", Desc: "runs commands"}}), model.WithDeferredTools([]*schema.ToolInfo{{Name: "hidden", Desc: "hides"}}),
		}
		write := func() string {
			rec, file := einoleantest.Record(einoleantest.Script[M](einoleantest.Say("so").And("shell", `{"a":1}`), einoleantest.Fail(errors.New("too many requests")))), filepath.Join(t.TempDir(), "run.jsonl")
			_, err := rec.Generate(t.Context(), first, tools...)
			require.NoError(t, err)
			_, err = rec.Generate(t.Context(), second)
			require.Error(t, err)
			rec.Save(t, file)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return string(text)
		}
		for name, text := range formats.Samples(t, "recording-"+kind, ".jsonl", write) {
			file := filepath.Join(t.TempDir(), "run.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			m := einoleantest.Replay[M](t, file)
			_, err := m.Generate(t.Context(), second)
			require.EqualError(t, err, "too many requests", name)
			answer, err := m.Generate(t.Context(), first, tools...)
			require.NoError(t, err, name)
			require.Equal(t, "so", adktest.Text(answer), name)
			require.Equal(t, `{"a":1}`, adktest.Calls(answer)[0].Args, name)
		}
	}
}
