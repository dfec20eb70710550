// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// A JavaScript machine: QuickJS-NG as WebAssembly, spoken to in strings.

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	quickjs "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed prelude.js
var prelude string

// What the machine and QuickJS agree on.
const (
	pageSize    = 64 << 10
	stackSize   = 256 << 10
	undefined   = uint64(3) << 32 // a JSValue is a tag above 32 bits
	evalAsync   = 1 << 7          // JS_EVAL_FLAG_ASYNC: await is allowed, the value is a promise of {value}
	bufferHead  = 5               // the length of the output, and whether something was left out
	programName = "<program>"     // in the lines of a stack
)

// compiled is the machine's code, for the whole process: compiling takes a second of processor time.
var compiled = sync.OnceValue(wazero.NewCompilationCache)

// engine makes machines of one size.
type engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	memory  int64
	image   []byte  // the memory of a machine that has read the prelude: every machine begins with it
	first   machine // where things are in it
}

func newEngine(memory int64) (*engine, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithCompilationCache(compiled()).WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(memory / pageSize)).
		WithDebugInfoEnabled(false) // nobody reads which line of the interpreter's C a program ended in
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), memory: memory}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	workers := experimental.WithCompilationWorkers(ctx, min(8, runtime.GOMAXPROCS(0))) // a first program waits for this
	module, err := e.runtime.CompileModule(workers, quickjs.QuickJSWASM)
	if err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	e.module = module
	if err := e.takeImage(ctx); err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	return e, nil
}

// takeImage makes the first machine. To read the prelude takes many times as long as to copy
// what comes of it.
func (e *engine) takeImage(ctx context.Context) error {
	m, err := e.instantiate(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.boot(ctx, e.memory); err != nil {
		return err
	}
	e.image, e.first = bytes.Clone(m.memory.bytes), machine{rt: m.rt, ctx: m.ctx, world: m.world}
	return nil
}

func (e *engine) instantiate(ctx context.Context) (*machine, error) {
	// The module sees no clock, no randomness, no files, no environment and no arguments of ours.
	m := &machine{memory: &memory{}, known: map[string]api.Function{}}
	module, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, m.memory), e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	m.module = module
	return m, nil
}

// machine is one JavaScript world. It is used by one goroutine at a time; an error of its
// methods, except of evaluate, means that it is of no more use.
type machine struct {
	module   api.Module
	memory   *memory
	known    map[string]api.Function // those that were called: each has a stack of its own
	rt, ctx  uint64
	world    uint64 // the function that is the prelude
	dispatch uint64 // the function that it returned
	output   uint32 // address of the output
}

// settings are what the prelude is given.
type settings struct {
	Now       int64             `json:"now"`
	Seed      [4]int32          `json:"seed"`
	MaxOutput int               `json:"maxOutput"`
	MaxCalls  int               `json:"maxCalls"`
	Words     map[string]string `json:"words"`
}

