// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What is wrong with a configuration, all at once.

import (
	"errors"
	"fmt"

	"github.com/leanctx/leanctx"
)

// problems collects what is wrong with a configuration.
type problems []error

// add notes what is wrong with a field; "" is the configuration as a whole.
func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, &leanctx.FieldError{Package: "toolsearch", Field: field, Err: fmt.Errorf(format, args...)})
}

// err is nil if nothing is wrong, and otherwise one error that joins all.
func (p problems) err() error { return errors.Join(p...) }

// fieldError is one problem alone.
func fieldError(field, format string, args ...any) error {
	var wrong problems
	wrong.add(field, format, args...)
	return wrong.err()
}

func fieldAt(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }
