// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package digest invalidates provider-side state when the history that it belongs to has changed. A provider must
// not use results that were cleared since, and must not refuse thinking that it has signed for another history.
// Each answer is marked with a digest of all messages before it, so any change of these is noticed, also a round
// that a rewriter has removed.
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

// sessionKey marks, in Extra, an answer with provider-side state. Its value is the digest of the request.
const sessionKey = "__einolean_reduction_session__"

// anotherRequest is a mark that equals no digest.
const anotherRequest = "another"

// NewGuard returns a guard that invalidates state of other messages than those of a request. It calls changed if it
// has invalidated any.
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

// MarkForeign marks the answers without a mark, from an index on, as answers to another request: they were made
// without this package, and the messages before them have changed. It changes the list.
func MarkForeign[M adk.MessageType](msgs []M, from int) []M {
	for i := from; i < len(msgs); i++ {
		if continuation.Any(msgs[i:i+1]) && continuation.MarkOf(msgs[i], sessionKey) == "" {
			msgs[i] = continuation.Marked(msgs[i], sessionKey, anotherRequest)
		}
	}
	return msgs
}

// requestPrefixes are the digests of the prefixes of a request, computed as they are needed. Results that follow one
// another have no order: events bring the results of parallel calls as these end, a state in the order of the calls.
type requestPrefixes[M adk.MessageType] struct {
	msgs     []M
	prefixes []prefix // prefixes[i] is what stands before message i
}

// prefix is the digest of the messages before a message.
type prefix struct {
	digest    [sha256.Size]byte // of all messages but the results at the end
	results   uint64            // the sum of the digests of the results at the end
	hasNotice bool              // there is a notice in place of other content
}

func newRequestPrefixes[M adk.MessageType](msgs []M) *requestPrefixes[M] {
	return &requestPrefixes[M]{msgs: msgs, prefixes: make([]prefix, 1, len(msgs)+1)}
}

// stale reports whether an answer belongs to another request than the messages before it are now. An answer without
// a mark was made without this package: it saw no notice.
func (r *requestPrefixes[M]) stale(at int, t continuation.Continuation, mark string) (isStale bool) {
	now := r.prefixBefore(at)
	wasEdited := message.IsMarked(message.Extra(r.msgs[at]), rounds.ProcessedKey)
	switch {
	case t != continuation.SignedThinking && wasEdited: // the provider has stored the answer itself as well
		isStale = true
	case mark == "":
		isStale = now.hasNotice
	default:
		isStale = mark != now.mark()
	}
	if isStale && t == continuation.SignedThinking && len(r.prefixes) == at+1 {
		r.prefixes = append(r.prefixes, extend(now, continuation.Released(r.msgs[at])))
	}
	return isStale
}

// prefixBefore is the digest of the messages before an index.
func (r *requestPrefixes[M]) prefixBefore(end int) prefix {
	for n := len(r.prefixes); n <= end; n++ {
		r.prefixes = append(r.prefixes, extend(r.prefixes[n-1], r.msgs[n-1]))
	}
	return r.prefixes[end]
}

func (p prefix) mark() string {
	h := newHasher()
	h.add("all", string(p.digest[:]))
	h.add("results", strconv.FormatUint(p.results, 16))
	sum := h.sum()
	return hex.EncodeToString(sum[:12])
}

// extend returns a prefix with one more message.
func extend[M adk.MessageType](p prefix, m M) prefix {
	if message.IsNil(m) {
		return p
	}
	p.hasNotice = p.hasNotice || message.IsMarked(message.Extra(m), rounds.ProcessedKey)
	role := message.Role(m)
	h, hasResults, hasOthers := newHasher(), false, false
	h.add("role", string(role))
	for part := message.Parts(m); part.Next(); {
		if part.Kind == message.Result {
			hasResults = true
			p.result(part.Part)
			continue
		}
		hasOthers = h.part(part.Part) || hasOthers
		p.hasNotice = p.hasNotice || role == schema.User && part.Kind == message.Text && notice.IsMedium(part.Text())
	}
	if hasResults && !hasOthers {
		return p
	}
	sum := h.sum()
	all := newHasher()
	all.add("all", string(p.digest[:]))
	all.add("results", strconv.FormatUint(p.results, 16))
	all.add("message", string(sum[:]))
	p.digest, p.results = all.sum(), 0
	return p
}

// result adds a result at the end.
func (p *prefix) result(part message.Part) {
	r, h := rounds.ResultIn(part), newHasher()
	h.add("id", r.ID)
	for item := part.Parts(); item.Next(); {
		h.part(item.Part)
	}
	sum := h.sum()
	p.results += binary.BigEndian.Uint64(sum[:])
	isNotice := r.ReplacedByHandler || len(r.MediaRefs) > 0 || notice.FromTexts(r.Texts) != (notice.Notice{})
	p.hasNotice = p.hasNotice || isNotice
}

// hasher makes a digest of named texts. Texts of one name that follow one another are one text: a stream may be
// stored as one text or in chunks.
type hasher struct {
	hash hash.Hash
	w    *bufio.Writer
	name string
}

func newHasher() *hasher {
	h := sha256.New()
	return &hasher{hash: h, w: bufio.NewWriterSize(h, 1024)}
}

func (h *hasher) add(name, text string) {
	if name != h.name {
		_, _ = h.w.WriteString("\x00" + name + "\x00")
		h.name = name
	}
	_, _ = h.w.WriteString(text)
}

// part adds what is sent of a part, and reports whether that is anything. Thinking is signed itself, and may be left
// out.
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
