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
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/redis/go-redis/v9"
)

// Store is a Backend that reads by ranges, takes streams, and deletes what was not used for long. A file is gone TTL after
// it was last used; zero: never. Beside each file, in the same slot of a cluster, a key has the time of its last use, by
// the clock of the process that used it.
type Store struct {
	Client redis.UniversalClient
	Prefix string
	TTL    time.Duration
}

func (s *Store) key(filePath string) (string, error) {
	if name := path.Clean(strings.TrimLeft(filePath, "/")); name != "." && name != ".." && !strings.HasPrefix(name, "../") {
		return s.Prefix + escaped.Replace(name), nil
	}
	return "", &fs.PathError{Op: "redis", Path: filePath, Err: fs.ErrInvalid}
}

// escaped keeps braces, which name the slot of a key, out of names.
var escaped = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

// used is the key with the time of a file's last use.
func used(key string) string { return "{" + key + "}used" }

func now() int64 { return time.Now().UnixMilli() }

// touch records that a file is used, if it is there.
func (s *Store) touch(ctx context.Context, tx redis.Pipeliner, key string) {
	tx.SetXX(ctx, used(key), now(), s.TTL)
	if s.TTL > 0 {
		tx.Expire(ctx, key, s.TTL)
	}
}

// Write replaces a file.
func (s *Store) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	key, err := s.key(req.FilePath)
	if err != nil {
		return err
	}
	tx := s.Client.TxPipeline()
	tx.Set(ctx, key, req.Content, s.TTL)
	tx.Set(ctx, used(key), now(), s.TTL)
	_, err = tx.Exec(ctx)
	return err
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
	s.touch(ctx, tx, key) // in the same step, so that what was found stays
	if _, err = tx.Exec(ctx); errors.Is(err, redis.Nil) {
		err = nil // there was nothing to touch
	}
	if err != nil || there.Val() == 0 {
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
	}
	moved, err := finish.Run(ctx, s.Client, []string{part, key, used(key)}, now(), s.TTL.Milliseconds()).Bool()
	if err != nil || !moved {
		return cmp.Or(err, fs.ErrExist)
	}
	return nil
}

// finish gives a complete part the name of its file, if that is free, and records its use.
var finish = redis.NewScript(`
if redis.call("EXISTS", KEYS[2]) == 1 then return 0 end
redis.call("RENAME", KEYS[1], KEYS[2])
redis.call("SET", KEYS[3], ARGV[1])
if tonumber(ARGV[2]) > 0 then redis.call("PEXPIRE", KEYS[3], ARGV[2]) end
return 1`)

// MarkUsed records that files are used.
func (s *Store) MarkUsed(ctx context.Context, filePaths ...string) (invalid error) {
	pipe := s.Client.Pipeline()
	for _, filePath := range filePaths {
		key, err := s.key(filePath)
		if err != nil {
			invalid = err // and the others are marked
			continue
		}
		s.touch(ctx, pipe, key)
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return invalid
}

// deleteOld deletes a file that was last used before a time, in one step. It returns its size, negative if it stays.
var deleteOld = redis.NewScript(`
local last = redis.call("GET", KEYS[2])
if redis.call("EXISTS", KEYS[1]) == 0 or not last or tonumber(last) >= tonumber(ARGV[1]) then return -1 end
local size = redis.call("STRLEN", KEYS[1])
redis.call("DEL", KEYS[1], KEYS[2])
return size`)

// DeleteUnused deletes the files below dir that were last used before since.
func (s *Store) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	isEmpty := true
	err = s.each(ctx, dir, func(key string) error {
		isEmpty = false
		size, err := deleteOld.Run(ctx, s.Client, []string{key, used(key)}, since.UnixMilli()).Int64()
		if err == nil && size >= 0 {
			files, bytes = files+1, bytes+size
		}
		return err
	})
	if err == nil && isEmpty && strings.Trim(dir, "/") != "" {
		err = &fs.PathError{Op: "redis", Path: dir, Err: fs.ErrNotExist}
	}
	return files, bytes, err
}

// Stored counts the files below dir.
func (s *Store) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	err = s.each(ctx, dir, func(key string) error {
		size, err := s.Client.StrLen(ctx, key).Result()
		files, bytes = files+1, bytes+size
		return err
	})
	return files, bytes, err
}

// each calls f for the key of each file below dir.
func (s *Store) each(ctx context.Context, dir string, f func(key string) error) error {
	below := s.Prefix
	if strings.Trim(dir, "/") != "" {
		key, err := s.key(dir)
		if err != nil {
			return err
		}
		below = key + "/"
	}
	var mu sync.Mutex
	seen := make(map[string]bool) // SCAN may return a key more than once
	scan := func(ctx context.Context, node redis.Cmdable) error {
		found := node.Scan(ctx, 0, globbed.Replace(below)+"*", 1000).Iterator()
		for found.Next(ctx) {
			if key := found.Val(); !strings.HasPrefix(key, "{") { // neither a part nor a time
				mu.Lock()
				seen[key] = true
				mu.Unlock()
			}
		}
		return found.Err()
	}
	err := error(nil)
	if cluster, ok := s.Client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return scan(ctx, node) })
	} else {
		err = scan(ctx, s.Client)
	}
	for key := range seen {
		if err == nil {
			err = f(key)
		}
	}
	return err
}

// globbed escapes a text for the patterns of SCAN.
var globbed = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "^", `\^`)

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
