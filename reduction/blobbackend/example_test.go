// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/blobbackend"
)

// Every conversation has a place of its own in one bucket. Any replica that serves it opens
// the same place.
func ExampleOpen() {
	ctx := context.Background()
	conversation := "42"

	// In production "s3://my-bucket?region=eu-central-1", "gs://my-bucket", "azblob://results".
	store, err := blobbackend.Open(ctx, "mem://", &blobbackend.Options{Prefix: "conversations/" + conversation})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	middleware, err := reduction.New(ctx, &reduction.Config{Backend: store, ProvideReadTool: true})
	if err != nil {
		log.Fatal(err)
	}
	_ = middleware // goes into Handlers of adk.ChatModelAgentConfig
	// Output:
}

// One open bucket serves all conversations: a Backend on it costs nothing to make.
func ExampleNew() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or blob.OpenBucket(ctx, url), once for the process
	defer bucket.Close()

	for _, conversation := range []string{"41", "42"} {
		store, err := blobbackend.New(bucket, &blobbackend.Options{Prefix: "conversations/" + conversation})
		if err != nil {
			log.Fatal(err)
		}
		// Models may give the same id to calls of different conversations.
		err = store.Create(ctx, "/tmp/trunc/functions.grep:0", strings.NewReader("found in "+conversation))
		if err != nil {
			log.Fatal(err)
		}
		// A second writer of the name is refused.
		err = store.Create(ctx, "/tmp/trunc/functions.grep:0", strings.NewReader("something else"))
		fmt.Println(conversation, "again:", errors.Is(err, fs.ErrExist))
	}
	// Output:
	// 41 again: true
	// 42 again: true
}

// A job that runs once a day deletes what no conversation has needed for a month. A model that
// asks for it all the same is told which call to make again.
func ExampleBackend_DeleteUnused() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	if err := bucket.WriteAll(ctx, "conversations/42/tmp/trunc/call_1", []byte("an old result"), nil); err != nil {
		log.Fatal(err)
	}

	all, err := blobbackend.New(bucket, &blobbackend.Options{Prefix: "conversations"})
	if err != nil {
		log.Fatal(err)
	}
	month := 30 * 24 * time.Hour
	clean := func(now time.Time) {
		deleted, _, err := all.DeleteUnused(ctx, "", now.Add(-month))
		if err != nil {
			log.Print(err) // the rest goes with the next run
		}
		fmt.Println("deleted:", deleted)
	}
	clean(time.Now())
	clean(time.Now().Add(2 * month)) // as if two months had passed

	// A conversation that is over goes at once.
	over, _, err := all.DeleteUnused(ctx, "42", time.Now())
	fmt.Println("of conversation 42:", over, err)
	// Output:
	// deleted: 0
	// deleted: 1
	// of conversation 42: 0 blobbackend: deleting below "42": nothing is stored there: file does not exist
}
