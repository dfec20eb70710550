// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"math"
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

// factor is how often b goes into a: 12.3x, and 1.04x where one digit would hide a difference.
func factor(a, b float64) string {
	if x := a / b; x >= 1.1 {
		return fmt.Sprintf("%.1fx", x)
	}
	return fmt.Sprintf("%.2fx", a/b)
}

// isSame reports whether two sums differ by less than a factor shows.
func isSame(a, b float64) bool { return math.Abs(a-b) < .005*max(a, b, 1) }

// inMoney says how much cheaper or dearer the requests were than without einolean; "" if
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
		switch {
		case isSame(sent, without):
			all = append(all, in.say("%s the same", p.Name))
		case sent < without:
			all = append(all, in.say("%s %s cheaper", p.Name, factor(without, sent)))
		default:
			all = append(all, in.say("%s %s dearer", p.Name, factor(sent, without)))
		}
	}
	return in.say("in money: ") + strings.Join(all, " · ")
}
