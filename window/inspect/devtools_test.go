// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// browser is the first of the names that Chromium goes by.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is here: the page was not opened in a browser")
	return ""
}

// devtools is a browser with one tab at a time. It is not safe for concurrent use.
type devtools struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	next    int
	events  []event       // since the page was opened
	drawn   time.Duration // from asking for the page until it was drawn whole
}

// event is what the browser tells without being asked.
type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// started is the browser of all tests, nil before the first that needs it.
var started *devtools

// end ends the browser.
var end = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	end()
	os.Exit(code)
}

// start starts a browser.
func start(t *testing.T, path string) *devtools {
	t.Helper()
	profile, err := os.MkdirTemp("", "inspect")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	commands, in, err := os.Pipe()
	require.NoError(t, err)
	out, answers, err := os.Pipe()
	require.NoError(t, err)
	c := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run", "--hide-scrollbars",
		"--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text", "--lang=en-US", "--remote-debugging-pipe", "--user-data-dir="+profile)
	c.ExtraFiles = []*os.File{commands, answers}
	c.WaitDelay = 10 * time.Second
	require.NoError(t, c.Start())
	_, _ = commands.Close(), answers.Close()
	b := &devtools{in: in, out: bufio.NewReaderSize(out, 1<<20)}
	end = func() {
		b.session = ""
		_ = b.send("Browser.close", nil)
		_ = c.Wait()
		cancel()
		_, _ = in.Close(), out.Close()
		_ = os.RemoveAll(profile)
	}
	return b
}

// launch opens a tab with a profile of its own, which ends with the test.
func launch(t *testing.T) *devtools {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	race.Skip(t, "starts a browser: the detector sees nothing of it")
	path := browser(t)
	if started == nil {
		started = start(t, path)
	}
	b := started
	b.t, b.session, b.events = t, "", nil
	var profile struct{ BrowserContextID string }
	b.call("Target.createBrowserContext", nil, &profile)
	t.Cleanup(func() {
		b.t, b.session = t, ""
		b.call("Target.disposeBrowserContext", map[string]any{"browserContextId": profile.BrowserContextID}, nil)
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": profile.BrowserContextID}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func (b *devtools) send(method string, params any) error {
	b.next++
	message := map[string]any{"id": b.next, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = b.in.Write(append(text, 0))
	return err
}

// message is an answer or an event.
type message struct {
	event
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (b *devtools) read() (m message) {
	text, err := b.out.ReadBytes(0)
	require.NoError(b.t, err, "the browser has gone")
	require.NoError(b.t, json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m))
	if m.ID == 0 {
		b.events = append(b.events, m.event)
	}
	return m
}

// call asks the browser for something and waits for its answer.
func (b *devtools) call(method string, params, result any) {
	b.t.Helper()
	require.NoError(b.t, b.send(method, params))
	for {
		m := b.read()
		if m.ID != b.next {
			continue
		}
		require.Nil(b.t, m.Error, "%s", method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// view is how a page is looked at.
type view struct {
	name          string
	width, height int
	dark, touch   bool
}

// open loads a file and returns when it has been drawn.
func (b *devtools) open(v view, file string) {
	b.t.Helper()
	b.look(v)
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for !b.happened("Page.loadEventFired") {
		b.read()
	}
	var ms float64
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))`, &ms)
	b.drawn = time.Duration(ms * float64(time.Millisecond))
}

// look sets the size of the tab and the user's preferences.
func (b *devtools) look(v view) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.width, "height": v.height, "deviceScaleFactor": 1, "mobile": v.touch}, nil)
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
}

func (b *devtools) happened(method string) bool {
	for _, e := range b.events {
		if e.Method == method {
			return true
		}
	}
	return false
}

// eval evaluates an expression in the page and reads its value as JSON.
func (b *devtools) eval(expression string, into any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if d := answer.ExceptionDetails; d != nil {
		require.FailNow(b.t, "in the page: "+d.Text, d.Exception.Description)
	}
	if into != nil {
		require.NoError(b.t, json.Unmarshal(answer.Result.Value, into), "%s", expression)
	}
}

// press presses a key.
func (b *devtools) press(key string) {
	b.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
	down := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key], "code": key}
	if text := map[string]string{"Enter": "\r", " ": " "}[key]; text != "" {
		down["text"] = text
	} else if len(key) == 1 {
		down["text"] = key
	}
	b.call("Input.dispatchKeyEvent", down, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key], "code": key}, nil)
}

// screenshot is what is to be seen.
func (b *devtools) screenshot() image.Image {
	b.t.Helper()
	var answer struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &answer)
	data, err := base64.StdEncoding.DecodeString(answer.Data)
	require.NoError(b.t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(b.t, err)
	return img
}

// complaints are what the page wrote into the console, what it threw, and what it asked
// the network for, since it was opened.
func (b *devtools) complaints() (all []string) {
	b.t.Helper()
	b.eval("1", nil) // reads what is under way
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
			all = append(all, e.Method+" "+string(e.Params))
		case "Network.requestWillBeSent", "Network.webSocketCreated":
			var p struct {
				Type    string
				Request struct{ URL string }
			}
			require.NoError(b.t, json.Unmarshal(e.Params, &p))
			if p.Type != "Document" || !strings.HasPrefix(p.Request.URL, "file://") {
				all = append(all, fmt.Sprintf("%s %s %s", e.Method, p.Type, p.Request.URL))
			}
		}
	}
	return all
}

// named is a node of the tree that a screen reader reads.
type named struct{ Role, Name string }

// spoken returns what a screen reader reads.
func (b *devtools) spoken() (all []named) {
	b.t.Helper()
	type value struct{ Value any }
	var answer struct {
		Nodes []struct {
			Ignored    bool
			Role, Name value
		}
	}
	b.call("Accessibility.getFullAXTree", nil, &answer)
	for _, n := range answer.Nodes {
		if !n.Ignored {
			all = append(all, named{fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)})
		}
	}
	return all
}
