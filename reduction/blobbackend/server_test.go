// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// serverVar chooses the server: the URL of a bucket, as Open takes it, with its
	// credentials in the environment; or the path of a versitygw program. Empty: versitygw
	// is installed from the Go module proxy, once.
	serverVar = "EINOLEAN_BUCKET"

	serverModule  = "github.com/versity/versitygw"
	serverVersion = "v1.8.0"

	findTime    = time.Minute // for the module proxy to answer
	installTime = 8 * time.Minute
	startTime   = 3 * time.Minute
)

// errNoServer means that there is none to be had here.
var errNoServer = errors.New("no S3 server")

// serverURL is the URL of a bucket on the server. The test is skipped where none can be had.
func serverURL(t testing.TB) string {
	t.Helper()
	text, err := theServer()
	if errors.Is(err, errNoServer) {
		t.Skipf("NOT TESTED against a server: %v. Set %s to the URL of a bucket or to a versitygw program.", err, serverVar)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// s3URL is serverURL for tests of what only S3 has.
func s3URL(t testing.TB) string {
	t.Helper()
	text := serverURL(t)
	if !strings.HasPrefix(text, "s3://") {
		t.Skipf("%s is no S3", text)
	}
	return text
}

// serverDir is where the bucket of a server that the test started is; the test is skipped
// for every other server.
func serverDir(t *testing.T) string {
	t.Helper()
	s3URL(t)
	if running.dir == "" {
		t.Skip("the server is not one that the test started")
	}
	return filepath.Join(running.dir, bucketName)
}

const bucketName = "einolean"

var theServer = sync.OnceValues(func() (string, error) {
	given := os.Getenv(serverVar)
	if strings.Contains(given, "://") {
		return given, nil
	}
	if given == "" {
		var err error
		if given, err = installed(); err != nil {
			return "", err
		}
	}
	text, err := running.start(given)
	for range 2 {
		if !errors.Is(err, errEnded) {
			break
		}
		text, err = running.start(given)
	}
	return text, err
})

func stopServer() { running.stop() }

// running is the server that this process started, if any.
var running gateway

type gateway struct {
	dir     string
	in      io.Closer // the server lives as long as this is open
	options []string  // of the program

	ended chan struct{} // closed when it has
}

// errEnded means that the server ended at once: others may have taken its port, which was free.
var errEnded = errors.New("the server has ended")

// start starts a program and waits until it answers.
func (g *gateway) start(program string) (string, error) {
	dir, err := os.MkdirTemp("", "einolean-s3-")
	if err != nil {
		return "", err
	}
	g.dir = dir
	if err := os.Mkdir(filepath.Join(dir, bucketName), 0o700); err != nil {
		return "", err
	}
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	key, secret, health := rand.Text(), rand.Text(), "/"+rand.Text()
	os.Setenv("AWS_ACCESS_KEY_ID", key)
	os.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	args := append([]string{program, "--port", address, "--access", key, "--secret", secret, "--quiet", "--health", health}, g.options...)
	cmd := command(context.Background(), task{Do: "watch", Command: append(args, "posix", dir)})
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if g.in, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	g.ended = make(chan struct{})
	go func() {
		defer close(g.ended)
		_ = cmd.Wait()
	}()
	if err := answers("http://"+address+health, g.ended); err != nil {
		g.stop()
		return "", fmt.Errorf("%s did not start: %w\n%s", program, err, said.String())
	}
	options := url.Values{"endpoint": {"http://" + address}, "use_path_style": {"true"}, "disable_https": {"true"}, "region": {"us-east-1"}}
	return "s3://" + bucketName + "?" + options.Encode(), nil
}

func (g *gateway) stop() {
	if g.in != nil {
		_ = g.in.Close()
		<-g.ended
		g.in = nil
	}
	if g.dir != "" {
		_ = os.RemoveAll(g.dir)
	}
}

// freeAddress is an address on loopback that nobody listens to.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// answers waits until a URL that only our server has can be fetched.
func answers(health string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, health, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		select {
		case <-again.C:
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return err
		}
	}
}

// installed returns the path of the server's program, and installs it first where it is
// missing.
func installed() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "einolean", "versitygw-"+serverVersion)
	program := filepath.Join(dir, "versitygw")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if exists(program) {
		return program, nil
	}
	if testing.Short() {
		return "", fmt.Errorf("%w: it is not installed, and -short does not wait for that", errNoServer)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(program) { // by another process, meanwhile
		return program, nil
	}
	return program, install(dir, program)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// install builds the server in a directory of its own and moves the program into place.
func install(dir, program string) error {
	work, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	run := func(limit time.Duration, args ...string) error {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GOBIN="+work, "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: go %s: %w\n%s", errNoServer, strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := run(findTime, "list", "-m", serverModule+"@"+serverVersion); err != nil {
		return err
	}
	if err := run(installTime, "install", "-ldflags=-s -w", serverModule+"/cmd/versitygw@"+serverVersion); err != nil {
		return err
	}
	return os.Rename(filepath.Join(work, filepath.Base(program)), program)
}
