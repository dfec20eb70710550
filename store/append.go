// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/einolean/einolean/internal/backend"
)

// NewAppender returns a store as the Appender of Eino v0.10, to which commands and agents in the
// background write what they output while they run: OutputStore of Eino's middlewares.
//
//	output, err := store.NewAppender[filesystem.AppendRequest](files)
//
// Eino v0.9 has no AppendRequest, so the type is named here. The store is a [Dir], a
// [Memory], or a [Scoped] one of these. After a crash a file may end in a part of what was
// added last.
func NewAppender[R ~struct{ FilePath, Content string }](b Backend) (interface {
	Append(context.Context, *R) error
}, error) {
	if _, ok := backend.Innermost(b).(backend.Appender); !ok {
		return nil, fmt.Errorf("store: a store of type %T cannot add to files", b)
	}
	return appender[R]{b}, nil
}

type appender[R ~struct{ FilePath, Content string }] struct{ store Backend }

// Append adds to the end of a file, and makes it if it is missing.
func (a appender[R]) Append(ctx context.Context, req *R) error {
	if req == nil {
		return errors.New("store: appending nothing")
	}
	r := struct{ FilePath, Content string }(*req)
	return appendTo(ctx, a.store, r.FilePath, r.Content)
}

func appendTo(ctx context.Context, b Backend, filePath, content string) error {
	if s, ok := b.(*scoped); ok {
		return s.appendTo(ctx, filePath, content)
	}
	return backend.Append(ctx, b.(backend.Appender), filePath, content)
}
