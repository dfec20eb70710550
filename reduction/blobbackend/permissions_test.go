// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	detector "github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/blobbackend"
)

// statement is one of a policy.
type statement struct {
	Effect    string
	Principal any `json:",omitempty"`
	Action    []string
	Resource  string
}

// documented is the policy of docs/operations.md.
func documented(t *testing.T) (all []statement) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, found)
	var policy struct{ Statement []statement }
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(found[1]), "my-bucket", bucketName)), &policy))
	require.NotEmpty(t, policy.Statement)
	return policy.Statement
}

// withUser is the URL of a bucket on a server of its own, with a user who may do nothing yet, and what
// gives the user a policy and counts the unfinished uploads.
func withUser(t *testing.T) (where string, allow func(...statement), left func() int) {
	t.Helper()
	serverDir(t) // skips where the test starts no server
	program, err := installed()
	if given := os.Getenv(serverVar); given != "" {
		program, err = given, nil
	}
	require.NoError(t, err)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, os.Getenv(name)) // start changes them
	}
	g := gateway{options: []string{"--iam-dir", t.TempDir()}}
	where, err = g.start(program)
	require.NoError(t, err)
	t.Cleanup(g.stop)
	root, bucket := client(t, where)
	at, err := url.Parse(where)
	require.NoError(t, err)
	admin := exec.Command(program, "admin", "--access", os.Getenv("AWS_ACCESS_KEY_ID"), "--secret", os.Getenv("AWS_SECRET_ACCESS_KEY"), "--endpoint-url", at.Query().Get("endpoint"),
		"create-user", "--access", "agent", "--secret", "agents-secret", "--role", "user")
	out, err := admin.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Setenv("AWS_ACCESS_KEY_ID", "agent")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "agents-secret")
	allow = func(all ...statement) {
		for i := range all {
			all[i].Principal = map[string]any{"AWS": []string{"agent"}}
		}
		policy, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": all})
		require.NoError(t, err)
		_, err = root.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &bucket, Policy: aws.String(string(policy))})
		require.NoError(t, err)
	}
	return where, allow, func() int {
		out, err := root.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &bucket})
		require.NoError(t, err)
		for _, u := range out.Uploads {
			_, err := root.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId})
			require.NoError(t, err)
		}
		return len(out.Uploads)
	}
}

// With the permissions in docs/operations.md a store keeps its whole contract, and without any one of them
// something fails.
//
//claim:operations-01
func TestPermissions_DocumentedOnesSufficeAndAreNeeded(t *testing.T) {
	detector.Skip(t, "shares nothing that the tests of the contract do not")
	where, allow, left := withUser(t)
	require.Error(t, uses(t, where, left), "without a policy")
	allow(documented(t)...)
	require.NoError(t, uses(t, where, left))
	t.Run("contract", func(t *testing.T) {
		einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend { return openOn(t, where) })
	})
	n := 0
	for i, s := range documented(t) {
		for _, action := range s.Action {
			n++
			less := documented(t)
			less[i].Action = slices.DeleteFunc(less[i].Action, func(a string) bool { return a == action })
			if len(less[i].Action) == 0 {
				less = slices.Delete(less, i, i+1)
			}
			allow(less...)
			require.Error(t, uses(t, where, left), "without %s", action)
		}
	}
	require.Equal(t, 6, n)
}

// uses does with a store what needs a permission, and joins what fails.
func uses(t *testing.T, where string, left func() int) (all error) {
	t.Helper()
	b := open(t, where, &blobbackend.Options{Prefix: "used/" + strings.ToLower(time.Now().Format("150405.000000000"))})
	ctx := context.Background()
	note := func(err error) { all = errors.Join(all, err) }
	note(b.Write(ctx, &filesystem.WriteRequest{FilePath: "/a", Content: "short"}))
	_, err := b.Read(ctx, &filesystem.ReadRequest{FilePath: "/a"})
	note(err)
	note(b.Create(ctx, "/long", strings.NewReader(strings.Repeat("long", 3<<20))))
	note(b.MarkUsed(ctx, "/a"))
	_ = b.Create(ctx, "/breaks", &breaks{left: 12 << 20}) // its parts must go
	_, _, err = b.Stored(ctx, "")
	note(err)
	_, _, err = b.DeleteUnused(ctx, "", time.Now().Add(time.Hour))
	note(err)
	if left() > 0 {
		note(errors.New("an upload is left"))
	}
	return all
}

// breaks is a content that fails in the middle.
type breaks struct{ left int }

func (b *breaks) Read(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("it breaks")
	}
	return len(p), nil
}
