// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package digest keeps answers that a provider ties to their request in step with what was sent: a provider
// must not use results that were cleared since, or refuse thinking that is bound to them. Each answer is
// marked with a digest of all that was sent before it, so whatever changes that is seen, also a round that a
// rewriter took out.
package digest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// sessionKey marks, in Extra, an answer that the provider ties to its request: its value is the
// digest of that.
const sessionKey = "__einolean_reduction_session__"

// anotherRequest is no digest.
const anotherRequest = "another"

// NewGuard releases what is tied to other messages than those of a request. It calls changed where it has.
func NewGuard[M adk.MessageType](changed func(context.Context)) continuation.Guard[M] {
	return continuation.Guard[M]{
		Key: sessionKey,
		Mark: func(msgs []M, _ continuation.Continuation) string {
			return newRequestPrefixes(msgs).prefixBefore(len(msgs)).mark()
		},
		Stale: func(msgs []M) func(int, continuation.Continuation, string) bool {
			return newRequestPrefixes(msgs).stale
		},
		Changed: changed,
	}
}

// Untied marks the answers without a mark, from an index on, as answers to another request: they were
// made without this package, and what was before them is not there any more. It changes the list.
func MarkForeign[M adk.MessageType](msgs []M, from int) []M {
	for i := from; i < len(msgs); i++ {
		if continuation.Any(msgs[i:i+1]) && continuation.MarkOf(msgs[i], sessionKey) == "" {
			msgs[i] = continuation.Marked(msgs[i], sessionKey, anotherRequest)
		}
	}
	return msgs
}

// outgoing is what goes to the model, read from its start. Events bring the results of parallel calls as these end, and
// a state has them in the order of the calls, so results that follow one another have no order.
type requestPrefixes[M adk.MessageType] struct {
	msgs     []M
	prefixes []prefix // behind[i] is what stands before message i
}

// prefix is what stands before a message.
type prefix struct {
	digest    [sha256.Size]byte // but for the results at its end
	results   uint64            // the sum of their digests
	hasNotice bool              // something stands for what was there before
}

func newRequestPrefixes[M adk.MessageType](msgs []M) *requestPrefixes[M] {
	return &requestPrefixes[M]{msgs: msgs, prefixes: make([]prefix, 1, len(msgs)+1)}
}

// stale reports whether an answer is tied to another request than the messages before it are now. One
// that has no mark was made without this package: it saw no notice.
func (s *requestPrefixes[M]) stale(at int, t continuation.Continuation, mark string) (is bool) {
	now := s.prefixBefore(at)
	switch {
	case t != continuation.SignedThinking && message.IsMarked(message.Extra(s.msgs[at]), rounds.ProcessedKey): // the answer itself is stored as well
		is = true
	case mark == "":
		is = now.hasNotice
	default:
		is = mark != now.mark()
	}
	if is && t == continuation.SignedThinking && len(s.prefixes) == at+1 {
		s.prefixes = append(s.prefixes, extend(now, continuation.Released(s.msgs[at])))
	}
	return is
}

// before is what stands before an index.
func (s *requestPrefixes[M]) prefixBefore(end int) prefix {
	for n := len(s.prefixes); n <= end; n++ {
		s.prefixes = append(s.prefixes, extend(s.prefixes[n-1], s.msgs[n-1]))
	}
	return s.prefixes[end]
}

func (p prefix) mark() string {
	h := newHasher()
	h.add("all", string(p.digest[:]))
	h.add("results", strconv.FormatUint(p.results, 16))
	sum := h.sum()
	return hex.EncodeToString(sum[:12])
}

// with is what stands behind a message.
func extend[M adk.MessageType](p prefix, m M) prefix {
	if message.IsNil(m) {
		return p
	}
	p.hasNotice = p.hasNotice || message.IsMarked(message.Extra(m), rounds.ProcessedKey)
	role := message.Role(m)
	said, results, others := newHasher(), false, false
	said.add("role", string(role))
	for part := message.Parts(m); part.Next(); {
		if part.Kind == message.Result {
			results = true
			p.result(part.Part)
			continue
		}
		others = said.part(part.Part) || others
		p.hasNotice = p.hasNotice || role == schema.User && part.Kind == message.Text && notice.IsMedium(part.Text())
	}
	if results && !others {
		return p
	}
	sum := said.sum()
	all := newHasher()
	all.add("all", string(p.digest[:]))
	all.add("results", strconv.FormatUint(p.results, 16))
	all.add("message", string(sum[:]))
	p.digest, p.results = all.sum(), 0
	return p
}

// result adds a result, in the order of its parts.
func (p *prefix) result(of message.Part) {
	r, h := rounds.ResultIn(of), newHasher()
	h.add("id", r.ID)
	for item := of.Parts(); item.Next(); {
		h.part(item.Part)
	}
	sum := h.sum()
	p.results += binary.BigEndian.Uint64(sum[:])
	p.hasNotice = p.hasNotice || r.ReplacedByHandler || len(r.MediaRefs) > 0 || notice.FromTexts(r.Texts) != (notice.Notice{})
}

// hasher is a digest of named texts. Texts of one name that follow one another are one text: a stream
// may be kept as one or in chunks.
type hasher struct {
	hash hash.Hash
	w    *bufio.Writer
	name string
}

func newHasher() *hasher {
	to := sha256.New()
	return &hasher{hash: to, w: bufio.NewWriterSize(to, 1024)}
}

func (h *hasher) add(name, text string) {
	if name != h.name {
		_, _ = h.w.WriteString("\x00" + name + "\x00")
		h.name = name
	}
	_, _ = h.w.WriteString(text)
}

// part adds what goes out of a part, and reports whether that is anything. Thinking is bound itself, and
// may be left out.
func (h *hasher) part(p message.Part) bool {
	switch p.Kind {
	case message.Reasoning:
		return false
	case message.Text:
		if p.Text() != "" {
			h.add("text", p.Text())
		}
		return p.Text() != ""
	case message.Call:
		h.add("call", p.ID())
		h.add("name", p.Name())
		h.add("arguments", p.Text())
	case message.Medium:
		out := p.Output()
		if c := message.MediumOf(&out); c != nil {
			h.add("medium", c.MIMEType)
			h.add("url", message.TextAt(c.URL))
			h.add("data", message.TextAt(c.Base64Data))
		}
	default:
		h.add("other", p.Name())
		h.add("content", p.Text())
	}
	return true
}

func (h *hasher) sum() (out [sha256.Size]byte) {
	_ = h.w.Flush() // a hash never fails
	h.hash.Sum(out[:0])
	return out
}
