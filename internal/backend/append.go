// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

// Adding to the end of files, which no other call waits for but those that add to the same file.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Appender is a store that can add to the end of a file, or make it, without writing it again.
// Its method has no capital: the one of Eino v0.10 with that name has a type of its own.
type Appender interface {
	append(ctx context.Context, filePath, content string) error
}

// Append adds to the end of a file.
func Append(ctx context.Context, a Appender, filePath, content string) (err error) {
	defer describe(&err, "appending to", filePath)
	return a.append(ctx, filePath, content)
}

var (
	_ Appender = (*Dir)(nil)
	_ Appender = (*Memory)(nil)
)

var (
	// errBusy says that another process has the lock of the file or of its directory.
	errBusy = errors.New("another process is using the file or its directory")

	// errReplaced says that the file is not that of its name any more.
	errReplaced = errors.New("the file was replaced or deleted")

	// errLinked says that the file may be one outside of the store as well.
	errLinked = errors.New("the file has another name on this machine")
)

// settleTime bounds how long a file may be found replaced or with two names: another process links its temporary file
// to the name and then removes the temporary name.
const settleTime = 100 * time.Millisecond

// writeEnd adds to an open file all of the content or nothing.
func writeEnd(f *os.File, content string) error {
	if !lockFile(f) { // closing it unlocks it
		return errBusy
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch links := linksOf(info); {
	case links == 0:
		return errReplaced
	case links > 1:
		return errLinked
	}
	if _, err = io.WriteString(f, content); err != nil {
		if cut := f.Truncate(info.Size()); cut != nil {
			return errors.Join(err, fmt.Errorf("cutting back what was added: %w", cut))
		}
	}
	return err
}
