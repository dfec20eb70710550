// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// schemaName names the format of WriteJSON.
const schemaName = "einolean.window/2"

// maxLine is the longest line that is read, in bytes; tests lower it.
var maxLine = 256 << 20

// line is one line of the format. Of says which conversation it belongs to: those of
// several collectors may alternate. A conversation's line is followed by lines that set
// the part in a slot, from then on, and by its calls. A call names ranges of slots, of its
// parts in their order, and of those that the call before did not have; Same counts the
// parts that are equal from the start on. So every part stands in a file once, and a line
// that is lost costs only what it holds.
type line struct {
	Schema       string        `json:"schema,omitempty"`
	Of           string        `json:"of,omitempty"`
	Conversation *Conversation `json:"conversation,omitempty"`
	Run          *Run          `json:"run,omitempty"`
	slotLine
	modelLine
	Lost int `json:"lost,omitempty"` // calls that a log did not take
}

// slotLine sets the part in a slot.
type slotLine struct {
	Slot int32   `json:"slot,omitempty"`
	Part *Part   `json:"part,omitempty"`
	Text *string `json:"text,omitempty"`
}

// modelLine is a model call.
type modelLine struct {
	Call  *ModelCall `json:"call,omitempty"`
	Slots [][2]int32 `json:"slots,omitempty"`
	Same  int        `json:"same,omitempty"`
	New   [][2]int32 `json:"new,omitempty"`
}

// partLine is the line of a content.
func partLine(of string, id int32, k *slotContent, text string) line {
	l := line{Of: of, slotLine: slotLine{Slot: id, Part: &k.Part}}
	if k.Part.Text != 0 {
		l.Text = &text
	}
	return l
}

// callLine is the line of a call.
func callLine(of string, c *ModelCall) line {
	return line{Of: of, modelLine: modelLine{c, c.slots, c.equalParts, c.newSlots}}
}

