// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einolean

import (
	"strings"

	"github.com/einolean/einolean/internal/safe"
)

// FieldError is one mistake in a configuration. A constructor returns all mistakes at
// once, joined by [errors.Join]: [errors.As] finds the first, and errors.Is checks each
// cause.
type FieldError struct {
	// Package is the package whose configuration it is, such as "toolsearch".
	Package string
	// Field is the field as Go code names it, such as `ToolConfig["grep"].Backend`.
	// If empty, the configuration as a whole is wrong.
	Field string
	// Err says what is wrong with it and what to set instead.
	Err error
}

// Error names the package, the field and what is wrong with it.
func (e *FieldError) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{e.Package, e.Field, safe.ErrorText(e.Err)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns what is wrong with the field.
func (e *FieldError) Unwrap() error { return e.Err }
