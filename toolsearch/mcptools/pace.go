// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Decoding a flood of messages of one server would take the process from all others.

import (
	"sync"
	"time"
)

// What a server may send besides answers to requests. What is beyond waits in the server.
const (
	burst     = 1000     // messages at once
	perSecond = 500      // messages from then on
	perCredit = 32 << 10 // bytes that count as one more message
)

// pace holds up the reader of a server that sends too much. Nil never does.
type pace struct {
	done <-chan struct{} // ends every wait

	mu           sync.Mutex
	credit       float64 // messages
	updatedAt    time.Time
	openRequests int // requests without an answer
}

func newPace(done <-chan struct{}) *pace {
	return &pace{done: done, credit: burst, updatedAt: time.Now()}
}

// noteRequest records a request to the server.
func (p *pace) noteRequest() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openRequests++
}

// noteAnswer records an answer, and reports whether there was a request for it.
func (p *pace) noteAnswer() bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openRequests--
	if p.openRequests < 0 {
		p.openRequests = 0
		return false
	}
	return true
}

// wait returns when that much may be read.
func (p *pace) wait(messages, bytes int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	now := time.Now()
	p.credit = min(burst, p.credit+now.Sub(p.updatedAt).Seconds()*perSecond) - float64(messages) - float64(bytes)/perCredit
	p.updatedAt = now
	debt := -p.credit
	p.mu.Unlock()
	if debt <= 0 {
		return
	}
	timer := time.NewTimer(time.Duration(debt / perSecond * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.done:
	}
}