// WriteJSON writes one conversation in the format of [Collector.WriteJSON].
func (c *Conversation) WriteJSON(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	to := json.NewEncoder(buffered)
	of := c.key
	if of == "" {
		of = c.ID
	}
	if err := to.Encode(line{Schema: schemaName, Of: of, Conversation: c}); err != nil {
		return err
	}
	written := map[int32]*slotContent{}
	for _, call := range c.Calls {
		var lines []line
		if call.in != nil {
			call.in.eachSlot(call.slots, func(_ int, s *slot) {
				if k := s.contentAt(call.N); k != nil && written[s.id] != k {
					written[s.id] = k
					lines = append(lines, partLine(of, s.id, k, c.Texts[k.Part.Text]))
				}
			})
		}
		for _, l := range append(lines, callLine(of, call)) {
			if err := to.Encode(l); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}

// logState is the part of a conversation that readers of the log know.
type logState struct {
	questions map[int]string // the questions of the runs in the log; nil before its first line
	losses    int            // of the log, when logged was made
}

// lines returns the lines of a call of c for the log, after those that it depends on. Losses says
// how often the log has lost something.
func (w *logState) lines(c *Conversation, call *ModelCall, losses int) (all []line) {
	if w.questions == nil || w.losses != losses {
		if w.questions == nil {
			all = append(all, line{Schema: schemaName, Of: c.key, Conversation: &Conversation{ID: c.ID}})
		}
		w.questions, w.losses = map[int]string{}, losses
		for i := range c.book.slots {
			c.book.slots[i].loggedContent = nil
		}
	}
	for _, run := range c.Runs {
		if logged, ok := w.questions[run.N]; run.N == call.Run && (!ok || logged != run.Question) {
			w.questions[run.N] = run.Question
			all = append(all, line{Of: c.key, Run: &run})
		}
	}
	c.book.eachSlot(call.slots, func(_ int, s *slot) {
		k := s.contentAt(call.N)
		if s.loggedContent == nil || s.loggedContent.hash != k.hash || s.loggedContent.Category != k.Category {
			s.loggedContent = k
			all = append(all, partLine(c.key, s.id, k, k.text))
		}
	})
	done := *call
	return append(all, callLine(c.key, &done))
}

// ReadJSON reads what WriteJSON or Config.Log wrote. What one collector wrote about a
// conversation is one conversation, of which the last version counts; what another one
// wrote about a conversation of the same name is another one. A line that cannot be read
// costs that line: the error names ten and counts the others, and everything else is returned too.
func ReadJSON(r io.Reader) ([]*Conversation, error) {
	var d decoder
	var bad []error
	const most = 10
	n := 0
	err := d.read(r, func(*Conversation, *ModelCall) error { return nil }, func(err error) {
		if n++; n <= most {
			bad = append(bad, err)
		}
	})
	if n > most {
		bad = append(bad, fmt.Errorf("and %d more lines that cannot be read", n-most))
	}
	all := slices.DeleteFunc(d.conversations, func(c *Conversation) bool { return c.ID == "" })
	return all, errors.Join(append(bad, err)...)
}

// FollowJSON reads what [ReadJSON] reads, and passes each call to each as soon as it is
// read, with its conversation so far, which belongs to the decoder until FollowJSON
// returns. Lines that cannot be read are reported to bad, if it is not nil. It returns at
// the end of r, or when r or each fails. To follow a growing file, give it an r that waits
// at the end of the file.
func FollowJSON(r io.Reader, each func(*Conversation, *ModelCall) error, bad func(error)) error {
	return new(decoder).read(r, each, bad)
}

// decoder reads lines.
type decoder struct {
	conversations []*Conversation
	byKey         map[string]*Conversation
	parts         uint64 // that were read
}

func (d *decoder) read(r io.Reader, each func(*Conversation, *ModelCall) error, bad func(error)) error {
	from := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := readLine(from)
		if len(text) > 1 {
			now, call, wrong := d.line(text)
			if wrong != nil && bad != nil {
				bad(fmt.Errorf("line %d: %w", n, wrong))
			}
			if call != nil {
				if err := each(now, call); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line. Of one longer than maxLine it returns only the beginning, which is no valid JSON.
func readLine(from *bufio.Reader) (text []byte, err error) {
	for {
		part, err := from.ReadSlice('\n')
		if len(text) <= maxLine {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// line reads one line, and returns the call in it.
func (d *decoder) line(text []byte) (*Conversation, *ModelCall, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, nil, fmt.Errorf("it is not whole, or not JSON: %w", err)
	}
	if l.Schema != "" && l.Schema != schemaName {
		return nil, nil, fmt.Errorf("the format is %q, not %q", l.Schema, schemaName)
	}
	if l.Lost > 0 {
		return nil, nil, fmt.Errorf("the log lost %d calls here", l.Lost)
	}
	if l.Of == "" {
		return nil, nil, errors.New("it does not say which conversation it belongs to")
	}
	if l.Conversation != nil {
		d.open(l.Of, l.Conversation)
		return nil, nil, nil
	}
	now := d.byKey[l.Of]
	if now == nil { // the line that opens it was lost
		now = d.open(l.Of, &Conversation{})
	}
	switch {
	case l.Run != nil:
		now.Runs = insertOrReplace(now.Runs, *l.Run, func(r Run) int { return r.N })
	case l.Part != nil:
		d.part(now, l)
	case l.Call != nil:
		if l.Call.Conversation != "" {
			now.ID = l.Call.Conversation
		}
		return now, d.call(now, l), nil
	default:
		return nil, nil, errors.New("it holds neither a conversation, nor a run, nor a part, nor a call")
	}
	return nil, nil, nil
}

func (d *decoder) open(key string, c *Conversation) *Conversation {
	c.key, c.Texts, c.book = key, map[int]string{}, &book{}
	if d.byKey == nil {
		d.byKey = map[string]*Conversation{}
	}
	if old := d.byKey[key]; old != nil {
		d.conversations = slices.DeleteFunc(d.conversations, func(other *Conversation) bool { return other == old })
	}
	d.conversations, d.byKey[key] = append(d.conversations, c), c
	return c
}

// part notes what a slot holds from now on.
func (d *decoder) part(c *Conversation, l line) {
	d.parts++
	c.book.setLogged(l.Slot, &slotContent{Part: *l.Part, hash: d.parts})
	if l.Text != nil && l.Part.Text != 0 {
		c.Texts[l.Part.Text] = *l.Text
	}
}

// call adds a call with what its slots hold now.
func (d *decoder) call(c *Conversation, l line) *ModelCall {
	l.Call.in = c.book
	l.Call.callSlots = c.book.readSlots(l.Call.N, l.Slots, l.Same, l.New)
	c.Calls = insertOrReplace(c.Calls, l.Call, func(c *ModelCall) int { return c.N })
	return l.Call
}

// insertOrReplace adds a run or a call, or replaces the earlier one. A log has calls in the order
// in which they ended, and again if an answer was read to its end later.
func insertOrReplace[T any](all []T, one T, n func(T) int) []T {
	at, ok := slices.BinarySearchFunc(all, n(one), func(other T, want int) int { return n(other) - want })
	if ok {
		all[at] = one
		return all
	}
	return slices.Insert(all, at, one)
}
