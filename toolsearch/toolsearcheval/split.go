// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"cmp"
	"crypto/sha256"
)

// Split divides cases into two halves, by a hash of their IDs (of the query, if a case
// has no ID). Look at the misses of one half while you work on a ranking or on the
// descriptions of your tools, and judge the outcome by the other half. The half of a
// case does not depend on the other cases. The order stays.
func Split(cases []Case) (dev, heldout []Case) {
	for _, c := range cases {
		if Heldout(c) {
			heldout = append(heldout, c)
		} else {
			dev = append(dev, c)
		}
	}
	return dev, heldout
}

// Heldout reports whether Split holds a case out.
func Heldout(c Case) bool {
	return sha256.Sum256([]byte(cmp.Or(c.ID, c.Query)))[0]%2 == 1
}
