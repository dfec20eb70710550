// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

import (
	"encoding/json"

	"github.com/einolean/einolean/toolsearch/internal/say"
)

const (
	// maxAnswerBytes bounds the tools in one answer.
	maxAnswerBytes = 64 << 10
	// maxSuggestions is the most near names in an answer.
	maxSuggestions = 5
	// maxNearBytes bounds a suggested name. Providers refuse longer ones.
	maxNearBytes = 256
	// maxLeftOut is the most tools that an answer names as left out.
	maxLeftOut = 20
)

// answer is what the search tools answer, each protocol with some of it. The key "matches" is
// Eino's.
type answer struct {
	Matches       []string        `json:"matches,omitzero"`       // Keyword
	Selected      []string        `json:"selectedTools,omitzero"` // Regexp
	Results       []describedTool `json:"results,omitzero"`       // SearchLoad
	Loaded        []string        `json:"loaded,omitzero"`
	Tools         []describedTool `json:"tools,omitzero"` // SearchCall, and any with programs
	AlreadyLoaded []string        `json:"already_loaded,omitempty"`
	Hint          string          `json:"hint,omitempty"`
}

type describedTool struct {
	Name        string          `json:"name"`
	Call        string          `json:"call,omitempty"` // with programs: the signature, and nothing else
	Description *string         `json:"description,omitempty"`
	Score       *float64        `json:"score,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// matchesText is the result of a search as text.
func matchesText(names []string) string {
	return say.JSON(answer{Matches: append([]string{}, names...)})
}
