// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What a history says that later calls and the stores must know: the files that it names, and the question that
// the model is working on.

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// noticeFiles lists, sorted, the files that the notices among results name. A notice that names a file that its call
// could not have written is ignored: a tool has made it up.
func (s *settings[M]) noticeFiles(results []rounds.Result) (files []string) {
	for _, r := range results {
		n := notice.FromTexts(r.Texts)
		if n.Path == "" {
			continue
		}
		if n.IsPlaceholder() || s.cfg.GenTruncOffloadFilePath != nil || offload.BelongsToCall(n.Path, r.ID) {
			files = append(files, offload.Clean(n.Path))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// resultsWithNotices lists the results that may be or contain notices.
func resultsWithNotices[M adk.MessageType](msgs []M) (results []rounds.Result) {
	for _, m := range msgs {
		for p := message.Parts(m); p.Next(); {
			if p.Kind == message.Result && hasEnvelope(p.Part) {
				results = append(results, rounds.ResultIn(p.Part))
			}
		}
	}
	return results
}

func hasEnvelope(result message.Part) bool {
	for item := result.Parts(); item.Next(); {
		if notice.HasEnvelope(item.Text()) {
			return true
		}
	}
	return false
}

// recordNoticeFiles records, for calls that run next, which of their future files the notices in the history
// already name. They must not write to these.
func (s *settings[M]) recordNoticeFiles(ctx context.Context, msgs []M, calls []rounds.Call) {
	named := s.noticeFiles(resultsWithNotices(msgs))
	s.files.ReservePaths(ctx, named)
	wanted := make(map[string]bool, len(calls))
	for _, c := range calls {
		wanted[offload.Clean(offload.DefaultPath(s.cfg.RootDir, offload.TruncDir, c.ID))] = true
	}
	var taken []string
	for _, file := range named {
		// A generator may return any of the names next.
		if wanted[file] || s.cfg.GenTruncOffloadFilePath != nil {
			taken = append(taken, file)
		}
	}
	_ = adk.SetRunLocalValue(ctx, noticeFilesKey, taken)
}

// markUsed tells the stores, from time to time, which files the history names.
func (s *settings[M]) markUsed(ctx context.Context, msgs []M) {
	if !slices.ContainsFunc(s.files.Stores, func(store *offload.Store) bool { return store.Cleaner != nil }) {
		return
	}
	if !runFrom(ctx, s).startMarking() {
		return
	}
	files := s.referencedFiles(msgs)
	if len(files) == 0 {
		return
	}
	for _, store := range s.files.Stores {
		if err := store.MarkUsed(ctx, files); err != nil && ctx.Err() == nil {
			s.reporter.Send(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
		}
	}
}

// referencedFiles lists, sorted, all files that a history names in notices, for results, media and arguments. A
// name that a tool made up does no harm.
func (s *settings[M]) referencedFiles(msgs []M) []string {
	files := make(map[string]bool)
	add := func(texts []string) {
		for _, text := range texts {
			if n := notice.Parse(text); n.Path != "" {
				files[n.Path] = true
			}
		}
	}
	for _, msg := range msgs {
		v := rounds.ViewOf(msg, rounds.View{})
		add(v.UserMediaRefs)
		for _, r := range v.Results {
			add(r.Texts)
			add(r.MediaRefs)
		}
		for _, c := range v.Calls {
			for _, file := range offload.PathsIn(s.cfg.RootDir, c.Args) {
				files[file] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// maxQuestionText is how many bytes of a message a question contains at most.
const maxQuestionText = 1000

// recordQuestion records the last texts of the user and the model, for previews of the results of the calls that
// the model has just made.
func (s *settings[M]) recordQuestion(ctx context.Context, msgs []M) {
	_, model := textOf(msgs[len(msgs)-1])
	user := ""
	for i := len(msgs) - 1; i >= 0 && user == ""; i-- {
		user, _ = textOf(msgs[i])
	}
	_ = adk.SetRunLocalValue(ctx, questionKey, lastBytes(user)+"\n"+lastBytes(model))
}

// textOf returns the text of a message of the user or the model.
func textOf[M adk.MessageType](m M) (user, model string) {
	var texts []string
	for part := message.Parts(m); part.Next(); {
		if part.Kind == message.Text {
			texts = append(texts, part.Text())
		}
	}
	switch text := strings.Join(texts, "\n"); message.Role(m) {
	case schema.User:
		return text, ""
	case schema.Assistant:
		return "", text
	}
	return "", ""
}

func lastBytes(text string) string { return text[display.Ceil(text, len(text)-maxQuestionText):] }
