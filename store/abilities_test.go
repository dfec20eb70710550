// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scoped store has every method. An ability that is missing here would be reported as present.
func TestScoped_KnowsEveryAbility(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[abilities]()) {
		require.False(t, (&scoped{}).supports(reflect.New(field.Type).Interface()), field.Type)
	}
}
