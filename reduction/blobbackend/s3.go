// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

const (
	// cleanupTime is how long taking back a failed upload may last, after its own context.
	cleanupTime = 30 * time.Second

	// abandonedAfter is how old an unfinished upload must be to count as left behind by a
	// crash. A stream may be slow.
	abandonedAfter = 24 * time.Hour
)

// tuned bounds the memory of an upload to S3: the driver's own settings hold 16 MiB before
// the first part. It also has the parts of a cancelled upload deleted.
func tuned(bucket *blob.Bucket) func(as func(any) bool) error {
	return func(as func(any) bool) error {
		var client *s3.Client
		var uploader *transfermanager.Client
		if bucket.As(&client) && as(&uploader) {
			*uploader = *transfermanager.New(client, func(opts *transfermanager.Options) {
				opts.PartSizeBytes, opts.MultipartUploadThreshold = partSize, partSize
				opts.Concurrency, opts.FailTimeout = uploading, cleanupTime
			})
		}
		return nil
	}
}

// quiet keeps the driver from logging that S3 has no checksum of a whole upload in parts.
func quiet(as func(any) bool) error {
	var options *[]func(*s3.Options)
	if as(&options) {
		*options = append(*options, func(o *s3.Options) { o.DisableLogOutputChecksumValidationSkipped = true })
	}
	return nil
}

// conflict reports whether S3 refused to write because another write of the same name was
// going on. It does not say which one will stay.
func conflict(err error) bool { return codeOf(err) == "ConditionalRequestConflict" }

// missing reports whether an error says that there is no such object. The driver for S3
// also says so of every error whose text holds "301", and the random ids of requests are
// part of that text: the code of S3 itself decides then.
func missing(err error) bool {
	if gcerrors.Code(err) != gcerrors.NotFound {
		return false
	}
	switch codeOf(err) {
	case "", "NoSuchKey", "NoSuchBucket", "NotFound", "ObjectNotInActiveTierError":
		return true
	}
	return false
}

// refused reports whether an error says that the condition of a write does not hold.
func refused(err error) bool {
	return gcerrors.Code(err) == gcerrors.FailedPrecondition || codeOf(err) == "PreconditionFailed"
}

// listOptions are those for what is below a directory.
func listOptions(dir string, resume *s3.ListMultipartUploadsInput) *blob.ListOptions {
	if dir != "" && dir[len(dir)-1] != '/' {
		dir += "/"
	}
	return &blob.ListOptions{Prefix: dir, BeforeList: func(as func(any) bool) error {
		var in *s3.ListObjectsV2Input
		if as(&in) {
			resume.Bucket, resume.Prefix = in.Bucket, in.Prefix
		}
		return nil
	}}
}

// giveUp takes back the uploads that were begun before t and never finished. A server that
// keeps no list of them has none to take back.
func giveUp(ctx context.Context, o objects, resume *s3.ListMultipartUploadsInput, t time.Time) error {
	var client *s3.Client
	if resume.Bucket == nil || !o.bucket.As(&client) {
		return nil
	}
	if oldest := time.Now().Add(-abandonedAfter); t.After(oldest) {
		t = oldest
	}
	pages := s3.NewListMultipartUploadsPaginator(client, resume)
	for pages.HasMorePages() {
		page, err := withTimeout(ctx, o.limit,
			func(ctx context.Context) (*s3.ListMultipartUploadsOutput, error) { return pages.NextPage(ctx) })
		if err != nil {
			return unlessUnknown(err)
		}
		for _, upload := range page.Uploads {
			if upload.Initiated == nil || !upload.Initiated.Before(t) {
				continue
			}
			abort := &s3.AbortMultipartUploadInput{Bucket: resume.Bucket, Key: upload.Key, UploadId: upload.UploadId}
			_, err := withTimeout(ctx, o.limit, func(ctx context.Context) (*s3.AbortMultipartUploadOutput, error) {
				return client.AbortMultipartUpload(ctx, abort)
			})
			if err != nil && codeOf(err) != "NoSuchUpload" { // somebody else was faster
				return err
			}
		}
	}
	return nil
}

// unlessUnknown drops the error of a server that does not know a request.
func unlessUnknown(err error) error {
	if codeOf(err) == "NotImplemented" {
		return nil
	}
	return err
}

// codeOf is what S3 calls an error, or empty.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}
