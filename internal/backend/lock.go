// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"sync"
)

// Locks has one lock for each file. Its zero value is ready for use.
type Locks struct {
	mu    sync.Mutex
	files map[string]*fileLock
}

// fileLock is the lock of a file while somebody holds it or waits for it.
type fileLock struct {
	semaphore chan struct{} // has one element while the lock is held
	users     int
}

// Take waits for the lock of a file, or until ctx ends. free releases the lock.
func (l *Locks) Take(ctx context.Context, name string) (free func(), err error) {
	f := l.addUser(name)
	select {
	case f.semaphore <- struct{}{}:
		return func() { <-f.semaphore; l.removeUser(name) }, nil
	case <-ctx.Done():
		l.removeUser(name)
		return nil, ctx.Err()
	}
}

func (l *Locks) addUser(name string) *fileLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[name]
	if f == nil {
		f = &fileLock{semaphore: make(chan struct{}, 1)}
		if l.files == nil {
			l.files = make(map[string]*fileLock)
		}
		l.files[name] = f
	}
	f.users++
	return f
}

func (l *Locks) removeUser(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[name]
	if f.users--; f.users == 0 {
		delete(l.files, name)
	}
}
