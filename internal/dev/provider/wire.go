// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// object is a JSON object.
type object = map[string]any

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

// refuse answers with an error in the provider's shape.
func refuse(w http.ResponseWriter, api API, status int, message string) {
	kind := "invalid_request_error"
	switch status {
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	}
	if api == Anthropic {
		writeJSON(w, status, object{"type": "error", "request_id": "req_1", "error": object{"type": kind, "message": message}})
		return
	}
	writeJSON(w, status, object{"error": object{"type": kind, "message": message, "param": nil, "code": nil}})
}

// event is one event of a stream.
type event struct {
	name string
	data object
}

// streamable is an answer that can also be given in pieces.
type streamable interface{ events() []event }

// stream sends an answer as server-sent events.
func stream(w http.ResponseWriter, api API, answer any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, ev := range answer.(streamable).events() {
		if api != Chat {
			ev.data["type"] = ev.name
			fmt.Fprintf(w, "event: %s\n", ev.name)
		}
		if api == OpenAI {
			ev.data["sequence_number"] = i
		}
		data, err := json.Marshal(ev.data)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	if api == Chat {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// arguments are the arguments of a call as JSON.
func arguments(c Call) string {
	if c.Args == "" {
		return "{}"
	}
	return c.Args
}

// halves cuts a text in two, as streams do.
func halves(s string) [2]string {
	r := []rune(s)
	return [2]string{string(r[:len(r)/2]), string(r[len(r)/2:])}
}
