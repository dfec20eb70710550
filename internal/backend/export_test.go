// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"testing"
	"time"
)

// Age sets the last use of a file back.
func (m *Memory) Age(t *testing.T, filePath string, by time.Duration) {
	t.Helper()
	name, err := Name(filePath)
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name].Value.(*file).lastUsed = m.now().Add(-by)
}
