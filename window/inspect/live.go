// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/window"
)

// Handler serves a list of the collector's conversations and the page of each, which
// reloads itself while calls come in. It changes nothing. It is meant for a development
// machine: since pages hold texts, it refuses requests that do not come from a loopback
// address, those whose Host is not a loopback name, and those that a proxy passes on.
func Handler(c *window.Collector) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { list(w, r, c) })
	mux.HandleFunc("GET /c/{id}/{$}", func(w http.ResponseWriter, r *http.Request) { show(w, r, c) })
	mux.HandleFunc("GET /c/{id}/events", func(w http.ResponseWriter, r *http.Request) { follow(w, r, c) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r) {
			http.Error(w, "this page is served only to the machine it runs on", http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Frame-Options", "DENY")
		mux.ServeHTTP(w, r)
	})
}

// forwarded are the headers by which proxies say whom they ask for.
var forwarded = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Forwarded-Port", "X-Real-Ip",
	"X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For", "X-Envoy-External-Address", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "Fly-Client-Ip"}

// isLocal reports whether a request comes from this machine, not through a proxy on it,
// and addresses it by a loopback name, which an attacker's DNS name is not.
func isLocal(r *http.Request) bool {
	for _, name := range forwarded {
		if _, is := r.Header[name]; is {
			return false
		}
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(from).IsLoopback() {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

var listPage = template.Must(template.New("list").Parse(`<!doctype html>
<html lang="{{.Language}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark"><title>{{index .Say "Conversations"}} · einolean</title>
<style>{{.Style}}</style></head><body><main><h1>{{index .Say "Conversations"}}</h1>
{{if .Rows}}<table class="card"><thead><tr><th scope="col">{{index .Say "Calls"}}</th><th scope="col">{{index .Say "Conversation"}}</th><th scope="col">{{index .Say "Sent"}}</th><th scope="col">{{index .Say "Without"}}</th></tr></thead><tbody>
{{range .Rows}}<tr><td>{{.Calls}}</td><td><a href="{{.Link}}">{{.ID}}</a></td><td>{{.Sent}}</td><td>{{.Without}}</td></tr>
{{end}}</tbody></table>{{else}}<p class="meta">{{index .Say "No agent has run yet. Load this page again when one has."}}</p>{{end}}
</main></body></html>
`))

// listTexts are those of the list.
var listTexts = []string{"Conversations", "Calls", "Conversation", "Sent", "Without", "No agent has run yet. Load this page again when one has."}

func list(w http.ResponseWriter, r *http.Request, c *window.Collector) {
	type row struct {
		ID, Link, Sent, Without string
		Calls                   int
	}
	var rows []row
	for conversation := range c.Conversations() {
		t := conversation.Totals()
		rows = append(rows, row{conversation.ID, "c/_" + url.PathEscape(conversation.ID) + "/", display.Grouped(t.Sent), display.Grouped(t.Without), t.Calls})
	}
	say, tongue := make(texts), "en"
	for _, text := range listTexts {
		say[text] = text
		if wantsChinese(r) {
			say[text], tongue = labels.say(text), "zh-CN"
		}
	}
	send(w, func(b *bytes.Buffer) error {
		return listPage.Execute(b, map[string]any{"Style": template.CSS(pageCSS), "Rows": rows, "Say": say, "Language": tongue})
	})
}

// named is the conversation that a request is about. Its name follows a letter of ours:
// browsers take a path of . or .. for another one.
func named(r *http.Request) string { return strings.TrimPrefix(r.PathValue("id"), "_") }

func show(w http.ResponseWriter, r *http.Request, c *window.Collector) {
	conversation := c.Conversation(named(r))
	if conversation == nil {
		http.Error(w, "no such conversation is kept", http.StatusNotFound)
		return
	}
	send(w, func(b *bytes.Buffer) error { return write(b, conversation, true) })
}

// send writes a whole page or an error, never half a page.
func send(w http.ResponseWriter, draw func(*bytes.Buffer) error) {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// follow tells the page when there is more to show. It polls once a second, which keeps
// the collector independent of its viewers.
func follow(w http.ResponseWriter, r *http.Request, c *window.Collector) {
	id := named(r)
	w.Header().Set("Content-Type", "text/event-stream")
	sent := newest(c, id)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if _, err := fmt.Fprint(w, ": \n\n"); err != nil {
			return
		}
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		if now := newest(c, id); now != sent {
			sent = now
			_, _ = fmt.Fprintf(w, "event: call\ndata: %s\n\n", now)
		}
	}
}

// newest identifies a state of a conversation, to notice changes.
func newest(c *window.Collector, id string) string {
	conversation := c.Conversation(id)
	if conversation == nil || len(conversation.Calls) == 0 {
		return ""
	}
	last := conversation.Calls[len(conversation.Calls)-1]
	return fmt.Sprint(last.N, last.Unfinished)
}
