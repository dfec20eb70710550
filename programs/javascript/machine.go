// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// A JavaScript machine: QuickJS-NG as WebAssembly. It exchanges strings with the host.

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

// Constants of QuickJS and of the prelude.
const (
	pageSize     = 64 << 10
	jsUndefined  = uint64(3) << 32 // a JSValue is a tag above 32 bits
	evalAsync    = 1 << 7          // JS_EVAL_FLAG_ASYNC: await is allowed, the value is a promise of {value}
	outputHeader = 5               // the length of the output, and whether something was left out
	programName  = "<program>"     // in the lines of a stack
)

// compilationCache is the compiled code of the machine, for the whole process. Compiling takes a
// second of processor time.
var compilationCache = sync.OnceValue(wazero.NewCompilationCache)

// engine creates machines of one memory size.
type engine struct {
	runtime  wazero.Runtime
	module   wazero.CompiledModule
	memory   int64
	image    []byte  // memory of a machine after it evaluated the prelude; every machine starts with a copy
	template machine // addresses within image
}

func newEngine(memory int64) (*engine, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithCompilationCache(compilationCache()).WithCloseOnContextDone(true).
		WithMemoryLimitPages(uint32(memory / pageSize)).
		WithDebugInfoEnabled(false) // nobody reads stack traces of the interpreter's C code
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
	if err := e.createImage(ctx); err != nil {
		return nil, errors.Join(err, e.runtime.Close(ctx))
	}
	return e, nil
}

// createImage creates the first machine and copies its memory. Evaluating the prelude takes many
// times as long as copying the result.
func (e *engine) createImage(ctx context.Context) error {
	m, err := e.instantiate(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.boot(ctx, e.memory); err != nil {
		return err
	}
	e.image, e.template = bytes.Clone(m.memory.bytes), machine{rt: m.rt, ctx: m.ctx, factory: m.factory}
	return nil
}

func (e *engine) instantiate(ctx context.Context) (*machine, error) {
	// The module sees no clock, no randomness, no files, no environment and no arguments of ours.
	m := &machine{memory: &memory{}, functions: map[string]api.Function{}}
	module, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, m.memory), e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	m.module = module
	return m, nil
}

// machine is one JavaScript world. It is used by one goroutine at a time. An error of its methods,
// except of evaluate, means that it is unusable.
type machine struct {
	module     api.Module
	memory     *memory
	functions  map[string]api.Function // exported functions that were called, by name
	rt, ctx    uint64
	factory    uint64 // the prelude's function
	dispatcher uint64 // the function that factory returned
	outputAddr uint32 // address of the output buffer
}

// programSettings is the argument of the prelude.
type programSettings struct {
	Now    int64             `json:"now"`
	Seed   [4]int32          `json:"seed"`
	Limits preludeLimits     `json:"limits"`
	Words  map[string]string `json:"words"`
}

// newMachine creates a machine for one program.
func (e *engine) newMachine(ctx context.Context, s programSettings) (*machine, error) {
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

// restore copies the image into the machine's memory. Its stack was empty.
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
	m.rt, m.ctx, m.factory = e.template.rt, e.template.ctx, e.template.factory
	return nil
}

// boot starts QuickJS and evaluates the prelude.
func (m *machine) boot(ctx context.Context, memory int64) (err error) {
	if m.rt, err = m.call(ctx, "JS_NewRuntime"); err != nil {
		return err
	}
	if _, err = m.call(ctx, "JS_SetMemoryLimit", m.rt, heapLimit(memory)); err != nil {
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
	m.factory = world
	return nil
}

// prepare creates the world of one program.
func (m *machine) prepare(ctx context.Context, s programSettings) error {
	output, err := m.call(ctx, "calloc", 1, uint64(outputHeader+s.Limits.Output))
	if err != nil {
		return err
	}
	m.outputAddr = uint32(output)
	buffer, err := m.call(ctx, "JS_NewArrayBuffer", m.ctx, output, uint64(outputHeader+s.Limits.Output), 0, 0, 0)
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	arg, err := m.newString(ctx, string(text))
	if err != nil {
		return err
	}
	m.dispatcher, err = m.callJS(ctx, m.factory, arg, buffer)
	return err
}

// close frees the memory. The machine must not be used afterwards.
func (m *machine) close() {
	_ = m.module.Close(context.Background())
	m.memory.release()
}

// quickFunctions are exported functions that a program cannot make slow. They are called without a
// context.
var quickFunctions = map[string]bool{"malloc": true, "free": true, "JS_NewStringLen": true, "JS_NewNumber": true, "JS_HasException": true, "JS_GetException": true, "JS_FreeCString": true}

// call calls an exported function of the module.
func (m *machine) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	f := m.functions[name]
	if f == nil {
		if f = m.module.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("javascript: the machine has no %s", name)
		}
		m.functions[name] = f
	}
	if quickFunctions[name] {
		ctx = context.Background()
	}
	out, err := f.Call(ctx, args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return out[0], nil
}

