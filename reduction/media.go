// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Images, sounds, films and files, which a request with a known window cannot keep for
// ever: they become references, and the read tool brings them back as what they were.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// mediaName begins the names of files with media. The rest is a hash of the
	// content, so that a name is known before anything is written, and holds one
	// medium for ever.
	mediaName = "media-"

	// mediaSaving is about how many tokens a reference saves.
	mediaSaving = mediaTokens - 60

	// maxMediaType is the most bytes of a medium's type that a reference shows.
	maxMediaType = 64
)

// attachment is a medium that a reference replaces.
type attachment struct {
	medium
	content string // as JSON, so that it can be made again
	text    string // of the reference
	dest    vault.Place
	path    string
	existed bool
}

// oldMedia lists the media of an old result, if the window is known.
func (p *clearPass[M]) oldMedia(r *oldResult) (out []*attachment) {
	if p.phase.cfg.WindowTokens == 0 || r.rule.store == nil || r.rule.leave != "" || r.rule.clear != nil {
		return nil
	}
	for _, m := range p.phase.codec.media(p.msgs[r.at]) {
		if m.result == r.result.index {
			out = append(out, &attachment{medium: m})
		}
	}
	return out
}

// attached makes the references to media, and leaves out those that cannot be stored.
func (p *clearPass[M]) attached(media []*attachment) []*attachment {
	out := media[:0:0]
	for _, a := range media {
		content, err := json.Marshal(a.is)
		if err != nil {
			continue // what somebody put into Extra cannot be written
		}
		sum := sha256.Sum256(content)
		name := mediaName + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
		a.content, a.path = string(content), path.Join(p.phase.cfg.RootDir, vault.ClearDir, name)
		a.dest.Path = a.path
		p.mention(a)
		out = append(out, a)
	}
	return out
}

// mention makes the text of a reference.
func (p *clearPass[M]) mention(a *attachment) {
	data := p.data
	data.path, data.bytes, data.medium = a.path, len(a.content), string(a.is.Type)
	data.finds, data.hint = false, ""
	if c := mediumOf(&a.is); len(c.MIMEType) <= maxMediaType && showable(c.MIMEType) && !strings.ContainsAny(c.MIMEType, "<>{}") {
		data.medium = cmp.Or(c.MIMEType, data.medium)
	}
	a.text = p.notices.fill(p.notices.medium, data)
}

// moved is the edit that puts references in place of a result's media.
func (p *clearPass[M]) moved(r *oldResult) (out []movedMedium) {
	for _, a := range r.media {
		out = append(out, movedMedium{result: a.result, part: a.part, text: a.text})
	}
	return out
}

// saveMedia stores the media of a result and keeps those that were stored. It reports
// whether these are all, under the names that were assumed.
func (p *clearPass[M]) saveMedia(ctx context.Context, r *oldResult) (same bool) {
	same = true
	kept := r.media[:0]
	for _, a := range r.media {
		path, existed, err := p.store(ctx, r, a.dest, a.content)
		if err != nil {
			same = false
			continue
		}
		same = same && path == a.path
		a.path, a.existed = path, existed
		p.mention(a)
		kept = append(kept, a)
	}
	r.media = kept
	return same
}

// mediaSaved estimates the tokens that references to media save.
func mediaSaved(media []*attachment) (n int) {
	for _, a := range media {
		n += mediaTokens - tokens.Estimate(a.text)
	}
	return n
}

// readMedium makes a medium again from what was stored of it. ok is false for a file that
// holds something else.
func readMedium(content []byte) (part schema.ToolOutputPart, ok bool) {
	if json.Unmarshal(content, &part) != nil || mediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false
	}
	return part, true
}

// readerFor returns the provided tool as an agent with these tools needs it: where the
// window is known and some tool returns parts, it returns media as what they were.
func (m *middleware[M]) readerFor(tools []tool.BaseTool) tool.BaseTool {
	if m.clear.cfg.WindowTokens > 0 && slices.ContainsFunc(tools, returnsParts) {
		return &mediaReader{m.reader}
	}
	return m.reader
}

func returnsParts(t tool.BaseTool) bool {
	switch t.(type) {
	case tool.EnhancedInvokableTool, tool.EnhancedStreamableTool:
		return true
	}
	return false
}

// mediaReader is the provided tool for a model that takes results of several parts. Eino
// prefers its enhanced form.
type mediaReader struct{ *provided }

// StreamableRun implements [tool.EnhancedStreamableTool].
func (r *mediaReader) StreamableRun(ctx context.Context, argument *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	args := ""
	if argument != nil {
		args = argument.Text
	}
	if part, ok := r.medium(ctx, readtool.Path(args)); ok {
		return schema.StreamReaderFromArray([]*schema.ToolResult{{Parts: []schema.ToolOutputPart{part}}}), nil
	}
	text, err := r.InvokableRun(ctx, args, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.ToolResult{textResult(text)}), nil
}

// medium reads a medium back.
func (r *mediaReader) medium(ctx context.Context, filePath string) (part schema.ToolOutputPart, ok bool) {
	if !isMediaFile(filePath) || !r.allowed(ctx, filePath) {
		return schema.ToolOutputPart{}, false
	}
	content, err := safe.Value("Backend", func() ([]byte, error) {
		file, _, err := (&union{r.stores}).ReadRange(ctx, filePath, 0, -1)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(file)
	})
	if err != nil {
		return schema.ToolOutputPart{}, false
	}
	return readMedium(content)
}

// isMediaFile reports whether a path is that of a medium.
func isMediaFile(filePath string) bool { return strings.HasPrefix(path.Base(filePath), mediaName) }
