// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
)

// exchange is one line of a recording: a request, and the answer in one or more chunks.
type exchange[M adk.MessageType] struct {
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools,omitempty"`
	Deferred []json.RawMessage `json:"deferred,omitempty"`
	Answer   []M               `json:"answer,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// Recorder is a model that passes requests to another one and records them with the
// answers. It is safe for concurrent use.
type Recorder[M adk.MessageType] struct {
	inner model.BaseModel[M]

	mu        sync.Mutex
	exchanges []*exchange[M]
	streams   []*schema.StreamReader[M] // a copy of each stream, nil where there is none
}

// Record returns a model that asks m and records. After the run, [Recorder.Save]
// writes the file that [Replay] reads.
func Record[M adk.MessageType](m model.BaseModel[M]) *Recorder[M] {
	return &Recorder[M]{inner: m}
}

// Generate asks the model.
func (r *Recorder[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	x, err := exchangeOf(requestOf(input, opts))
	if err != nil {
		return *new(M), err
	}
	answer, err := r.inner.Generate(ctx, input, opts...)
	if err != nil {
		x.Error = err.Error()
	} else {
		x.Answer = []M{answer}
	}
	r.keep(x, nil)
	return answer, err
}

// Stream asks the model for a stream.
func (r *Recorder[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	x, err := exchangeOf(requestOf(input, opts))
	if err != nil {
		return nil, err
	}
	answer, err := r.inner.Stream(ctx, input, opts...)
	if err != nil {
		x.Error = err.Error()
		r.keep(x, nil)
		return nil, err
	}
	both := answer.Copy(2)
	r.keep(x, both[1])
	return both[0], nil
}

func (r *Recorder[M]) keep(x *exchange[M], stream *schema.StreamReader[M]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges, r.streams = append(r.exchanges, x), append(r.streams, stream)
}

// Save writes the recording as JSON Lines, readable by its owner only, and creates the
// directory if it is missing. Call it once, after the run. The file holds the messages, the tools and the answers
// as they are: check it for secrets before you commit it.
func (r *Recorder[M]) Save(t testing.TB, file string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	for i, x := range r.exchanges {
		if r.streams[i] != nil {
			x.drain(r.streams[i])
			r.streams[i] = nil
		}
		line, err := json.Marshal(x)
		if err != nil {
			t.Fatalf("einoleantest: request %d cannot be written: %v", i+1, err)
		}
		out.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatalf("einoleantest: %v", err)
	}
	err := os.WriteFile(file, out.Bytes(), 0o600)
	if err == nil {
		err = os.Chmod(file, 0o600) // one that was there keeps its mode otherwise
	}
	if err != nil {
		t.Fatalf("einoleantest: %v", err)
	}
}

func (x *exchange[M]) drain(s *schema.StreamReader[M]) {
	defer s.Close()
	for {
		chunk, err := s.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				x.Error = err.Error()
			}
			return
		}
		x.Answer = append(x.Answer, chunk)
	}
}

// Replay returns a model that answers as a recorded one did. A request is compared with
// the recorded ones that have not been answered yet: texts, calls, results, media and
// tools must be equal, in order; Extra and response metadata are not compared. A
// request that differs from all of them fails the test and the run. A recorded request
// that was never made fails the test at its end.
func Replay[M adk.MessageType](t testing.TB, file string) model.BaseModel[M] {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("einoleantest: %v", err)
	}
	p := &player[M]{t: t, file: file}
	for line := range bytes.Lines(data) {
		x := &exchange[M]{}
		if err := json.Unmarshal(line, x); err != nil {
			t.Fatalf("einoleantest: %s is not a recording: %v", file, err)
		}
		p.left = append(p.left, x)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.left) > 0 && !t.Failed() {
			t.Errorf("einoleantest: %d of the requests in %s were not made", len(p.left), file)
		}
	})
	return p
}

type player[M adk.MessageType] struct {
	t    testing.TB
	file string

	mu   sync.Mutex
	left []*exchange[M] // not answered yet
}

func (p *player[M]) Generate(_ context.Context, input []M, opts ...model.Option) (M, error) {
	x, err := p.find(input, opts)
	if err == nil && x.Error != "" {
		err = errors.New(x.Error)
	}
	if err != nil {
		return *new(M), err
	}
	return adktest.Join(x.Answer)
}

func (p *player[M]) Stream(_ context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	x, err := p.find(input, opts)
	if err != nil {
		return nil, err
	}
	if x.Error == "" {
		return schema.StreamReaderFromArray(x.Answer), nil
	}
	if len(x.Answer) == 0 {
		return nil, errors.New(x.Error)
	}
	return adktest.Broken(x.Answer, errors.New(x.Error)), nil
}

// find takes the first exchange with that request.
func (p *player[M]) find(input []M, opts []model.Option) (*exchange[M], error) {
	got, err := exchangeOf(requestOf(input, opts))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, x := range p.left {
		if x.differs(got) == "" {
			p.left = append(p.left[:i:i], p.left[i+1:]...)
			return x, nil
		}
	}
	what := "every recorded request has been answered"
	if len(p.left) > 0 {
		what = p.left[0].differs(got)
	}
	err = fmt.Errorf("einoleantest: a request differs from %s: %s", p.file, what)
	p.t.Error(err)
	return nil, err
}

// differs says where a request first differs from the recorded one, and "" where it
// does not.
func (x *exchange[M]) differs(got *exchange[M]) string {
	for _, part := range []struct {
		name     string
		was, now []json.RawMessage
	}{{"message", x.Messages, got.Messages}, {"tool", x.Tools, got.Tools}, {"deferred tool", x.Deferred, got.Deferred}} {
		for i := range min(len(part.was), len(part.now)) {
			if !bytes.Equal(part.was[i], part.now[i]) {
				return fmt.Sprintf("%s %d was\n%.600s\nand is\n%.600s", part.name, i+1, part.was[i], part.now[i])
			}
		}
		if len(part.was) != len(part.now) {
			return fmt.Sprintf("there were %d %ss, and are %d", len(part.was), part.name, len(part.now))
		}
	}
	return ""
}

func exchangeOf[M adk.MessageType](r Request[M]) (*exchange[M], error) {
	x := &exchange[M]{}
	for _, m := range r.Messages {
		text, err := plainJSON(m)
		if err != nil {
			return nil, err
		}
		x.Messages = append(x.Messages, text)
	}
	var err error
	if x.Tools, err = definitions(r.Tools); err != nil {
		return nil, err
	}
	x.Deferred, err = definitions(r.Deferred)
	return x, err
}

// plainJSON writes a message with its keys in order, and without what is never sent to
// a provider.
func plainJSON(m any) (json.RawMessage, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	strip(v)
	return json.Marshal(v)
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"extra", "response_meta", "streaming_meta"} {
			delete(v, key)
		}
		for _, inner := range v {
			strip(inner)
		}
	case []any:
		for _, inner := range v {
			strip(inner)
		}
	}
}

func definitions(infos []*schema.ToolInfo) (out []json.RawMessage, err error) {
	for _, info := range infos {
		params, err := info.ToJSONSchema()
		if err != nil {
			return nil, fmt.Errorf("einoleantest: the parameters of %s: %w", info.Name, err)
		}
		text, err := json.Marshal(map[string]any{"name": info.Name, "description": info.Desc, "parameters": params})
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}
