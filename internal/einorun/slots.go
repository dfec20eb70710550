// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

// Slot is a tool that stands for hidden ones. Eino takes its tools by their Go types, so a middleware may add slots of all
// types.
type Slot interface {
	// StandsForNone reports that the slot stands for no certain tool: its Go type then says nothing of the agent's tools.
	StandsForNone() bool
}
