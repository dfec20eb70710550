// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

// This file parts cases into those to tune on and those to judge by.

import (
	"cmp"
	"crypto/sha256"
)

// Split parts cases into two halves, by a hash of their IDs (of the query, where a case
// has no ID): look at the misses of one half as long as you work on a ranking or on the
// descriptions of your tools, and let the other half say what it was worth. The half of
// a case does not depend on the other cases. The order stays.
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

// Heldout says whether Split puts a case into the half to judge by.
func Heldout(c Case) bool {
	return sha256.Sum256([]byte(cmp.Or(c.ID, c.Query)))[0]%2 == 1
}
