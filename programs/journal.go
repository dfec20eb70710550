// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// What a run keeps of its programs, in Eino's own checkpoints: what they are, which calls are being
// made, and what each batch of calls brought. A resumed run has nothing else.

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	schema.RegisterName[*record]("einolean_programs_record")
	schema.RegisterName[*batch]("einolean_programs_batch")
}

// record is what is kept of the programs of one message of the model.
type record struct {
	Programs []kept
	Asked    []string // the ids of the calls of the virtual turn under way
	Batches  int
}

// kept is what is kept of one program.
type kept struct {
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
type batch struct{ Answers []answer }

// answer is the answer to a call of a program.
type answer struct {
	Program string // its id
	Number  int
	Tool    string // "" for stored(path)
	Text    string
	Failed  bool
}

func (a answer) result() Result { return Result{Number: a.Number, Text: a.Text, Failed: a.Failed} }

// innerID is the id of a call that a program makes.
func (k *kept) innerID(number int) string { return k.Inner + "." + strconv.Itoa(number) }

// endID is the id of the call that ends a program.
func (k *kept) endID() string { return k.Inner + "-end" }

// number is that of the program's call with an id, 0 if it is none.
func (k *kept) number(id string) int {
	if len(id) <= len(k.Inner) || id[:len(k.Inner)] != k.Inner || id[len(k.Inner)] != '.' {
		return 0
	}
	n, err := strconv.Atoi(id[len(k.Inner)+1:])
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// mark is what tells ids of a program's calls from those of a model where the usual ones are taken.
const mark = "~"

// random is as much chance as a seed or an id needs.
func random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// runLocal returns a value that the run keeps; zero if there is none.
func runLocal[T any](ctx context.Context, key string) (value T, err error) {
	v, _, err := adk.GetRunLocalValue(ctx, key) // it fails outside a run
	value, _ = v.(T)
	return value, err
}

// turns is how many model calls the run has made, virtual ones too.
func turns(ctx context.Context) int {
	n, _ := runLocal[string](ctx, turnsKey)
	turns, _ := strconv.Atoi(n)
	return turns
}

func countTurn(ctx context.Context) error {
	return adk.SetRunLocalValue(ctx, turnsKey, strconv.Itoa(turns(ctx)+1))
}

// keepBase keeps which messages the conversation has, so that another process knows what others
// added to it in virtual turns.
func keepBase[M adk.MessageType](ctx context.Context, msgs []M) error {
	names := make([]string, len(msgs))
	for i, msg := range msgs {
		names[i] = nameOf(msg)
	}
	return adk.SetRunLocalValue(ctx, baseKey, names)
}

// baseOf is the conversation that was kept, of those of its messages that are there.
func baseOf[M adk.MessageType](ctx context.Context, msgs []M) (base []M) {
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
