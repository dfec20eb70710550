// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file makes requests to HTTP servers, with headers that go to no other host.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// newHTTPTransport has limits on connecting, and none on how long an answer may take.
func newHTTPTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
	}
}

// signed adds the headers of a server to the requests that go to it.
type signed struct {
	inner  http.RoundTripper
	origin *url.URL
	fixed  map[string]string
	ask    func(context.Context) (http.Header, error) // nil: there are only the fixed ones

	refused atomic.Bool // the last answer was 401 or 403

	mu    sync.Mutex
	asked int64 // how often
	now   http.Header
}

// client returns a client like base, whose requests are signed.
func (s *signed) client(base *http.Client) *http.Client {
	own := *base
	if s.inner = base.Transport; s.inner == nil {
		s.inner = http.DefaultTransport
	}
	own.Transport = s
	return &own
}

// RoundTrip makes one request, and once more with new headers if it is answered with 401.
func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != s.origin.Scheme || r.URL.Host != s.origin.Host {
		return s.bounded(s.inner.RoundTrip(r)) // a redirect took it elsewhere
	}
	own, asked := s.sign(r)
	resp, err := s.inner.RoundTrip(own)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && s.ask != nil && (r.Body == nil || r.GetBody != nil) {
		if again, ok := s.again(r, asked); ok {
			_ = resp.Body.Close()
			resp, err = s.inner.RoundTrip(again)
		}
	}
	noteDelivery(r, resp, err)
	if err == nil {
		s.refused.Store(resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	}
	return s.bounded(resp, err)
}

// delivery records whether the request of a call reached the server.
type delivery struct {
	refused atomic.Bool // the server certainly did not take it
}

type deliveryKey struct{}

// noteDelivery records that the server did not take a request: there was no connection, or
// the server does not know the session in it, or refuses its headers.
func noteDelivery(r *http.Request, resp *http.Response, err error) {
	d, ok := r.Context().Value(deliveryKey{}).(*delivery)
	if !ok || r.Method != http.MethodPost {
		return
	}
	var dial *net.OpError
	switch {
	case err != nil:
		d.refused.Store(errors.As(err, &dial) && dial.Op == "dial")
	default:
		d.refused.Store(resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	}
}

// sign returns the request with the current headers.
func (s *signed) sign(r *http.Request) (own *http.Request, asked int64) {
	own = r.Clone(r.Context())
	for k, v := range s.fixed {
		own.Header.Set(k, v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, v := range s.now {
		own.Header[http.CanonicalHeaderKey(k)] = v
	}
	return own, s.asked
}

// again returns the request with new headers; ok is false if there are none.
func (s *signed) again(r *http.Request, asked int64) (own *http.Request, ok bool) {
	if err := s.refresh(r.Context(), asked); err != nil {
		return nil, false
	}
	own, _ = s.sign(r)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, false
		}
		own.Body = body
	}
	return own, true
}

// refresh asks for the headers, unless another request has done so since.
func (s *signed) refresh(ctx context.Context, asked int64) error {
	if s.ask == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != asked {
		return nil
	}
	h, err := s.ask(ctx)
	if err != nil {
		return err
	}
	s.now, s.asked = h.Clone(), s.asked+1
	return nil
}

// bounded limits the body of an answer. Streams are limited event by event.
func (s *signed) bounded(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		resp.Body = &boundedBody{resp.Body, maxMessage}
	}
	return resp, nil
}

// errTooLarge is the error of a message that no server should send.
var errTooLarge = fmt.Errorf("the server's message is over %d MB", maxMessage>>20)

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read fails when the limit is reached.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// errNoAnswer is the cause of the end of a request that took too long.
var errNoAnswer = errors.New("no answer in time")
