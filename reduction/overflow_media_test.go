// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config field ClearMedia, and requests that a provider refuses for their images.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// shooting is a run of a model that takes screenshots, one a call, with a provider that refuses some requests.
type shooting[M adk.MessageType] struct {
	*adktest.Narrow[M]
	cfg       *reduction.TypedConfig[M]
	shots     int
	history   []M
	overflows int
}

func newShooting[M adk.MessageType](shots int, refuse func(images []string) error) *shooting[M] {
	var turns []adktest.Turn
	for i := range shots {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "photo", Args: shotArgs(i)}))
	}
	s := &shooting[M]{shots: shots, history: []M{adktest.User[M]("look around")}}
	s.Narrow = &adktest.Narrow[M]{Model: adktest.Script[M](append(turns, adktest.Say("the answer"))...)}
	s.Refuse = func(input []M) error { return refuse(imagesOf(input)) }
	s.cfg = reduction.RecommendedTyped[M](store.NewMemory(0))
	s.cfg.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindOverflow {
			s.overflows++
		}
	}
	return s
}

func shotArgs(n int) string { return fmt.Sprintf(`{"n":%d}`, n) }

// imagesOf are the images of messages, the oldest first.
func imagesOf[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		out = append(out, mediaIn(m)...)
	}
	return out
}

func (s *shooting[M]) play(t *testing.T, streaming bool) adktest.Outcome[M] {
	return adktest.Agent[M]{Model: s.Model, Tools: []tool.BaseTool{camera{}}, Streaming: streaming, Max: s.shots + 2,
		Handlers:  adktest.Handlers(typed(t, s.cfg)),
		Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = s.Narrow }}.Run(context.Background(), s.history)
}

// A run takes sixty screenshots, and the provider takes twenty: the run goes on, and the model sees the newest one.
func TestClearMedia_ManyScreenshotsDoNotEndRun(t *testing.T) {
	adktest.Both(t, testClearMediaManyScreenshotsDoNotEndRun[*schema.Message], testClearMediaManyScreenshotsDoNotEndRun[*schema.AgenticMessage])
}

func testClearMediaManyScreenshotsDoNotEndRun[M adk.MessageType](t *testing.T, streaming bool) {
	for _, limit := range []int{20, 5} {
		for _, window := range []int64{0, 100_000} {
			for _, text := range []string{"Too many images in the request.", "too many images: %d images were provided, but the model supports a maximum of %d images"} {
				s := newShooting[M](60, func(images []string) error {
					if len(images) <= limit {
						return nil
					}
					if strings.Contains(text, "%d") {
						return fmt.Errorf(text, len(images), limit)
					}
					return errors.New(text)
				})
				s.cfg.WindowTokens = window
				out := s.play(t, streaming)
				require.NoError(t, out.Err)
				require.Equal(t, "the answer", out.Answer())
				require.Len(t, s.Wires(), 61)
				require.Equal(t, s.overflows, len(s.Refused()), "each refusal is recovered")
				require.LessOrEqual(t, s.overflows, 1, "what was learned counts")
				for n, w := range s.Wires()[1:] {
					images := imagesOf(w.Messages)
					require.LessOrEqual(t, len(images), limit)
					require.NotEmpty(t, images, "request %d", n+1)
					require.Equal(t, picture(shotArgs(n)), images[len(images)-1], "request %d has the newest image", n+1)
				}
			}
		}
	}
}

// Without ClearMedia, WindowTokens and Overflow, media stay.
func TestClearMedia_ZeroValueKeepsMedia(t *testing.T) {
	adktest.Both(t, testClearMediaZeroValueKeepsMedia[*schema.Message], testClearMediaZeroValueKeepsMedia[*schema.AgenticMessage])
}

func testClearMediaZeroValueKeepsMedia[M adk.MessageType](t *testing.T, streaming bool) {
	s := newShooting[M](30, func([]string) error { return nil })
	s.cfg.ClearMedia, s.cfg.Overflow = false, nil
	require.NoError(t, s.play(t, streaming).Err)
	wires := s.Wires()
	require.Len(t, imagesOf(wires[len(wires)-1].Messages), 30)

	s = newShooting[M](30, func([]string) error { return nil })
	require.NoError(t, s.play(t, streaming).Err)
	wires = s.Wires()
	require.Less(t, len(imagesOf(wires[len(wires)-1].Messages)), 30, "Recommended offloads them")
}

