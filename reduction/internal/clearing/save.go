// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Content is stored before the messages say where it is.

import (
	"context"
	"errors"

	"github.com/einolean/einolean/reduction/internal/offload"
)

const (
	// maxFailures is how many writes in a row may fail before a pass stops trying: a store that is down would
	// otherwise slow down every model call.
	maxFailures = 3

	// maxReports is how many failures of a pass are reported one by one.
	maxReports = 3
)

var errStoreDown = errors.New("the store has failed too often")

// Saver stores the content that the changes of one pass replace.
type Saver struct {
	Decider *Decider
	Files   *offload.Offloader

	failures         int // writes in a row that failed
	reportedFailures int
}

// ContinueAfter makes the saver count failures on from those of another one; nil is none.
func (s *Saver) ContinueAfter(other *Saver) {
	if other != nil {
		s.failures, s.reportedFailures = other.failures, other.reportedFailures
	}
}

// Save stores the content that changes replace. It returns the changes that can be made, in the same list; the
// candidates that stay because storing failed; and whether anything differs from the plan.
func (s *Saver) Save(ctx context.Context, changes []Change) (kept []Change, lost []*Candidate, differs bool) {
	items := make([]offload.Item, 0, len(changes))
	for i := range changes {
		if f := &changes[i].Plan.file; f.item.Store != nil {
			items = append(items, f.item)
		}
	}
	var saved []offload.SaveResult
	if s.failures < maxFailures {
		saved = s.Files.SaveAll(ctx, items, maxFailures)
	}
	kept = changes[:0]
	for _, change := range changes {
		var result offload.SaveResult
		item := change.Plan.file.item
		switch {
		case item.Store == nil:
		case len(saved) > 0:
			result, saved = saved[0], saved[1:]
		default:
			result = s.save(ctx, item)
		}
		replaced := change.Replaces()
		change, ok, asPlanned := s.afterSave(ctx, change, result)
		differs = differs || !asPlanned
		switch {
		case ok:
			kept = append(kept, change)
		case replaced:
			lost = append(lost, change.Plan.Candidate)
		}
	}
	return kept, lost, differs
}

// afterSave returns a change as it is after the content of its result was saved, and saves what its references
// replace. ok is false if nothing is left of the change.
func (s *Saver) afterSave(ctx context.Context, c Change, result offload.SaveResult) (now Change, ok, asPlanned bool) {
	asPlanned = true
	if f := &c.Plan.file; f.item.Store != nil {
		if !s.recordOutcome(ctx, c.Plan.Candidate, result.Err) {
			return c, false, false
		}
		asPlanned = result.Path == f.path
		f.path, f.alreadyStored = result.Path, result.Existed
	}
	for _, refs := range []*[]reference{&c.Plan.argumentRefs, &c.Plan.mediaRefs} {
		if len(*refs) > 0 {
			kept, same := s.saveReferences(ctx, c.Plan.Candidate, *refs)
			*refs, asPlanned = kept, asPlanned && same
		}
	}
	if asPlanned {
		return c, true, true
	}
	c, _ = s.Decider.render(c.Plan)
	return c, c.Replaces(), false
}

// saveReferences stores what references replace, and returns the references whose content was stored. asPlanned is
// true if that was all of it, under the planned paths.
func (s *Saver) saveReferences(ctx context.Context, c *Candidate, refs []reference) (kept []reference, asPlanned bool) {
	asPlanned = true
	for _, ref := range refs {
		result := s.save(ctx, ref.item)
		if !s.recordOutcome(ctx, c, result.Err) {
			asPlanned = false
			continue
		}
		if ref.alreadyStored = result.Existed; result.Path != ref.path {
			asPlanned, ref.path = false, result.Path
			ref = s.Decider.renderer.withText(ref)
		}
		kept = append(kept, ref)
	}
	return kept, asPlanned
}

// save stores an item, unless the store has failed too often in a row.
func (s *Saver) save(ctx context.Context, item offload.Item) offload.SaveResult {
	if s.failures >= maxFailures {
		return offload.SaveResult{Err: errStoreDown}
	}
	return s.Files.Save(ctx, item)
}

// recordOutcome counts and reports failures. It returns whether content of a call was stored.
func (s *Saver) recordOutcome(ctx context.Context, c *Candidate, err error) bool {
	switch {
	case err == nil:
		s.failures = 0
	case !errors.Is(err, errStoreDown):
		s.failures++
		if s.reportedFailures < maxReports {
			s.reportedFailures++
			s.Decider.callbacks.ReportFailure(ctx, c, err)
		}
	}
	return err == nil
}
