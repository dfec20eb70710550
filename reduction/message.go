// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The package's only switch on the message type.

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

var (
	_ codec[*schema.Message]        = plain{}
	_ codec[*schema.AgenticMessage] = agentic{}
)

// codecFor returns the codec of a message type.
func codecFor[M adk.MessageType]() codec[M] {
	var c any
	switch any(*new(M)).(type) {
	case *schema.Message:
		c = plain{}
	case *schema.AgenticMessage:
		c = agentic{}
	}
	return c.(codec[M])
}
