// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"strings"

	known "github.com/einolean/einolean/internal/prices"
	"github.com/einolean/einolean/window"
)

// prices are what a prompt token costs that comes from the cache or is written to it,
// relative to one without a cache.
type prices struct {
	Name  string  `json:"name"`
	Hit   float64 `json:"hit"`
	Write float64 `json:"write"`
}

// cards are the prices of common providers, each with a model that has them.
var cards = []prices{
	pricesOf("Claude", "claude-sonnet-4-5"),
	pricesOf("Claude 5.5, GPT-6", "claude-opus-5-5"),
	pricesOf("GPT-5, Gemini", "gpt-5"),
	pricesOf("Doubao, Qwen, GLM", "qwen3.7-max"),
	pricesOf("DeepSeek", "deepseek-flash"),
	{"no cache", 1, 1},
}

func pricesOf(name, model string) prices {
	p, _ := known.Of(model) // a test finds a model that is missing
	return prices{name, p.Hit(), p.Write()}
}

// inMoney says by how much the requests were cheaper than without einolean; "" if
// nothing was sent.
func inMoney(in texts, t window.Totals) string {
	if t.Sent == 0 || t.Without == 0 {
		return ""
	}
	var all []string
	for _, p := range cards {
		if p.Hit == 1 {
			continue // the tokens say it
		}
		sent, without := t.Cost(p.Hit, p.Write)
		all = append(all, fmt.Sprintf("%s %.1f", p.Name, without/sent))
	}
	return in.say("in money, cheaper by a factor of: ") + strings.Join(all, " · ")
}
