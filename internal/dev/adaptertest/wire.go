// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// object is a JSON object.
type object = map[string]any

func contains(text json.RawMessage, part []byte) bool { return bytes.Contains(text, part) }

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

// stream sends a response as server-sent events.
func stream(w http.ResponseWriter, response func(status string, output []object) object, output []object) {
	w.Header().Set("Content-Type", "text/event-stream")
	n := 0
	send := func(kind string, data object) {
		data["type"], data["sequence_number"] = kind, n
		n++
		text, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	}
	send("response.created", object{"response": response("in_progress", []object{})})
	send("response.in_progress", object{"response": response("in_progress", []object{})})
	for i, x := range output {
		begun := maps.Clone(x)
		begun["status"] = "in_progress"
		if x["type"] == "message" {
			begun["content"] = []object{}
		} else {
			begun["arguments"] = ""
		}
		send("response.output_item.added", object{"output_index": i, "item": begun})
		middle(send, i, x)
		send("response.output_item.done", object{"output_index": i, "item": x})
	}
	send("response.completed", object{"response": response("completed", output)})
}

// middle sends what comes between an item's first event and its last, in two pieces.
func middle(send func(string, object), i int, x object) {
	at := func(more object) object {
		more["output_index"], more["item_id"] = i, x["id"]
		return more
	}
	if x["type"] != "message" {
		args := x["arguments"].(string)
		send("response.function_call_arguments.delta", at(object{"delta": args[:len(args)/2]}))
		send("response.function_call_arguments.delta", at(object{"delta": args[len(args)/2:]}))
		send("response.function_call_arguments.done", at(object{"arguments": args}))
		return
	}
	part := x["content"].([]object)[0]
	text := part["text"].(string)
	send("response.content_part.added", at(object{"content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []object{}}}))
	send("response.output_text.delta", at(object{"content_index": 0, "delta": text[:len(text)/2]}))
	send("response.output_text.delta", at(object{"content_index": 0, "delta": text[len(text)/2:]}))
	send("response.output_text.done", at(object{"content_index": 0, "text": text}))
	send("response.content_part.done", at(object{"content_index": 0, "part": part}))
}
