// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
)

// Images counts the images that tools returned in a conversation.
func Images[M adk.MessageType](messages []M) (n int) {
	for _, m := range messages {
		for p := message.Parts(m); p.Next(); {
			for q := p.Parts(); p.Kind == message.Result && q.Next(); {
				if q.Kind == message.Medium && strings.HasPrefix(q.MediaType(), "image") {
					n++
				}
			}
		}
	}
	return n
}
