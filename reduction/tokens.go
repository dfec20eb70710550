// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The default token estimate. It adds up lengths: no message is rendered, so nothing is
// allocated, and nothing is remembered about a message, which a caller may change at
// any time.

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolschema"
)

const (
	// bytesPerToken is Eino's rule of thumb.
	bytesPerToken = 4

	// mediaTokens is the price of an image, a sound, a film or a file, whatever
	// its size: about what common providers ask for an image of 1,000 by 1,000
	// pixels. The length of the data says nothing about it.
	mediaTokens = 1600

	// toolOverhead stands for the names of the fields around a tool's texts.
	toolOverhead = 40
)

// weight is what a piece of a conversation weighs.
type weight struct {
	bytes int // of text
	media int // images, sounds, films, files
}

func (w weight) tokens() int64 { return int64(w.bytes/bytesPerToken) + int64(w.media)*mediaTokens }

// tokensOf estimates text alone.
func tokensOf(bytes int) int64 { return weight{bytes: bytes}.tokens() }

// counter is the type of Config.TokenCounter.
type counter[M adk.MessageType] = func(ctx context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error)

// defaultCounter returns the estimate as a counter. It never fails.
func defaultCounter[M adk.MessageType]() counter[M] {
	c, sizes := codecFor[M](), &schemaSizes{}
	return func(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
		return c.tokens(msgs, sizes) + toolTokens(tools, sizes), nil
	}
}

func toolTokens(tools []*schema.ToolInfo, sizes *schemaSizes) (n int64) {
	for _, t := range tools {
		n += int64(toolBytes(t, sizes) / bytesPerToken)
	}
	return n
}

func toolBytes(t *schema.ToolInfo, sizes *schemaSizes) int {
	if t == nil {
		return 0
	}
	return toolOverhead + len(t.Name) + len(t.Desc) + sizes.params(t.ParamsOneOf)
}

// maxSchemas bounds a schemaSizes. When it is full it starts again.
const maxSchemas = 4096

// schemaSizes remembers how long schemas are as JSON, because finding out means
// writing them. A schema is known by its address, so one that is changed in
// place keeps its first size. The zero value is ready for use, by any number of
// goroutines.
type schemaSizes struct {
	known sync.Map // int by address
	count atomic.Int64
}

// params is the length of a tool's parameters.
func (s *schemaSizes) params(p *schema.ParamsOneOf) int {
	if p == nil {
		return 0
	}
	return s.of(p, func() int { return toolschema.Bytes(p) })
}

// of returns the size of what has the address key, and measures it when that is
// not known.
func (s *schemaSizes) of(key any, measure func() int) int {
	if n, ok := s.known.Load(key); ok {
		return n.(int)
	}
	n := measure()
	if s.count.Add(1) > maxSchemas {
		s.known.Clear()
		s.count.Store(1)
	}
	s.known.Store(key, n)
	return n
}
