// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// The notice at the end of a truncated stream.

import (
	"math"
	"unicode/utf8"

	previews "github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
)

const (
	// maxTail bounds the end of a stream that its notice shows, in bytes.
	maxTail = 8 << 10

	// tailShare is the part of the free bytes that is reserved for the end of a stream: one third. Free are the
	// bytes of the limit that the notice itself does not need.
	tailShare = 3

	// maxCustomPath is the length that is assumed for a path that the user's code chooses. A longer path leaves less
	// room for the end of the stream.
	maxCustomPath = 256

	// errorShare is the part of the bytes after the head that error lines may take: one half.
	errorShare = 2

	// maxErrorBytes bounds the error lines of a stream that its notice shows.
	maxErrorBytes = 4 << 10
)

// streamNotice renders the notice that ends a truncated stream.
type streamNotice struct {
	texts  *notice.Texts
	common notice.Data      // fields that all notices share
	limit  int              // bytes of the truncated stream, with the notice
	errors *previews.Errors // lines that look like errors; nil: results have no preview
}

// maxHead returns how many bytes may be passed on before the notice. It is negative if the notice does not fit into
// the limit. The path of the notice has at most pathBytes; hasCustomPath says that the user's code may choose it.
func (n *streamNotice) maxHead(pathBytes int, hasCustomPath bool) int {
	longest := n.data(0, n.limit, "")
	longest.Bytes, longest.TailBytes = math.MaxInt, n.limit
	longest = n.texts.WithHint(longest)
	stored, unsaved := n.texts.Stream.Length(longest), n.texts.Unsaved.Length(longest)
	if hasCustomPath {
		pathBytes = max(pathBytes, min(maxCustomPath, n.limit-stored-utf8.UTFMax))
	}
	free := n.limit - max(stored+pathBytes, unsaved) - utf8.UTFMax
	return free - min(maxTail, free/tailShare)
}

// data returns the data of a notice for a stream of size bytes, of which the first head bytes come before it.
func (n *streamNotice) data(size, head int, path string) notice.Data {
	data := n.common
	data.Bytes, data.HeadBytes, data.Path = size, head, path
	return data
}

// fits reports whether there is room for a notice with a path, which may still get a suffix.
func (n *streamNotice) fits(size, head int, path string) bool {
	data := n.data(size, head, path+offload.Padding)
	_, ok := n.texts.RenderStreamEnd(n.texts.Stream, data, "", n.limit-head)
	return ok && notice.Showable(path)
}

// render returns the notice. An empty path means that nothing was stored, which the notice then says.
func (n *streamNotice) render(size, head int, path, tail string) string {
	if path != "" {
		data := n.data(size, head, path)
		if text := n.renderWithErrors(data, tail); text != "" {
			return text
		}
		if text, ok := n.texts.RenderStreamEnd(n.texts.Stream, data, tail, n.limit-head); ok {
			return text
		}
	}
	text, _ := n.texts.RenderStreamEnd(n.texts.Unsaved, n.data(size, head, ""), tail, n.limit-head)
	return text
}

// renderWithErrors returns the notice with the error lines between head and tail. It is empty if there are none, or
// if they do not fit.
func (n *streamNotice) renderWithErrors(data notice.Data, tail string) string {
	data.TailBytes = data.Bytes
	room := (n.limit - data.HeadBytes - n.texts.StreamWithErrors.Length(n.texts.WithHint(data))) / errorShare
	maxBytes := min(room, maxErrorBytes)
	// The tail gets the room that the error lines leave. Lines that it shows are left out.
	data.Preview = n.errors.Lines(data.HeadBytes, data.Bytes, maxBytes)
	data.Preview = n.errors.Lines(data.HeadBytes, data.Bytes-(2*room-len(data.Preview)), maxBytes)
	if data.Preview == "" {
		return ""
	}
	text, _ := n.texts.RenderStreamEnd(n.texts.StreamWithErrors, data, tail, n.limit-data.HeadBytes)
	return text
}
