// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"os"
	"testing"

	"github.com/einolean/einolean/internal/dev/twice"
)

func TestMain(m *testing.M) { os.Exit(twice.Run(m)) }