var errMemory = errors.New("javascript: out of memory")

// copyIn copies text into the machine's memory, with a zero byte at the end.
func (m *machine) copyIn(ctx context.Context, text string) (uint64, error) {
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

// newString creates a JavaScript string.
func (m *machine) newString(ctx context.Context, text string) (uint64, error) {
	p, err := m.copyIn(ctx, text)
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
	return v, m.pendingError(ctx)
}

// readString converts a JavaScript value to a string and returns it.
func (m *machine) readString(ctx context.Context, value uint64) (string, error) {
	size, err := m.copyIn(ctx, "1234")
	if err != nil {
		return "", err
	}
	p, err := m.call(ctx, "JS_ToCStringLen2", m.ctx, size, value, 0)
	if err != nil {
		return "", err
	}
	if p == 0 {
		return "", errors.Join(errMemory, m.pendingError(ctx))
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

// callJS calls a JavaScript function. It frees the arguments.
func (m *machine) callJS(ctx context.Context, f uint64, args ...uint64) (uint64, error) {
	var b []byte
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	p, err := m.copyIn(ctx, string(b))
	if err != nil {
		return 0, err
	}
	v, err := m.call(ctx, "JS_Call", m.ctx, f, jsUndefined, uint64(len(args)), p)
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
	return v, m.pendingError(ctx)
}

// pendingError returns the pending exception as an error. The prelude throws none that a program
// could catch, except when memory or the stack is exhausted.
func (m *machine) pendingError(ctx context.Context) error {
	thrown, err := m.exception(ctx)
	if err == nil && thrown != "" {
		err = errors.New(thrown)
	}
	return err
}

// exception takes the pending exception and returns it with its stack.
func (m *machine) exception(ctx context.Context) (string, error) {
	has, err := m.call(ctx, "JS_HasException", m.ctx)
	if err != nil || has == 0 {
		return "", err
	}
	v, err := m.call(ctx, "JS_GetException", m.ctx)
	if err != nil {
		return "", err
	}
	text, err := m.readString(ctx, v)
	if err != nil {
		return "", err
	}
	name, err := m.copyIn(ctx, "stack")
	if err != nil {
		return "", err
	}
	stack, err := m.call(ctx, "JS_GetPropertyStr", m.ctx, v, name)
	if err != nil {
		return "", err
	}
	if at, err := m.readString(ctx, stack); err == nil {
		text += "\n" + at
	}
	return text, nil
}

// evaluate evaluates a source text. An exception is returned as thrown, not as an error.
func (m *machine) evaluate(ctx context.Context, source, name string, flags uint64) (value uint64, thrown string, err error) {
	p, err := m.copyIn(ctx, source)
	if err != nil {
		return 0, "", err
	}
	n, err := m.copyIn(ctx, name)
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

// dispatch calls the prelude's dispatcher with an operation and its arguments, which it frees.
func (m *machine) dispatch(ctx context.Context, op string, args ...uint64) (string, error) {
	name, err := m.newString(ctx, op)
	if err != nil {
		return "", err
	}
	v, err := m.callJS(ctx, m.dispatcher, append([]uint64{name}, args...)...)
	if err != nil {
		return "", err
	}
	text, err := m.readString(ctx, v)
	if err != nil {
		return "", err
	}
	_, err = m.call(ctx, "JS_FreeValue", m.ctx, v)
	return text, err
}

// runJobs runs pending jobs, such as resolved promises.
func (m *machine) runJobs(ctx context.Context) error {
	if _, err := m.call(ctx, "js_std_loop_once", m.ctx); err != nil {
		return err
	}
	return m.pendingError(ctx)
}

// readOutput returns what the program has printed, and whether it was cut. It also works on a
// machine that was stopped.
func (m *machine) readOutput() (text string, cut bool) {
	memory := m.module.Memory()
	if memory == nil || m.outputAddr == 0 {
		return "", false
	}
	n, ok := memory.ReadUint32Le(m.outputAddr)
	if !ok {
		return "", false
	}
	flag, _ := memory.ReadByte(m.outputAddr + 4)
	b, ok := memory.Read(m.outputAddr+outputHeader, n)
	if !ok {
		return "", false
	}
	return string(b), flag != 0
}
