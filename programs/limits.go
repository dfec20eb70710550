// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// What bounds the programs of an agent. An interpreter has its own limits, such as
// javascript.Limits. In package toolsearch, the number of tools that run concurrently is bounded.

import "time"

const (
	// defaultMaxIterations is Eino's default of the agent's MaxIterations, which stops a program
	// whose next turn would use up the last iteration.
	defaultMaxIterations = 20
	// neededIterations is what another program turn needs: one for itself, and one for the model.
	neededIterations = 2

	// maxToolsPerTurn is how many different tools all programs together call in one turn, where
	// toolsearch does not set the number. The calls of further tools wait for the next turn.
	maxToolsPerTurn = 32

	// idleAfter is how long a waiting program keeps its memory. After that it is closed, and starts
	// again when its results are there. It loses nothing but the time.
	idleAfter = 30 * time.Second

	// Bounds of texts and events. They stop no program.
	maxExcerpt     = 80 // runes of a quoted name or error
	maxSignatures  = 30 // of tools in the description of run_code
	maxSuggestions = 3  // of tools for an unknown name
	maxEventTools  = 20 // of the counts in an event
)
