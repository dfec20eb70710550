// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHolds_AcceptsRightAnswersInOtherWords(t *testing.T) {
	for value, answers := range map[string][]string{
		"37":              {"37 left", "There are 37 of part-0001.", "剩余37个"},
		"3211":            {"line 3211", "3211:req-003210 POST /order 312 ms", "3,211"},
		"yes|leap":        {"Yes.", "2024 is a leap year", "YES"},
		"3610a686":        {"0x3610A686", "3610A686"},
		"21.0824":         {"21.08 km", "about 21.0824064 kilometres"},
		"Turin|customers": {"the key is customers.city: Turin", "There is no customer, only `customers`."},
	} {
		for _, answer := range answers {
			require.True(t, holds(answer, value) || holds(ungrouped(answer), value), "%s in %s", value, answer)
		}
	}
	for value, answers := range map[string][]string{
		"4":       {"900150983cd24fb0d6963f7d28e17f72", "14", "4x4a"},
		"b":       {"both", "ab"},
		"37":      {"137 left", "371", "3.7"},
		"21.0824": {"21.2 km", "21", "2.10824", "21.8"},
	} {
		for _, answer := range answers {
			require.False(t, holds(answer, value), "%s in %s", value, answer)
		}
	}
}
