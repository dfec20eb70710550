// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// No request goes to another host, and errors quote no secret of a URL.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/einolean/einolean/internal/redact"
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

	wire *wire
	pace *pace

	refused atomic.Bool // the last answer was 401 or 403

	mu     sync.Mutex
	asked  int64         // how often
	asking chan struct{} // closed when who asks now has an answer; nil: nobody asks
	now    http.Header
	before []string // the secrets of the last headers: a server may still speak of them
}

// client returns a client like base, whose requests are signed. That of one of several users
// has cookies of its own.
func (s *signed) client(base *http.Client, oneOfMany bool) *http.Client {
	own := *base
	if own.Jar != nil && oneOfMany {
		own.Jar, _ = cookiejar.New(nil) // the error is always nil
	}
	s.inner = &tap{base.Transport, s.wire, s.pace}
	own.Transport = s
	return &own
}

// tries is how often a request is made that is answered with 401. Others of a busy session may
// use up a token while it is on its way.
const tries = 3

// RoundTrip makes one request, and again with new headers if it is answered with 401.
func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	if to := originOf(r.URL); to != originOf(s.origin) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, fmt.Errorf("the server at %s sends requests to %s: if that is right, set it as the server's url", originOf(s.origin), to)
	}
	own, asked := s.sign(r)
	resp, err := s.inner.RoundTrip(own)
	for n := 1; n < tries && err == nil && resp.StatusCode == http.StatusUnauthorized && s.ask != nil && (r.Body == nil || r.GetBody != nil); n++ {
		again, next, ok := s.again(r, asked)
		if !ok {
			break
		}
		_ = resp.Body.Close()
		asked = next
		resp, err = s.inner.RoundTrip(again)
	}
	noteDelivery(r, resp, err)
	if err == nil {
		s.refused.Store(resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	}
	return resp, err
}

// delivery records whether the request of a call reached the server.
type delivery struct {
	refused atomic.Bool            // the server certainly did not take it
	busy    atomic.Pointer[string] // it said that there are too many requests, and when to try again
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
func (s *signed) again(r *http.Request, asked int64) (own *http.Request, now int64, ok bool) {
	if err := s.refresh(r.Context(), asked); err != nil {
		return nil, asked, false
	}
	own, now = s.sign(r)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, now, false
		}
		own.Body = body
	}
	return own, now, true
}

// refresh asks for the headers, unless another request has done so since. Of several
// requests, one asks and the others wait.
func (s *signed) refresh(ctx context.Context, asked int64) error {
	if s.ask == nil {
		return nil
	}
	for {
		s.mu.Lock()
		others := s.asking
		if others == nil || s.asked != asked {
			break
		}
		s.mu.Unlock()
		select {
		case <-others:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if s.asked != asked {
		s.mu.Unlock()
		return nil
	}
	s.asking = make(chan struct{})
	s.mu.Unlock()
	var h http.Header
	err := errors.New("the function Header ended its goroutine")
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.before = secretsIn(s.now)
			s.now, s.asked = h.Clone(), s.asked+1
		}
		close(s.asking)
		s.asking = nil
	}()
	h, err = s.ask(ctx)
	return err
}

// errTooLarge is the error of a message that no server should send.
var errTooLarge = fmt.Errorf("the server's message is over %d MB", maxMessage>>20)

// errNoAnswer is the cause of the end of a request that took too long.
var errNoAnswer = errors.New("no answer in time")

// originOf is the scheme, host and port of a URL.
func originOf(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// secrets are the values of the headers that were asked for.
func (s *signed) secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(secretsIn(s.now), s.before...)
}

func secretsIn(h http.Header) (values []string) {
	for name, all := range h {
		for _, value := range all {
			values = append(values, redact.InHeader(name, value)...)
		}
	}
	return values
}
