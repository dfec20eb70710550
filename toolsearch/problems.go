// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Errors in a configuration, collected and reported together.

import (
	"errors"
	"fmt"

	"github.com/leanctx/leanctx"
)

// problems collects the errors in a configuration.
type problems []error

// add adds an error in a field; "" is the configuration as a whole.
func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, &leanctx.FieldError{Package: "toolsearch", Field: field, Err: fmt.Errorf(format, args...)})
}

// err is nil without errors, and otherwise one error that joins all.
func (p problems) err() error { return errors.Join(p...) }

// fieldError is one problem alone.
func fieldError(field, format string, args ...any) error {
	var wrong problems
	wrong.add(field, format, args...)
	return wrong.err()
}

func fieldAt(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
