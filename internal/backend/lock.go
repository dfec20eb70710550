// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"sync"
)

// Locks has one lock for each file, so that nobody waits for another's. Its zero value is ready.
type Locks struct {
	mu    sync.Mutex
	files map[string]*fileLock
}

// fileLock is the lock of a file while anybody has it or waits for it.
type fileLock struct {
	held  chan struct{} // full while it is held
	users int
}

// Take waits until nobody else has the lock of a file, or ctx ends. free gives it back.
func (l *Locks) Take(ctx context.Context, name string) (free func(), err error) {
	f := l.join(name)
	select {
	case f.held <- struct{}{}:
		return func() { <-f.held; l.leave(name) }, nil
	case <-ctx.Done():
		l.leave(name)
		return nil, ctx.Err()
	}
}

func (l *Locks) join(name string) *fileLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[name]
	if f == nil {
		f = &fileLock{held: make(chan struct{}, 1)}
		if l.files == nil {
			l.files = make(map[string]*fileLock)
		}
		l.files[name] = f
	}
	f.users++
	return f
}

func (l *Locks) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[name]
	if f.users--; f.users == 0 {
		delete(l.files, name)
	}
}