// A history of whole results has more images than the provider takes.
func TestOverflow_HistoryWithTooManyImages(t *testing.T) {
	adktest.Both(t, testOverflowHistoryWithTooManyImages[*schema.Message], testOverflowHistoryWithTooManyImages[*schema.AgenticMessage])
}

func testOverflowHistoryWithTooManyImages[M adk.MessageType](t *testing.T, streaming bool) {
	for _, text := range []string{
		"Too many images.", "At most 4 image(s) may be provided in one request.", "The total size of all images exceeds 20 MB",
		"The total size of the images exceeds the maximum of 50 megabytes.",
		"At most 50 image(s) may be provided in one request.", // counted otherwise than here
	} {
		s := newShooting[M](3, func(images []string) error {
			if len(images) > 4 {
				return errors.New(text)
			}
			return nil
		})
		s.cfg.MaxTokensForClear = 1_000_000
		for i := range 15 {
			id := fmt.Sprint("h", i)
			s.history = append(s.history, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "photo", Args: shotArgs(100 + i)}),
				imageResult[M](id, picture(shotArgs(100+i))))
		}
		s.history = append(s.history, adktest.Assistant[M]("seen"), adktest.User[M]("go on"))
		require.NoError(t, s.play(t, streaming).Err, text)
		for n, w := range s.Wires() {
			newest := picture(shotArgs(max(n-1, 0)))
			if n == 0 {
				newest = picture(shotArgs(114))
			}
			images := imagesOf(w.Messages)
			require.Equal(t, newest, images[len(images)-1])
		}
	}
}

func imageResult[M adk.MessageType](id, data string) M {
	return shapeOf[M]().result(id, "photo", part{medium: "image", data: data})
}

// One image that the provider does not take leaves the prompt if a tool has returned it, and only that one.
func TestOverflow_RefusedImageOfToolIsReplaced(t *testing.T) {
	adktest.Both(t, testOverflowRefusedImageOfToolIsReplaced[*schema.Message], testOverflowRefusedImageOfToolIsReplaced[*schema.AgenticMessage])
}

func testOverflowRefusedImageOfToolIsReplaced[M adk.MessageType](t *testing.T, streaming bool) {
	for _, text := range []string{
		"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5327908 bytes > 5242880 bytes",
		`{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`,
	} {
		bad := picture(shotArgs(3))
		refuse := func(images []string) error {
			for _, image := range images {
				if image == bad {
					return errors.New(text)
				}
			}
			return nil
		}
		s := newShooting[M](8, refuse)
		s.cfg.MaxTokensForClear = 1_000_000
		require.NoError(t, s.play(t, streaming).Err, text)
		require.Equal(t, 1, s.overflows, "it is known from then on")
		wires := s.Wires()
		require.Len(t, imagesOf(wires[len(wires)-1].Messages), 7, "the others stay")

		// The user's own image is not replaced: the error says what is wrong.
		s = newShooting[M](1, refuse)
		s.history = []M{sentPicture[M](bad)}
		require.Error(t, s.play(t, streaming).Err)
		require.Len(t, s.Refused(), 1)

		// Nor is that of a tool that is never cleared.
		s = newShooting[M](8, refuse)
		s.cfg.ClearExcludeTools = []string{"photo"}
		require.Error(t, s.play(t, streaming).Err)
	}
}

// A body that is too large for a server in between is mostly images.
func TestOverflow_RequestOfTooManyBytesLosesOldestImages(t *testing.T) {
	adktest.Both(t, testOverflowRequestOfTooManyBytesLosesOldestImages[*schema.Message], testOverflowRequestOfTooManyBytesLosesOldestImages[*schema.AgenticMessage])
}

func testOverflowRequestOfTooManyBytesLosesOldestImages[M adk.MessageType](t *testing.T, streaming bool) {
	s := newShooting[M](12, func(images []string) error {
		if len(strings.Join(images, "")) > 6*len(picture(shotArgs(1))) {
			return errors.New(`413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`)
		}
		return nil
	})
	s.cfg.MaxTokensForClear = 1_000_000
	require.NoError(t, s.play(t, streaming).Err)
	for n, w := range s.Wires()[1:] {
		images := imagesOf(w.Messages)
		require.Equal(t, picture(shotArgs(n)), images[len(images)-1])
	}
}
