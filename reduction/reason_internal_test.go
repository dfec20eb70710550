// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

func TestReason_ConstantsAreThoseOfThePolicies(t *testing.T) {
	for reason, internal := range map[Reason]toolpolicy.Reason{
		ReasonExcluded: toolpolicy.Excluded, ReasonSkipped: toolpolicy.Skipped, ReasonExempt: toolpolicy.Exempt,
		ReasonNotSmaller: toolpolicy.NotSmaller, ReasonHandler: toolpolicy.Handler,
		ReasonNotStored: toolpolicy.NotStored, ReasonTooFewTokens: toolpolicy.TooFewTokens,
	} {
		require.Equal(t, Reason(internal), reason)
	}
}
