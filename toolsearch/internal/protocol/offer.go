// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/json"

	"github.com/einolean/einolean/internal/toolnames"
)

// Offer returns the message that describes tools for what a user just said, in the form of a search's answer.
func Offer(tools []Described, hint string) string {
	return toolnames.OfferOpen + "\n" + JSON(toolsAnswer{tools, hint}) + "\n" + toolnames.OfferClose
}

// IsOffer recognizes an offer by its envelope and form, since stores drop what marks a message.
func IsOffer(text string) bool {
	answer, isEnvelope := toolnames.Offer(text)
	var offer toolsAnswer
	return isEnvelope && json.Unmarshal([]byte(answer), &offer) == nil && len(offer.Tools) > 0
}
