// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Providers that tie an answer to its request: keeps them from using results that were
// cleared, and from refusing thinking that is bound to them.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/session"
)

// sessionKey marks, in Extra, an answer that the provider ties to its request: its value is
// the digest of the notices there. A request without notices leaves no mark.
const sessionKey = "__leanctx_reduction_session__"

// keeper releases what is tied to other results than those of a request: to results that were
// cleared since, or to notices in place of results that are whole.
func keeper[M adk.MessageType](of *middleware[M]) session.Keeper[M] {
	return session.Keeper[M]{
		Key: sessionKey,
		Mark: func(msgs []M, _ session.Tie) string {
			var sent digest
			for _, m := range msgs {
				sent.add(of.codec.view(m))
			}
			return sent.mark()
		},
		Stale: func(msgs []M) func(int, session.Tie, string) bool {
			var sent digest
			read := 0
			upTo := func(end int) {
				for ; read < end; read++ {
					sent.add(of.codec.view(msgs[read]))
				}
			}
			return func(i int, t session.Tie, mark string) bool {
				if upTo(i); t != session.Bound { // which stores the answer itself as well
					upTo(i + 1)
				}
				return mark != sent.mark()
			}
		},
		Changed: func(ctx context.Context) {
			of.policy.send(ctx, leanctx.Event{Kind: leanctx.KindSessionRestarted})
		},
	}
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
