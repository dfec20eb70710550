// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with what a JSON query finds in a file.

import (
	"bytes"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/preview"
	"github.com/leanctx/leanctx/internal/safe"
)

// maxReason is how much of a query's error is shown, in bytes.
const maxReason = 1500

// askJSON answers a JSON query. What the function returns is bounded once more, and it may
// panic.
func askJSON(v visit, f JSONQuery) (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	said := facts{Path: quoted(v.req.jq), Size: size}
	v.bytes -= int64(len(said.Path))
	if size > preview.MaxDocument {
		return v.say.say("jq_large", said), nil
	}
	whole, err := take(guardedStream(v, content, size), size)
	if err != nil {
		return "", err
	}
	document, cut, ok := preview.Document(string(whole))
	if !ok {
		return v.say.say("jq_no_json", said), nil
	}
	answer, err := safe.Value("JSONQuery", func() ([]byte, error) { return f(v.ctx, v.req.jq, document, int(v.bytes)) })
	if ended := v.ctx.Err(); ended != nil {
		return "", ended
	}
	if err != nil {
		said.Reason = display.Short(display.Line(safe.ErrorText(err)), maxReason)
		return v.say.say("jq_failed", said), nil
	}
	if int64(len(answer)) > v.bytes {
		answer = answer[:display.Floor(answer, int(v.bytes))]
		if lines := bytes.LastIndexByte(answer, '\n') + 1; lines > 0 {
			answer = answer[:lines]
		}
		said.More = true
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return v.say.say("jq_nothing", said), nil
	}
	said.Content, said.Missing, said.Garbled = string(answer), cut, !utf8.Valid(answer)
	said.Fence = fence(said.Content)
	if answer[len(answer)-1] != '\n' {
		said.Content += "\n"
	}
	return v.say.say("jq_answer", said), nil
}
