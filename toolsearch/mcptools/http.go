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

// headerTransport adds a server's headers to its requests, and asks for new headers after a 401.
type headerTransport struct {
	inner        http.RoundTripper
	origin       *url.URL
	fixedHeaders map[string]string
	headerFunc   func(context.Context) (http.Header, error) // nil: there are only the fixed ones

	wire *wire
	pace *pace

	isRefused atomic.Bool // the last answer was 401 or 403

	mu          sync.Mutex
	generation  int64         // how often
	refreshDone chan struct{} // closed when who asks now has an answer; nil: nobody asks
	userHeaders http.Header
	oldSecrets  []string // the secrets of the last headers: a server may still speak of them
}

// client returns a client like base, whose requests are signed. That of one of several users
// has cookies of its own.
func (t *headerTransport) client(base *http.Client, oneOfMany bool) *http.Client {
	client := *base
	if client.Jar != nil && oneOfMany {
		client.Jar, _ = cookiejar.New(nil) // the error is always nil
	}
	t.inner = &tap{base.Transport, t.wire, t.pace}
	client.Transport = t
	return &client
}

// maxTries is how often a request is sent while the answer is 401. Other requests of a busy session
// may use up a token before it arrives.
const maxTries = 3

// RoundTrip makes one request, and again with new headers if it is answered with 401.
func (t *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if to := originOf(r.URL); to != originOf(t.origin) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, fmt.Errorf("the server at %s sends requests to %s: if that is right, set it as the server's url",
			originOf(t.origin), to)
	}
	signed, generation := t.sign(r)
	resp, err := t.inner.RoundTrip(signed)
	canRetry := t.headerFunc != nil && (r.Body == nil || r.GetBody != nil)
	for n := 1; canRetry && n < maxTries && err == nil && resp.StatusCode == http.StatusUnauthorized; n++ {
		retry, next, ok := t.signAgain(r, generation)
		if !ok {
			break
		}
		_ = resp.Body.Close()
		generation = next
		resp, err = t.inner.RoundTrip(retry)
	}
	noteDelivery(r, resp, err)
	if err == nil {
		t.isRefused.Store(resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	}
	return resp, err
}

// delivery records whether the request of a call reached the server.
type delivery struct {
	isRejected atomic.Bool            // the server certainly did not take it
	retryAfter atomic.Pointer[string] // it said that there are too many requests, and when to try again
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
		d.isRejected.Store(errors.As(err, &dial) && dial.Op == "dial")
	default:
		d.isRejected.Store(isRejection(resp.StatusCode))
	}
}

// isRejection reports whether a status says that the server did not take a request.
func isRejection(status int) bool {
	return status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// sign returns the request with the current headers.
func (t *headerTransport) sign(r *http.Request) (signed *http.Request, generation int64) {
	signed = r.Clone(r.Context())
	for k, v := range t.fixedHeaders {
		signed.Header.Set(k, v)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, v := range t.userHeaders {
		signed.Header[http.CanonicalHeaderKey(k)] = v
	}
	return signed, t.generation
}

// signAgain returns the request with new headers; ok is false if there are none.
func (t *headerTransport) signAgain(r *http.Request, generation int64) (signed *http.Request, current int64, ok bool) {
	if err := t.refresh(r.Context(), generation); err != nil {
		return nil, generation, false
	}
	signed, current = t.sign(r)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, current, false
		}
		signed.Body = body
	}
	return signed, current, true
}

// refresh asks for the headers, unless another request has done so since. Of several
// requests, one asks and the others wait.
func (t *headerTransport) refresh(ctx context.Context, generation int64) error {
	if t.headerFunc == nil {
		return nil
	}
	for {
		t.mu.Lock()
		others := t.refreshDone
		if others == nil || t.generation != generation {
			break
		}
		t.mu.Unlock()
		select {
		case <-others:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if t.generation != generation {
		t.mu.Unlock()
		return nil
	}
	t.refreshDone = make(chan struct{})
	t.mu.Unlock()
	var h http.Header
	err := errors.New("the function Header ended its goroutine")
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if err == nil {
			t.oldSecrets = secretsIn(t.userHeaders)
			t.userHeaders, t.generation = h.Clone(), t.generation+1
		}
		close(t.refreshDone)
		t.refreshDone = nil
	}()
	h, err = t.headerFunc(ctx)
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
func (t *headerTransport) secrets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(secretsIn(t.userHeaders), t.oldSecrets...)
}

func secretsIn(h http.Header) (values []string) {
	for name, all := range h {
		for _, value := range all {
			values = append(values, redact.InHeader(name, value)...)
		}
	}
	return values
}
