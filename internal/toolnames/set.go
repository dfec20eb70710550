// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolnames

import "slices"

// Set is a set of names. The zero value is empty.
type Set map[string]bool

// Add adds names.
func (s *Set) Add(names ...string) {
	if *s == nil && len(names) > 0 {
		*s = make(Set, len(names))
	}
	for _, name := range names {
		(*s)[name] = true
	}
}

// Difference returns the names of a that are not in b, in the order of a. The result may be a itself.
func Difference(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	var excluded Set
	excluded.Add(b...)
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return excluded[name] })
}