// start makes a machine whose world is ready for a program.
func (e *engine) start(ctx context.Context, s settings) (*machine, error) {
	m, err := e.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	if err = m.restore(e); err == nil {
		err = m.prepare(ctx, s)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// restore makes a machine the one whose memory was kept. Nothing was on its stack.
func (m *machine) restore(e *engine) error {
	memory := m.module.Memory()
	if missing := len(e.image) - int(memory.Size()); missing > 0 {
		if _, ok := memory.Grow(uint32(missing / pageSize)); !ok {
			return errMemory
		}
	}
	if !memory.Write(0, e.image) {
		return errMemory
	}
	m.rt, m.ctx, m.world = e.first.rt, e.first.ctx, e.first.world
	return nil
}

// boot starts QuickJS and reads the prelude.
func (m *machine) boot(ctx context.Context, memory int64) (err error) {
	if m.rt, err = m.call(ctx, "JS_NewRuntime"); err != nil {
		return err
	}
	// Less than the whole memory, so that a program meets an error of its own before the end of all.
	if _, err = m.call(ctx, "JS_SetMemoryLimit", m.rt, uint64(memory-memory/4)); err != nil {
		return err
	}
	if _, err = m.call(ctx, "JS_SetMaxStackSize", m.rt, stackSize); err != nil {
		return err
	}
	if _, err = m.call(ctx, "js_std_init_handlers", m.rt); err != nil { // what js_std_loop_once needs
		return err
	}
	if m.ctx, err = m.call(ctx, "JS_NewContext", m.rt); err != nil {
		return err
	}
	world, thrown, err := m.evaluate(ctx, prelude, "<prelude>", 0)
	if err != nil || thrown != "" {
		return errors.Join(err, errors.New("the prelude: "+thrown))
	}
	m.world = world
	return nil
}

// prepare makes the world of one program.
func (m *machine) prepare(ctx context.Context, s settings) error {
	output, err := m.call(ctx, "calloc", 1, uint64(bufferHead+s.MaxOutput))
	if err != nil {
		return err
	}
	m.output = uint32(output)
	buffer, err := m.call(ctx, "JS_NewArrayBuffer", m.ctx, output, uint64(bufferHead+s.MaxOutput), 0, 0, 0)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	arg, err := m.string(ctx, string(text))
	if err != nil {
		return err
	}
	m.dispatch, err = m.apply(ctx, m.world, arg, buffer)
	return err
}

// close gives the memory back. Nothing may be asked of the machine afterwards.
func (m *machine) close() {
	_ = m.module.Close(context.Background())
	m.memory.giveBack()
}

// brief are functions that no program can make last: nobody need watch the clock for them.
var brief = map[string]bool{"malloc": true, "free": true, "JS_NewStringLen": true, "JS_NewNumber": true, "JS_HasException": true, "JS_GetException": true, "JS_FreeCString": true}

// call calls an exported function of the module.
func (m *machine) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	f := m.known[name]
	if f == nil {
		if f = m.module.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("javascript: the machine has no %s", name)
		}
		m.known[name] = f
	}
	if brief[name] {
		ctx = context.Background()
	}
	out, err := f.Call(ctx, args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return out[0], nil
}

var errMemory = errors.New("javascript: out of memory")

// put copies text into the machine's memory, ended by a zero byte.
func (m *machine) put(ctx context.Context, text string) (uint64, error) {
	p, err := m.call(ctx, "malloc", uint64(len(text)+1))
	if err != nil {
		return 0, err
	}
	memory := m.module.Memory()
	if p == 0 || !memory.WriteString(uint32(p), text) || !memory.WriteByte(uint32(p)+uint32(len(text)), 0) {
		return 0, errMemory
	}
	return p, nil
}

// string makes a JavaScript string.
func (m *machine) string(ctx context.Context, text string) (uint64, error) {
	p, err := m.put(ctx, text)
	if err != nil {
		return 0, err
	}
	v, err := m.call(ctx, "JS_NewStringLen", m.ctx, p, uint64(len(text)))
	if err != nil {
		return 0, err
	}
	if _, err := m.call(ctx, "free", p); err != nil {
		return 0, err
	}
	return v, m.pending(ctx)
}

// text reads a JavaScript value as a string.
func (m *machine) text(ctx context.Context, value uint64) (string, error) {
	size, err := m.put(ctx, "1234")
	if err != nil {
		return "", err
	}
	p, err := m.call(ctx, "JS_ToCStringLen2", m.ctx, size, value, 0)
	if err != nil {
		return "", err
	}
	if p == 0 {
		return "", errors.Join(errMemory, m.pending(ctx))
	}
	n, _ := m.module.Memory().ReadUint32Le(uint32(size))
	b, ok := m.module.Memory().Read(uint32(p), n)
	if !ok {
		return "", errMemory
	}
	text := string(b)
	if _, err := m.call(ctx, "JS_FreeCString", m.ctx, p); err != nil {
		return "", err
	}
	_, err = m.call(ctx, "free", size)
	return text, err
}

// apply calls a JavaScript function, whose arguments it takes over.
func (m *machine) apply(ctx context.Context, f uint64, args ...uint64) (uint64, error) {
	var b []byte
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	p, err := m.put(ctx, string(b))
	if err != nil {
		return 0, err
	}
	v, err := m.call(ctx, "JS_Call", m.ctx, f, undefined, uint64(len(args)), p)
	if err != nil {
		return 0, err
	}
	for _, a := range args {
		if _, err := m.call(ctx, "JS_FreeValue", m.ctx, a); err != nil {
			return 0, err
		}
	}
	if _, err := m.call(ctx, "free", p); err != nil {
		return 0, err
	}
	return v, m.pending(ctx)
}

// pending is the exception that is under way, as an error of the machine: the prelude throws
// none that a program could see, except where memory or the stack ends.
func (m *machine) pending(ctx context.Context) error {
	thrown, err := m.exception(ctx)
	if err == nil && thrown != "" {
		err = errors.New(thrown)
	}
	return err
}

// exception takes the exception that is under way, and its stack.
func (m *machine) exception(ctx context.Context) (string, error) {
	has, err := m.call(ctx, "JS_HasException", m.ctx)
	if err != nil || has == 0 {
		return "", err
	}
	v, err := m.call(ctx, "JS_GetException", m.ctx)
	if err != nil {
		return "", err
	}
	text, err := m.text(ctx, v)
	if err != nil {
		return "", err
	}
	name, err := m.put(ctx, "stack")
	if err != nil {
		return "", err
	}
	stack, err := m.call(ctx, "JS_GetPropertyStr", m.ctx, v, name)
	if err != nil {
		return "", err
	}
	if at, err := m.text(ctx, stack); err == nil {
		text += "\n" + at
	}
	return text, nil
}

// evaluate evaluates a text under a name. What it throws is not an error.
func (m *machine) evaluate(ctx context.Context, source, name string, flags uint64) (value uint64, thrown string, err error) {
	p, err := m.put(ctx, source)
	if err != nil {
		return 0, "", err
	}
	n, err := m.put(ctx, name)
	if err != nil {
		return 0, "", err
	}
	if value, err = m.call(ctx, "JS_Eval", m.ctx, p, uint64(len(source)), n, flags); err != nil {
		return 0, "", err
	}
	if thrown, err = m.exception(ctx); err != nil {
		return 0, "", err
	}
	for _, p := range []uint64{p, n} {
		if _, err := m.call(ctx, "free", p); err != nil {
			return 0, "", err
		}
	}
	return value, thrown, nil
}

// ask speaks to the prelude: an operation and its arguments, values that it takes over.
func (m *machine) ask(ctx context.Context, op string, args ...uint64) (string, error) {
	name, err := m.string(ctx, op)
	if err != nil {
		return "", err
	}
	v, err := m.apply(ctx, m.dispatch, append([]uint64{name}, args...)...)
	if err != nil {
		return "", err
	}
	text, err := m.text(ctx, v)
	if err != nil {
		return "", err
	}
	_, err = m.call(ctx, "JS_FreeValue", m.ctx, v)
	return text, err
}

// jobs runs whatever can go on.
func (m *machine) jobs(ctx context.Context) error {
	if _, err := m.call(ctx, "js_std_loop_once", m.ctx); err != nil {
		return err
	}
	return m.pending(ctx)
}

// printed is what the program has printed, and whether something was left out. It can be read
// after the machine was stopped.
func (m *machine) printed() (text string, cut bool) {
	memory := m.module.Memory()
	if memory == nil || m.output == 0 {
		return "", false
	}
	n, ok := memory.ReadUint32Le(m.output)
	if !ok {
		return "", false
	}
	flag, _ := memory.ReadByte(m.output + 4)
	b, ok := memory.Read(m.output+bufferHead, n)
	if !ok {
		return "", false
	}
	return string(b), flag != 0
}
