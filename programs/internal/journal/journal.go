// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package journal is what a run keeps of its programs, in Eino's own checkpoints: what they are, which calls
// are being made, and what each batch of calls brought. A resumed run has nothing else.
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

// The keys of run-local values. A value is encoded whenever it is set, so what grows has keys of its
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

// Record is what is kept of the programs of one message of the model.
type Record struct {
	Programs []SavedProgram
	Asked    []string // the ids of the calls of the virtual turn under way
	Batches  int
}

// Kept is what is kept of one program.
type SavedProgram struct {
	ID     string // of its run_code call
	Inner  string // what the ids of its own calls begin with
	Code   string
	Seed   string
	At     int64 // when it began, in Unix milliseconds
	Rounds int   // how often it waited for tools
	Ended  bool
	Output string
}

// batch is what one virtual turn brought.
type batch struct{ Answers []Answer }

// Answer is the answer to a call of a program.
type Answer struct {
	Program string // its id
	Number  int
	Tool    string // "" for stored(path)
	Text    string
	Failed  bool
}

// InnerID is the id of a call that a program makes.
func (k *SavedProgram) InnerID(number int) string { return k.Inner + "." + strconv.Itoa(number) }

// EndID is the id of the call that ends a program.
func (k *SavedProgram) EndID() string { return k.Inner + "-end" }

// Number is that of the program's call with an id, 0 if it is none.
func (k *SavedProgram) Number(id string) int {
	if len(id) <= len(k.Inner) || id[:len(k.Inner)] != k.Inner || id[len(k.Inner)] != '.' {
		return 0
	}
	n, err := strconv.Atoi(id[len(k.Inner)+1:])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// Mark is what tells ids of a program's calls from those of a model where the usual ones are taken.
const Mark = "~"

// Random is as much chance as a seed or an id needs.
func Random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// Journal is that of one run. Who uses it holds the run's lock.
type Journal struct {
	Record *Record // nil before the first Read
}

// Read returns the record.
func (j *Journal) Read(ctx context.Context) *Record {
	if j.Record == nil {
		was, err := runLocal[*Record](ctx, recordKey)
		if err != nil {
			return &Record{}
		}
		if j.Record = was; was == nil {
			j.Record = &Record{}
		}
	}
	return j.Record
}

// Save hands the record to Eino.
func (j *Journal) Save(ctx context.Context) error {
	dup := *j.Record
	dup.Programs, dup.Asked = slices.Clone(dup.Programs), slices.Clone(dup.Asked)
	return adk.SetRunLocalValue(ctx, recordKey, &dup)
}

// Forget deletes everything.
func (j *Journal) Forget(ctx context.Context) error {
	for n := range j.Record.Batches {
		_ = adk.DeleteRunLocalValue(ctx, batchKey+strconv.Itoa(n))
	}
	j.Record = &Record{}
	_ = adk.DeleteRunLocalValue(ctx, baseKey)
	_ = adk.DeleteRunLocalValue(ctx, idsKey)
	return adk.DeleteRunLocalValue(ctx, recordKey)
}

// Answers are those of all batches so far.
func (j *Journal) Answers(ctx context.Context) (all []Answer) {
	for n := range j.Record.Batches {
		if b, _ := runLocal[*batch](ctx, batchKey+strconv.Itoa(n)); b != nil {
			all = append(all, b.Answers...)
		}
	}
	return all
}

// KeepBatch adds a batch.
func (j *Journal) KeepBatch(ctx context.Context, b []Answer) error {
	err := adk.SetRunLocalValue(ctx, batchKey+strconv.Itoa(j.Record.Batches), &batch{b})
	j.Record.Batches++
	return err
}

// KeepTaken keeps the programs whose calls cannot have the usual ids.
func KeepTaken(ctx context.Context, ids []string) error {
	if ids == nil {
		return adk.DeleteRunLocalValue(ctx, idsKey)
	}
	return adk.SetRunLocalValue(ctx, idsKey, ids)
}

// Taken are the programs that were kept so.
func Taken(ctx context.Context) []string {
	ids, _ := runLocal[[]string](ctx, idsKey)
	return ids
}

// runLocal returns a value that the run keeps; zero if there is none.
func runLocal[T any](ctx context.Context, key string) (value T, err error) {
	v, _, err := adk.GetRunLocalValue(ctx, key) // it fails outside a run
	value, _ = v.(T)
	return value, err
}

// Turns is how many model calls the run has made, virtual ones too.
func Turns(ctx context.Context) int {
	n, _ := runLocal[string](ctx, turnsKey)
	turns, _ := strconv.Atoi(n)
	return turns
}

// CountTurn counts one more.
func CountTurn(ctx context.Context) error {
	return adk.SetRunLocalValue(ctx, turnsKey, strconv.Itoa(Turns(ctx)+1))
}

// KeepBase keeps which messages the conversation has, so that another process knows what others
// added to it in virtual turns.
func KeepBase[M adk.MessageType](ctx context.Context, msgs []M) error {
	names := make([]string, len(msgs))
	for i, msg := range msgs {
		names[i] = nameOf(msg)
	}
	return adk.SetRunLocalValue(ctx, baseKey, names)
}

// BaseOf is the conversation that was kept, of those of its messages that are there.
func BaseOf[M adk.MessageType](ctx context.Context, msgs []M) (base []M) {
	names, _ := runLocal[[]string](ctx, baseKey)
	left := map[string]int{}
	for _, name := range names {
		left[name]++
	}
	for _, msg := range msgs {
		if name := nameOf(msg); left[name] > 0 {
			left[name]--
			base = append(base, msg)
		}
	}
	return base
}

// nameOf tells a message from others.
func nameOf[M adk.MessageType](msg M) string {
	if id, ok := message.Extra(msg)["_eino_msg_id"].(string); ok && id != "" {
		return id
	}
	text, _ := json.Marshal(msg)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
