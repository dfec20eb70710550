// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"reflect"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

type (
	change0 struct {
		MessageID, BeforeMessageID, Message string
		MessageIDs                          []string
	}
	whole0 struct {
		Kind                                             string
		MessagesReplaced                                 *[]string
		MessageUpdated, MessageInserted, MessagesDeleted *change0
	}
	fewer0 struct {
		Kind             string
		MessagesReplaced *[]string
		MessageUpdated   *change0
	}
	carrier0[E any] struct{ Event *E }
	event0[E any]   struct{ SessionEventVariant *carrier0[E] }
)

//claim:eino-05
func TestHasEventFields_RequiresEveryField(t *testing.T) {
	require.True(t, hasEventFields(reflect.TypeFor[event0[whole0]]()))
	require.False(t, hasEventFields(reflect.TypeFor[event0[fewer0]]()))
	require.False(t, hasEventFields(reflect.TypeFor[event0[string]]()))
	require.False(t, hasEventFields(reflect.TypeFor[whole0]()))
	for _, rc := range []any{&struct{}{}, &struct{ AgentInput string }{"x"}, &struct{ input int }{1}} {
		require.Nil(t, agentInput[*schema.Message](rc))
	}
}
