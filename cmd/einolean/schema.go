// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The schema of what --json writes.

import (
	"io"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/einolean/einolean"
)

// writeSchema writes the JSON Schema of what --json writes. An event has a form of its own.
func writeSchema[T any](w io.Writer, name string) error {
	type eventJSON struct {
		Time   time.Time              `json:"time"`
		Kind   string                 `json:"kind"`
		Tool   string                 `json:"tool,omitempty"`
		CallID string                 `json:"call_id,omitempty"`
		Server string                 `json:"server,omitempty"`
		Repeat bool                   `json:"repeat,omitempty"`
		Search *einolean.Search       `json:"search,omitempty"`
		Tools  *einolean.ToolChange   `json:"tools,omitempty"`
		Output *einolean.OutputChange `json:"output,omitempty"`
		Pass   *einolean.Pass         `json:"pass,omitempty"`
		Error  string                 `json:"error,omitempty"`
	}
	event, err := jsonschema.For[eventJSON](nil)
	if err != nil {
		return err
	}
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[einolean.Event](): event}})
	if err != nil {
		return err
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Properties["schema"].Const = jsonschema.Ptr[any](name)
	return writeJSON(w, schema)
}
