// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// What edits take out is stored before the messages say where it is.

import (
	"context"
	"errors"

	"github.com/einolean/einolean/reduction/internal/offload"
)

// maxFailures is how many writes in a row may fail before a pass stops trying: a store
// that is down would otherwise slow every model call. It is also how many failures a
// pass reports one by one.
const maxFailures = 3

var errStoreDown = errors.New("the store has failed too often")

// Saver stores what the edits of one pass take out.
type Saver struct {
	*Decider
	Files     *offload.Offloader
	OnFailure func(ctx context.Context, r *Candidate, err error) // is told the first failures

	failures         int // writes in a row that failed
	reportedFailures int // failures that were reported one by one
}

// Save stores what the edits take out. It returns those of which that has succeeded, in the same list, how
// many results and calls stay as they were because of the others, and whether anything is other than decided.
func (s *Saver) Save(ctx context.Context, edits []Change) (kept []Change, lost int, differs bool) {
	items := make([]offload.Item, 0, len(edits))
	for i := range edits {
		if f := &edits[i].file; f.item.Store != nil {
			items = append(items, f.item)
		}
	}
	saved := s.Files.SaveAll(ctx, items, maxFailures)
	kept = edits[:0]
	for _, e := range edits {
		var got offload.SaveResult
		item := e.file.item
		switch {
		case item.Store == nil:
		case len(saved) > 0:
			got, saved = saved[0], saved[1:]
		default:
			got = s.save(ctx, item)
		}
		replaced := e.Replaces()
		e, ok, same := s.afterSave(ctx, e, got)
		differs = differs || !same
		switch {
		case ok:
			kept = append(kept, e)
		case replaced:
			lost++
		}
	}
	return kept, lost, differs
}

// stored returns an edit as it is now that the content of its result was saved, and saves what its
// references replace. ok is false if nothing is left of it, same is true if it is as decided.
func (s *Saver) afterSave(ctx context.Context, e Change, got offload.SaveResult) (now Change, ok, same bool) {
	same = true
	if item := e.file.item; item.Store != nil {
		if !s.recordOutcome(ctx, e.Candidate, got.Err) {
			return e, false, false
		}
		same, e.file.path, e.file.alreadyStored = got.Path == e.file.path, got.Path, got.Existed
	}
	for _, all := range []*[]reference{&e.argumentRefs, &e.mediaRefs} {
		if len(*all) > 0 {
			kept, as := s.saveReferences(ctx, e.Candidate, *all)
			*all, same = kept, same && as
		}
	}
	if same {
		return e, true, true
	}
	e, _ = s.edit(e.Plan)
	return e, e.Replaces(), false
}

// saveReferences stores what references replace, and returns those of which that succeeded. same is
// true if all did, under the expected paths.
func (s *Saver) saveReferences(ctx context.Context, r *Candidate, all []reference) (kept []reference, same bool) {
	same = true
	for _, each := range all {
		got := s.save(ctx, each.item)
		if !s.recordOutcome(ctx, r, got.Err) {
			same = false
			continue
		}
		if each.alreadyStored = got.Existed; got.Path != each.path {
			same, each.path = false, got.Path
			each = s.render(each)
		}
		kept = append(kept, each)
	}
	return kept, same
}

// save stores an item, unless the store has failed too often in a row.
func (s *Saver) save(ctx context.Context, item offload.Item) offload.SaveResult {
	if s.failures >= maxFailures {
		return offload.SaveResult{Err: errStoreDown}
	}
	return s.Files.Save(ctx, item)
}

// succeeded reports whether content of a call was stored, and counts and reports failures.
func (s *Saver) recordOutcome(ctx context.Context, r *Candidate, err error) bool {
	switch {
	case err == nil:
		s.failures = 0
	case !errors.Is(err, errStoreDown):
		s.failures++
		if s.reportedFailures < maxFailures {
			s.reportedFailures++
			s.OnFailure(ctx, r, err)
		}
	}
	return err == nil
}
