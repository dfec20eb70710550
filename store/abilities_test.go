// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scoped store has every method: what it does not know of as an ability, it would claim to have.
func TestAScopeKnowsEveryAbility(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[abilities]()) {
		require.False(t, (&scoped{}).supports(reflect.New(field.Type).Interface()), field.Type)
	}
}
