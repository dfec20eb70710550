// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package redis keeps results in Redis: a store to copy. Its test holds it to the contract of stores.
package redis

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/redis/go-redis/v9"
)

// Store is a Backend that reads by ranges and takes streams. A file is gone TTL after it was last written or read; zero: never.
type Store struct {
	Client redis.UniversalClient
	Prefix string
	TTL    time.Duration
}

func (s *Store) key(filePath string) (string, error) {
	if name := path.Clean(strings.TrimLeft(filePath, "/")); name != "." && name != ".." && !strings.HasPrefix(name, "../") {
		return s.Prefix + name, nil
	}
	return "", &fs.PathError{Op: "redis", Path: filePath, Err: fs.ErrInvalid}
}

// Write replaces a file.
func (s *Store) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	key, err := s.key(req.FilePath)
	if err != nil {
		return err
	}
	return s.Client.Set(ctx, key, req.Content, s.TTL).Err()
}

// ReadRange reads a part of a file, as it is now.
func (s *Store) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	key, err := s.key(filePath)
	if err != nil || offset < 0 {
		return nil, 0, cmp.Or(err, fs.ErrInvalid)
	}
	most := int64(min(uint64(length), 512<<20)) // no value is longer
	tx := s.Client.TxPipeline()
	there, size, part := tx.Exists(ctx, key), tx.StrLen(ctx, key), tx.GetRange(ctx, key, offset, offset+most)
	if s.TTL > 0 { // in the same step, so that what was found stays
		tx.Expire(ctx, key, s.TTL)
	}
	if _, err = tx.Exec(ctx); err != nil || there.Val() == 0 {
		return nil, 0, cmp.Or(err, fs.ErrNotExist)
	}
	return io.NopCloser(io.LimitReader(strings.NewReader(part.Val()), most)), size.Val(), nil
}

// Create stores a stream, which is there whole or not at all.
func (s *Store) Create(ctx context.Context, filePath string, content io.Reader) error {
	key, err := s.key(filePath)
	n, failed := s.Client.Exists(ctx, key).Result()
	if err = cmp.Or(err, failed); err != nil || n > 0 {
		return cmp.Or(err, fs.ErrExist)
	}
	part := "{" + key + "}" + rand.Text() // gets the file's name in the end; in a cluster it is where key is
	defer s.Client.Del(context.WithoutCancel(ctx), part)
	err = s.Client.Set(ctx, part, "", s.TTL).Err()
	size := int64(0)
	for from, buf := bufio.NewReader(content), make([]byte, 64<<10); err == nil; {
		n, failed := from.Read(buf)
		size += int64(n)
		err = cmp.Or(s.append(ctx, part, string(buf[:n]), size), failed)
	}
	if err != io.EOF {
		return err
	} else if moved, err := s.Client.RenameNX(ctx, part, key).Result(); err != nil || !moved {
		return cmp.Or(err, fs.ErrExist)
	}
	return nil
}

var errExpired = errors.New("redis: the stream paused for longer than TTL, and its start expired")

// append adds to a part, which has the given size afterwards and TTL from now on.
func (s *Store) append(ctx context.Context, part, content string, size int64) error {
	tx := s.Client.TxPipeline()
	total := tx.Append(ctx, part, content)
	if s.TTL > 0 {
		tx.Expire(ctx, part, s.TTL)
	}
	if _, err := tx.Exec(ctx); err != nil {
		return err
	}
	if total.Val() != size {
		return errExpired
	}
	return nil
}
