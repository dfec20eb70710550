// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes requests on to the server.
type proxy struct {
	// Instead answers a request in place of the server, if it returns true. Set it before
	// the first request; pass is the way to the server.
	Instead func(kind string, w http.ResponseWriter, r *http.Request, pass http.Handler) bool

	mu   sync.Mutex
	seen []string
	sent int // bytes of answers
}

// newProxy starts a proxy and returns the URL of the bucket through it.
func newProxy(t testing.TB, bucket string) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(bucket)
	require.NoError(t, err)
	options := u.Query()
	if options.Get("endpoint") == "" {
		t.Skip("the bucket's URL names no endpoint to put a proxy before")
	}
	server, err := url.Parse(options.Get("endpoint"))
	require.NoError(t, err)
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(server)
		r.Out.Host = r.In.Host // it is part of what is signed
	}, ErrorLog: log.New(io.Discard, "", 0)}
	p := &proxy{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind := kindOf(r)
		p.mu.Lock()
		p.seen = append(p.seen, kind)
		p.mu.Unlock()
		if p.Instead == nil || !p.Instead(kind, w, r, pass) {
			pass.ServeHTTP(&scale{ResponseWriter: w, proxy: p}, r)
		}
	}))
	t.Cleanup(front.Close)
	options.Set("endpoint", front.URL)
	u.RawQuery = options.Encode()
	return p, u.String()
}

// scale weighs an answer.
type scale struct {
	http.ResponseWriter
	proxy *proxy
}

func (s *scale) Write(b []byte) (int, error) {
	s.proxy.mu.Lock()
	s.proxy.sent += len(b)
	s.proxy.mu.Unlock()
	return s.ResponseWriter.Write(b)
}

// weighed returns the bytes of the answers since the last call.
func (p *proxy) weighed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = 0
	return sent
}

// kindOf names a request as the prices of S3 do.
func kindOf(r *http.Request) string {
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && q.Has("list-type"):
		return "LIST"
	case r.Method == http.MethodGet && q.Has("uploads"):
		return "LIST uploads"
	case q.Has("partNumber"):
		return "PUT part"
	case r.Method == http.MethodPost && q.Has("uploads"):
		return "POST begin"
	case r.Method == http.MethodPost && q.Has("uploadId"):
		return "POST end"
	case r.Method == http.MethodDelete && q.Has("uploadId"):
		return "DELETE upload"
	}
	return r.Method
}

// counted returns the requests since the last call in their order, as "HEAD, 3 PUT part".
func (p *proxy) counted() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for i := 0; i < len(p.seen); {
		n := 1
		for i+n < len(p.seen) && p.seen[i+n] == p.seen[i] {
			n++
		}
		kind := p.seen[i]
		if n > 1 {
			kind = fmt.Sprint(n, " ", kind)
		}
		out, i = append(out, kind), i+n
	}
	p.seen = nil
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// lose returns an Instead that loses the answer to the first request of a kind: the server
// does what it is asked, and the connection breaks.
func lose(kind string) func(string, http.ResponseWriter, *http.Request, http.Handler) bool {
	var once sync.Once
	return func(is string, _ http.ResponseWriter, r *http.Request, pass http.Handler) bool {
		if is != kind {
			return false
		}
		once.Do(func() {
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		})
		return false
	}
}
