// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
)

// made returns the parameters of an ordinary tool, and its schema as JSON.
func made(t *testing.T) (*schema.ParamsOneOf, string) {
	t.Helper()
	p := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"query": {Type: schema.String, Desc: "what to look for", Required: true},
		"where": {Type: schema.Object, SubParams: map[string]*schema.ParameterInfo{"dir": {Type: schema.String, Enum: []string{"a", "b"}}}},
		"tags":  {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.String}},
	})
	s, err := p.ToJSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return p, string(text)
}

func TestBytes_IsLengthAsJSON(t *testing.T) {
	p, want := made(t)
	if got := Bytes(p); got != len(want) {
		t.Errorf("Bytes = %d, want %d", got, len(want))
	}
	s, _ := p.ToJSONSchema()
	if got := Bytes(schema.NewParamsOneOfByJSONSchema(s)); got != len(want) {
		t.Errorf("Bytes of the schema = %d, want %d", got, len(want))
	}
	if got := Bytes(nil); got != 0 {
		t.Errorf("Bytes(nil) = %d", got)
	}
	if got := Bytes(&schema.ParamsOneOf{}); got != 0 {
		t.Errorf("Bytes of no parameters = %d", got)
	}
}

// Without bounds, each of these would overflow the stack, which cannot be recovered from, or take forever.
func TestBytes_RecursiveSchemaIsBounded(t *testing.T) {
	const desc = "contains itself"
	self := &schema.ParameterInfo{Type: schema.Object, Desc: desc}
	self.SubParams = map[string]*schema.ParameterInfo{"again": self}
	elem := &schema.ParameterInfo{Type: schema.Array, Desc: desc}
	elem.ElemInfo = elem
	wide := &schema.ParameterInfo{Type: schema.Object, Desc: desc}
	for range MaxDepth - 2 {
		wide = &schema.ParameterInfo{Type: schema.Object, SubParams: map[string]*schema.ParameterInfo{"a": wide, "b": wide}}
	}
	ofParams := func(p *schema.ParameterInfo) *schema.ParamsOneOf {
		return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": p})
	}
	ofSchema := func(change func(*schema.ParamsOneOf)) *schema.ParamsOneOf {
		p, _ := made(t)
		s, _ := p.ToJSONSchema()
		p = schema.NewParamsOneOfByJSONSchema(s)
		change(p)
		return p
	}
	panics := ofSchema(func(p *schema.ParamsOneOf) { s, _ := p.ToJSONSchema(); s.Default = bomb{} })
	for name, p := range map[string]*schema.ParamsOneOf{
		"a parameter in itself":       ofParams(self),
		"a list of itself":            ofParams(elem),
		"twice of each, 60 deep":      ofParams(wide),
		"a schema in its properties":  ofSchema(func(p *schema.ParamsOneOf) { s, _ := p.ToJSONSchema(); s.Properties.Set("again", s) }),
		"a schema as its items":       ofSchema(func(p *schema.ParamsOneOf) { s, _ := p.ToJSONSchema(); s.Items = s }),
		"a schema that is not itself": ofSchema(func(p *schema.ParamsOneOf) { s, _ := p.ToJSONSchema(); s.Not = s }),
		"any of itself":               ofSchema(func(p *schema.ParamsOneOf) { s, _ := p.ToJSONSchema(); s.AnyOf = append(s.AnyOf, s, s) }),
		"one that panics":             panics,
		"no info":                     ofParams(nil),
	} {
		start := time.Now()
		n := Bytes(p)
		if took := time.Since(start); took > time.Minute { // or never
			t.Errorf("%s: took %v", name, took)
		}
		if name == "a parameter in itself" && n < MaxDepth*len(desc) {
			t.Errorf("%s: %d bytes, but what was looked at counts", name, n)
		}
	}
	if n := Bytes(panics); n != 0 {
		t.Errorf("what cannot be written counts as %d bytes", n)
	}
}

type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic(strings.Repeat("no ", 3)) }
