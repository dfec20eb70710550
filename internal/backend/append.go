// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

import "context"

// Appender is a store that can add to the end of a file, or make it, without writing it again.
// Its method has no capital: the one of Eino v0.10 with that name has a type of its own.
type Appender interface {
	append(ctx context.Context, filePath, content string) error
}

// Append adds to the end of a file.
func Append(ctx context.Context, a Appender, filePath, content string) error {
	if err := a.append(ctx, filePath, content); err != nil {
		return failed("appending to", filePath, err)
	}
	return nil
}

var (
	_ Appender = (*Dir)(nil)
	_ Appender = (*Memory)(nil)
)
