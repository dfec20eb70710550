// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

// Runs are invented over made-up systems: web pages, web services, databases, logs, and documents.
// Their results spread evenly, on a logarithmic scale, from 1 to 100 kB.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/cloudwego/eino/schema"
)

// inventedKinds are the kinds of work, each on a system of its own, with the number of runs of each.
var inventedKinds = []struct {
	name    string
	runs    int
	tasks   int // in one run, at most
	rounds  int // of calls in one task, at most
	returns func(w *worker, size int) string
}{
	{"web", 45, 1, 25, (*worker).webPage},
	{"service", 55, 1, 25, (*worker).records},
	{"desk", 30, 1, 20, (*worker).booking},
	{"database", 25, 1, 20, (*worker).table},
	{"terminal", 35, 1, 40, (*worker).output},
	{"repository", 45, 1, 50, (*worker).source},
	{"documents", 25, 1, 20, (*worker).document},
	{Days, 40, 8, 0, nil},
}

// Days is the kind of runs of several tasks.
const Days = "days"

const (
	smallest, largest = 1_000., 100_000. // bytes of a result
	largestBooking    = 4_000.           // of one of a desk
)

// Invent makes all invented runs. It makes the same ones each time.
func Invent(each func(Recorded) error) error {
	for k, kind := range inventedKinds {
		for i := range kind.runs {
			if err := each(inventOne(k, uint64(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// InventOne makes the invented run of a name.
func InventOne(name string) (Recorded, bool) {
	for k, kind := range inventedKinds {
		for i := range kind.runs {
			if name == fmt.Sprintf("%s-%d", kind.name, i) {
				return inventOne(k, uint64(i)), true
			}
		}
	}
	return Recorded{}, false
}

func inventOne(kind int, seed uint64) Recorded {
	k := inventedKinds[kind]
	w := &worker{Rand: rand.New(rand.NewPCG(seed, uint64(100+kind)))}
	msgs := []*schema.Message{schema.SystemMessage("You are a careful assistant. Use the tools; say what you found and quote it.\n" + w.document(4_000+w.IntN(20_000)))}
	for range 1 + w.IntN(k.tasks) {
		t := task{worker: w, kind: kind}
		if k.returns == nil {
			t.kind = w.IntN(len(inventedKinds) - 1)
		}
		msgs = t.add(msgs)
	}
	return Recorded{Name: fmt.Sprintf("%s-%d", k.name, seed), Kind: k.name, Conversation: New(msgs)}
}

// task is one question of the user, the calls that it takes, and the answer.
type task struct {
	*worker
	kind        int
	typicalSize float64 // bytes of its results
	maxSize     float64
	taskResults []string // results
}

// size draws one: most results are small, most bytes in few large ones.
func (t *task) size() float64 {
	return smallest * math.Pow(t.maxSize/smallest, math.Pow(t.Float64(), 4))
}

func (t *task) add(msgs []*schema.Message) []*schema.Message {
	k := inventedKinds[t.kind]
	msgs = append(msgs, schema.UserMessage(fmt.Sprintf("Look into %s of %s and tell me what matters.", k.name, t.words(4))))
	t.maxSize = largest
	if k.name == "desk" {
		t.maxSize = largestBooking
	}
	t.typicalSize = t.size()
	for range 4 + int(math.Exp(t.uniform(1.5, math.Log(float64(k.rounds))))) {
		var calls []schema.ToolCall
		for range 1 + max(0, t.IntN(6)-4) {
			args := map[string]any{"query": t.words(3), "page": t.IntN(9)}
			if t.IntN(15) == 0 {
				args["draft"] = t.document(1000 + t.IntN(5000))
			}
			calls = append(calls, t.call(k.name+"__"+pick(t.worker, []string{"get", "search", "list"}), args))
		}
		msgs = append(msgs, schema.AssistantMessage(t.thinking()+t.quoteRemark(), calls))
		for _, c := range calls {
			out := t.result(k.returns)
			t.taskResults = append(t.taskResults, out)
			t.addResult(c, out)
			msgs = append(msgs, schema.ToolMessage(out, c.ID, schema.WithToolName(c.Function.Name)))
		}
	}
	return append(msgs, schema.AssistantMessage(t.summary(), nil))
}

// result is what one call returns, now and then what an earlier one did: nothing has changed
// since, or a part of a file is looked at again.
func (t *task) result(returns func(*worker, int) string) string {
	if n := len(t.taskResults); n > 0 {
		switch t.IntN(24) {
		case 0, 1:
			return pick(t.worker, t.taskResults)
		case 2, 3, 4:
			if inventedKinds[t.kind].name == "repository" {
				return part(t.worker, pick(t.worker, t.taskResults))
			}
		}
	}
	size := t.typicalSize * math.Exp(t.NormFloat64())
	if t.IntN(2) == 0 {
		size = t.size()
	}
	return returns(t.worker, int(max(smallest, min(t.maxSize, size))))
}

// thinking is what an agent says before a call.
func (t *task) thinking() string {
	return fmt.Sprintf("I look into the %s, since the %s. ", t.words(2), t.words(t.IntN(80)))
}
