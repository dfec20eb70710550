// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"testing"
	"time"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/store"
)

func TestMemory_KeepsTheContractOfCleaner(t *testing.T) {
	open := func(*testing.T) store.Backend { return backend.NewMemory(0) }
	age := func(t *testing.T, files store.Backend, filePath string, by time.Duration) {
		files.(*backend.Memory).Age(t, filePath, by)
	}
	backendtest.Run(t, open, backendtest.Options{Age: age})
}
