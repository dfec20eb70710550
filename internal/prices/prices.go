// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package prices holds what models charge for tokens, with the day on which that was read. It
// is the one place with prices: replays, the bill of package window and docs/models.md have
// theirs from it.
package prices

import (
	_ "embed"
	"encoding/json"
	"math"
	"sync"
)

//go:embed prices.json
var data []byte

// Price is what a model charges, in US dollars for a million tokens.
type Price struct {
	Provider string  `json:"provider"`
	Model    string  `json:"model"`
	Year     int     `json:"year"`    // in which the model came
	Input    float64 `json:"input"`   // without a cache
	Cached   float64 `json:"cached"`  // read from the cache
	Written  float64 `json:"written"` // written to it
	Output   float64 `json:"output"`
	Window   int     `json:"window"` // in tokens
	Prompt   int     `json:"prompt"` // of these, the most that a request may take; 0: all
	Note     string  `json:"note"`
	Source   string  `json:"source"`
}

// Hit is a cached token, relative to one without a cache.
func (p Price) Hit() float64 { return ratio(p.Cached, p.Input) }

// Write is a token written to the cache, relative to one without a cache.
func (p Price) Write() float64 { return ratio(p.Written, p.Input) }

// ratio is rounded: a third of .3 is .1.
func ratio(a, b float64) float64 { return math.Round(a/b*1e4) / 1e4 }

// File is a dated file of prices, as prices.json.
type File struct {
	Read   string  `json:"read"`
	Prices []Price `json:"prices"`
}

var file = sync.OnceValue(func() (f File) {
	if err := json.Unmarshal(data, &f); err != nil {
		panic("internal/prices: " + err.Error())
	}
	return f
})

// All returns all prices, by provider. Read only.
func All() []Price { return file().Prices }

// Read is the day on which they were read, as 2026-11-23.
func Read() string { return file().Read }

// Of returns the price of a model.
func Of(model string) (Price, bool) {
	for _, p := range All() {
		if p.Model == model {
			return p, true
		}
	}
	return Price{}, false
}
