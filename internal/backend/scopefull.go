// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "fmt"

// ScopeFullError says that a scope of a store has no room for content.
type ScopeFullError struct {
	Scope                 string // its directory in the store below
	Limit, Stored, Needed int64  // bytes
}

// Error names the scope, its limit and the sizes.
func (e *ScopeFullError) Error() string {
	return fmt.Sprintf("store: the scope has reached Scope.MaxBytes: scope %q stores %d of %d bytes, and needs %d more",
		e.Scope, e.Stored, e.Limit, e.Needed)
}
