// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Providers that keep the conversation on their server: keeps them from using results
// that were cleared.

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/session"
)

// sessionKey marks, in Extra, a response that the provider keeps: its value is the
// digest of the notices in its request. A request without notices leaves no mark.
const sessionKey = "__leanctx_reduction_session__"

// continued returns a state in which no model call continues a response whose request
// held other results than the state's messages do: those that were cleared since, or
// notices in place of results that are whole. There must be messages.
func continued[M adk.MessageType](c codec[M], state *adk.TypedChatModelAgentState[M]) *adk.TypedChatModelAgentState[M] {
	var sent digest
	read := 0
	msgs := session.Restart(state.Messages, func(i int, _ bool) bool {
		for ; read <= i; read++ {
			sent.add(c.view(state.Messages[read]))
		}
		return session.MarkOf(state.Messages[i], sessionKey) != sent.mark()
	})
	if &msgs[0] == &state.Messages[0] {
		return state
	}
	return withMessages(state, msgs)
}

// requestMark is the mark of a request.
func requestMark[M adk.MessageType](c codec[M], msgs []M) string {
	var sent digest
	for _, m := range msgs {
		sent.add(c.view(m))
	}
	return sent.mark()
}

// digest identifies the notices in the messages so far. It is a sum, independent of
// order: events bring the results of parallel calls as these end, a state has them in
// the order of the calls.
type digest struct {
	items int
	sum   uint64
}

func (d *digest) add(v view) {
	if v.processed {
		for _, call := range v.calls {
			d.mix("call", call.id, call.args)
		}
	}
	for _, r := range v.results {
		if r.handled || noticeIn(r.texts).kind != noNotice {
			d.mix(append([]string{"result", r.id}, r.texts...)...)
		}
		for _, text := range r.moved {
			d.mix("medium", r.id, text)
		}
	}
	for _, text := range v.moved {
		d.mix("medium", text)
	}
}

func (d *digest) mix(parts ...string) {
	text, _ := json.Marshal(parts) // encoding strings never fails
	sum := sha256.Sum256(text)
	d.items++
	d.sum += binary.BigEndian.Uint64(sum[:])
}

func (d *digest) mark() string {
	if d.items == 0 {
		return ""
	}
	return strconv.Itoa(d.items) + "-" + strconv.FormatUint(d.sum, 16)
}
