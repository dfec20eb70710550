// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedia_ProviderErrors(t *testing.T) {
	for _, e := range []struct {
		text    string
		problem MediaProblem
		limit   int
	}{
		{"At most 1 image(s) may be provided in one request.", TooManyMedia, 1},
		{"{'object': 'error', 'message': 'At most 5 image(s) may be provided in one request.', 'type': 'BadRequestError', 'param': None, 'code': 400}", TooManyMedia, 5},
		{"Request contains 52 images, exceeding the maximum of 50 allowed per request", TooManyMedia, 50},
		{"The request contains too many images: 11 images were provided, but the model supports a maximum of 10 images.", TooManyMedia, 10},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"too many images and documents: 120 + 0 > 100"}}`, TooManyMedia, 100},
		{`400 {"error":{"message":"Too much media: 0 document pages + 107 images > 100"}}`, TooManyMedia, 100},
		{"Too many images in request. Max is 20.", TooManyMedia, 0},
		{"messages.19.content.27.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", TooManyMedia, 0},
		{"The total size of all images exceeds 20 MB", TooManyMedia, 0},
		{"The total size of the images exceeds the maximum of 50 megabytes.", TooManyMedia, 0},
		{"The total size of the images exceeds the maximum of 50 mebibytes.", TooManyMedia, 0},
		{"The total size of all images exceeds the limit of 20-MB", TooManyMedia, 0},
		{"The total size of the images exceeds the maximum of 5,000 kilobytes", TooManyMedia, 0},
		{"图片总大小超过 20 兆", TooManyMedia, 0},
		{"Too many images: a maximum of 10, 5 MB each", TooManyMedia, 10},
		{"图片数量过多，最多支持 10 张图片", TooManyMedia, 10},
		{"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 5327908 bytes > 5242880 bytes", LargeMedium, 0},
		{"Input image is too large", LargeMedium, 0},
		{"Image exceeds the limit of 20 megabytes per file", LargeMedium, 0},
		{`{"error":{"message":"Could not process image"}}`, BadMedium, 0},
		{"The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].", BadMedium, 0},
		{"messages.11.content.8.image.source.base64.data: Image format image/png not supported", BadMedium, 0},
		{"图片格式不支持或已损坏", BadMedium, 0},

		{"Rate limit reached: too many images per minute", NoMediaProblem, 0},
		{"This model does not support image input", NoMediaProblem, 0},
		{"No endpoints found that support image input", NoMediaProblem, 0},
		{"This model's maximum context length is 8192 tokens, with 12 images", NoMediaProblem, 0},
		{"file not found", NoMediaProblem, 0},
		{"prompt is too long: 208310 tokens > 200000 maximum", NoMediaProblem, 0},
	} {
		problem, limit := Media(e.text)
		require.Equal(t, e.problem, problem, e.text)
		require.Equal(t, e.limit, limit, e.text)
	}
}

func TestRequestSize_ProviderErrors(t *testing.T) {
	for text, want := range map[string]bool{
		`API Error: 413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}} (Status: 413)`: true,
		"413 Payload Too Large": true,
		`{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`: true,
		"prompt is too long: 208310 tokens > 200000 maximum":                                                                    false,
		"413 Request too large for model `m` on tokens per minute (TPM): Limit 12000, Requested 14711":                          false,
	} {
		require.Equal(t, want, RequestSize(text), text)
	}
}
