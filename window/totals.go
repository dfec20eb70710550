// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

// Totals adds up a conversation.
type Totals struct {
	// Calls counts the model calls.
	Calls int `json:"calls"`
	// Helped counts the calls that would not have been made without einolean.
	Helped int `json:"helped"`
	// Sent and Without are sums of estimates, and so comparable.
	Sent    int `json:"sent"`
	Without int `json:"without"`
	// Largest is the largest window, LargestCall the call that had it, and
	// LargestWithout the largest without einolean.
	Largest        int `json:"largest"`
	LargestCall    int `json:"largest_call"`
	LargestWithout int `json:"largest_without"`
	// Same is the sum of the common prefixes.
	Same int `json:"same"`
	// TooLarge counts the calls that would have been larger without einolean than 200,000
	// tokens, the window of common models.
	TooLarge int `json:"too_large"`
	// SentHits is how much of Sent came from the provider's cache, by its report or else
	// as far as the common prefix reaches. WithoutHits is how much of Without could: all
	// of the call before, in favour of doing nothing.
	SentHits    int `json:"sent_hits"`
	WithoutHits int `json:"without_hits"`
	// Reported and Cached are the provider's counts of the prompts. ReportedCalls says
	// how many calls have one.
	Reported      int `json:"reported"`
	Cached        int `json:"cached"`
	ReportedCalls int `json:"reported_calls"`
	// Left counts the results that are not whole, and Unreadable those of them that are
	// not stored; LeftBefore and LeftAfter are their tokens.
	Left       int `json:"left"`
	Unreadable int `json:"unreadable"`
	LeftBefore int `json:"left_before"`
	LeftAfter  int `json:"left_after"`
	// Programs counts the programs, and Unknown those of which nobody told what they read:
	// Without then is the least that it can be. ProgramsRead is what the others read.
	Programs     int `json:"programs,omitempty"`
	Unknown      int `json:"unknown,omitempty"`
	ProgramsRead int `json:"programs_read,omitempty"`
	// Kept says that the provider kept the conversation on its server in some call.
	Kept bool `json:"kept,omitempty"`

	before int // Without of the newest call that has one
}

// commonWindow is the window of common models, in tokens.
const commonWindow = 200_000

// Cost returns what the requests cost with einolean and without it, in tokens at the full
// price, if a token from the cache costs hit and one that is written to it costs write.
// Answers are not counted.
func (t Totals) Cost(hit, write float64) (sent, without float64) {
	cost := func(all, hits int) float64 { return float64(hits)*hit + float64(all-hits)*write }
	return cost(t.Sent, t.SentHits), cost(t.Without, t.WithoutHits)
}

// Totals adds the calls up.
func (c *Conversation) Totals() Totals {
	var t Totals
	if c.Earlier != nil {
		t = *c.Earlier
	}
	for _, call := range c.Calls {
		t.add(call)
	}
	if c.book == nil {
		return t
	}
	c.book.lacks(t.addLeft)
	return t
}

// add adds a call, except for its results.
func (t *Totals) add(call *ModelCall) {
	t.Calls++
	t.Sent += call.Tokens.Estimated
	t.Same += call.Prefix.Same
	t.Kept = t.Kept || call.Kept
	hits := call.Prefix.Same
	if u := call.Tokens.Reported; u != nil {
		t.ReportedCalls++
		t.Reported += u.PromptTokens
		t.Cached += u.PromptTokenDetails.CachedTokens
		if u.PromptTokens > 0 {
			share := float64(u.PromptTokenDetails.CachedTokens) / float64(u.PromptTokens)
			hits = int(min(1, max(0, share))*float64(call.Tokens.Estimated) + .5)
		}
	}
	t.SentHits += hits
	if call.Tokens.Estimated > t.Largest {
		t.Largest, t.LargestCall = call.Tokens.Estimated, call.N
	}
	if call.Without == nil {
		t.Helped++
		return
	}
	t.Without += *call.Without
	t.WithoutHits += min(t.before, *call.Without)
	t.before = *call.Without
	t.LargestWithout = max(t.LargestWithout, *call.Without)
	if *call.Without > commonWindow {
		t.TooLarge++
	}
}

// addLeft adds what a result lacks.
func (t *Totals) addLeft(l *Left) {
	if l.Calls != nil || l.Rule == "program" {
		t.Programs++
		if l.Unknown {
			t.Unknown++
		} else {
			t.ProgramsRead += l.Before
		}
	}
	if l.Rule == "program" {
		return
	}
	t.Left++
	t.LeftBefore += l.Before
	t.LeftAfter += l.After
	if !l.Stored {
		t.Unreadable++
	}
}
