// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package journal saves the state of a run's programs in Eino's checkpoints: the programs, their
// pending calls, and the answers of each batch. A resumed run has no other state.
package journal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// Keys of run-local values. Eino encodes a value whenever it is set. So each batch has a key of its
// own.
const (
	recordKey = "__einolean_programs__record"
	baseKey   = "__einolean_programs__base"
	batchKey  = "__einolean_programs__batch_"
	turnsKey  = "__einolean_programs__turns"
	idsKey    = "__einolean_programs__ids"
)

func init() {
	schema.RegisterName[*Record]("einolean_programs_record")
	schema.RegisterName[*batch]("einolean_programs_batch")
}

// Record is the saved state of the programs of one message of the model. Its field names are a
// checkpoint format.
type Record struct {
	Programs []Kept
	Asked    []string // ids of the calls of the current program turn
	Batches  int
}

// Kept is the saved state of one program. Its name and those of its fields are in checkpoints: they must not change.
type Kept struct {
	ID     string // of its run_code call
	Inner  string // prefix of the ids of its calls
	Code   string
	Seed   string
	At     int64 // start time, in Unix milliseconds
	Rounds int   // batches of calls so far
	Ended  bool
	Output string
}

// batch holds the answers of one program turn.
type batch struct{ Answers []Answer }

// Answer is the answer to a call of a program.
type Answer struct {
	Program string // the program's id
	Number  int
	Tool    string // "" for stored(path)
	Text    string
	Failed  bool
}

// InnerID returns the id of a call of the program.
func (k *Kept) InnerID(number int) string { return k.Inner + "." + strconv.Itoa(number) }

// EndID returns the id of the program_output call that ends the program.
func (k *Kept) EndID() string { return k.Inner + "-end" }

// CallNumber returns the number of the program's call with an id; 0 if the id is not one of its
// calls.
func (k *Kept) CallNumber(id string) int {
	if len(id) <= len(k.Inner) || id[:len(k.Inner)] != k.Inner || id[len(k.Inner)] != '.' {
		return 0
	}
	n, err := strconv.Atoi(id[len(k.Inner)+1:])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// CollisionMark separates the prefix of a program's calls from a random part, where the usual ids
// exist already.
const CollisionMark = "~"

// RandomID returns 64 random bits as text, for a seed or an id.
func RandomID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// Journal is the state of one run's programs. The caller holds the run's lock.
type Journal struct {
	Record *Record // nil before the first Load
}

// Load returns the record. It reads it from the run at the first call.
func (j *Journal) Load(ctx context.Context) *Record {
	if j.Record == nil {
		saved, err := runLocal[*Record](ctx, recordKey)
		if err != nil {
			return &Record{}
		}
		if j.Record = saved; saved == nil {
			j.Record = &Record{}
		}
	}
	return j.Record
}

// Save writes a copy of the record to the run.
func (j *Journal) Save(ctx context.Context) error {
	dup := *j.Record
	dup.Programs, dup.Asked = slices.Clone(dup.Programs), slices.Clone(dup.Asked)
	return adk.SetRunLocalValue(ctx, recordKey, &dup)
}

// Forget deletes the record and everything that belongs to it.
func (j *Journal) Forget(ctx context.Context) error {
	for n := range j.Record.Batches {
		_ = adk.DeleteRunLocalValue(ctx, batchKey+strconv.Itoa(n))
	}
	j.Record = &Record{}
	_ = adk.DeleteRunLocalValue(ctx, baseKey)
	_ = adk.DeleteRunLocalValue(ctx, idsKey)
	return adk.DeleteRunLocalValue(ctx, recordKey)
}

// Answers returns the answers of all batches so far.
func (j *Journal) Answers(ctx context.Context) (all []Answer) {
	for n := range j.Record.Batches {
		if b, _ := runLocal[*batch](ctx, batchKey+strconv.Itoa(n)); b != nil {
			all = append(all, b.Answers...)
		}
	}
	return all
}

// AddBatch writes another batch of answers.
func (j *Journal) AddBatch(ctx context.Context, b []Answer) error {
	err := adk.SetRunLocalValue(ctx, batchKey+strconv.Itoa(j.Record.Batches), &batch{b})
	j.Record.Batches++
	return err
}

// SaveCollisions saves the ids of programs for whose calls the usual ids cannot be used.
func SaveCollisions(ctx context.Context, ids []string) error {
	if ids == nil {
		return adk.DeleteRunLocalValue(ctx, idsKey)
	}
	return adk.SetRunLocalValue(ctx, idsKey, ids)
}

// Collisions returns the ids that SaveCollisions saved.
func Collisions(ctx context.Context) []string {
	ids, _ := runLocal[[]string](ctx, idsKey)
	return ids
}

// runLocal returns a run-local value; zero if it is not set.
func runLocal[T any](ctx context.Context, key string) (value T, err error) {
	v, _, err := adk.GetRunLocalValue(ctx, key) // it fails outside a run
	value, _ = v.(T)
	return value, err
}

// Turns returns how many model calls the run has made, program turns included.
func Turns(ctx context.Context) int {
	n, _ := runLocal[string](ctx, turnsKey)
	turns, _ := strconv.Atoi(n)
	return turns
}

// CountTurn adds one to Turns.
func CountTurn(ctx context.Context) error {
	return adk.SetRunLocalValue(ctx, turnsKey, strconv.Itoa(Turns(ctx)+1))
}

// SaveBase saves which messages the history has before the programs. After a resume, that tells
// them from messages that other handlers inserted in program turns.
func SaveBase[M adk.MessageType](ctx context.Context, msgs []M) error {
	names := make([]string, len(msgs))
	for i, msg := range msgs {
		names[i] = messageKey(msg)
	}
	return adk.SetRunLocalValue(ctx, baseKey, names)
}

// LoadBase returns those of msgs that SaveBase saved.
func LoadBase[M adk.MessageType](ctx context.Context, msgs []M) (base []M) {
	names, _ := runLocal[[]string](ctx, baseKey)
	left := map[string]int{}
	for _, name := range names {
		left[name]++
	}
	for _, msg := range msgs {
		if name := messageKey(msg); left[name] > 0 {
			left[name]--
			base = append(base, msg)
		}
	}
	return base
}

// messageKey identifies a message: by Eino's id, or by a hash of its content.
func messageKey[M adk.MessageType](msg M) string {
	if id, ok := message.Extra(msg)["_eino_msg_id"].(string); ok && id != "" {
		return id
	}
	text, _ := json.Marshal(msg)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
