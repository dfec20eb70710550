// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package offline is a chat model without a network: it follows rules instead of
// weights, so that the examples run anywhere and print the same each time.
//
// It is given what any chat model is given, the messages and the tools of one
// request, and nothing else. It keeps no state: each answer is worked out from
// the conversation alone. In turn it
//
//   - splits the user's last request into steps,
//   - searches for a tool where none of those it sees fits a step, in whichever way
//     the schemas of the search tools offer,
//   - calls the best of those that it sees, with arguments found in the words
//     of the step and fitted to the tool's schema,
//   - corrects arguments when a tool says what was wrong with them,
//   - passes an earlier result on where a step mentions it,
//   - looks for what was asked in a long result, and reads back the results that
//     were cut or taken out of the conversation,
//   - and says what the result is, or that it has no tool for it.
//
// It knows some English and a little Chinese (the lists in lexicon), but no
// tool and no task. It is a stand-in to try middlewares with, not an assistant.
package offline

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Model is the rule-based chat model. The zero value is ready for use, and safe
// for concurrent use.
type Model[M adk.MessageType] struct{}

// New returns the model as an agent wants it.
func New[M adk.MessageType]() model.BaseModel[M] { return Model[M]{} }

// Generate answers in one message: text, or tool calls. It never fails.
func (Model[M]) Generate(_ context.Context, input []M, opts ...model.Option) (M, error) {
	return write[M](answer(input, opts), 1)[0], nil
}

// Stream answers with a text in several chunks, as a provider would. It never fails.
func (Model[M]) Stream(_ context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return schema.StreamReaderFromArray(write[M](answer(input, opts), 3)), nil
}

func answer[M adk.MessageType](input []M, opts []model.Option) reply {
	common := model.GetCommonOptions(&model.Options{}, opts...)
	turns := make([]Turn, 0, len(input))
	for _, m := range input {
		turns = append(turns, Read(m))
	}
	w := detectProtocol(common.Tools)
	turns = w.translate(turns)
	s := understand(turns, w.tools(common.Tools))
	s.way = w
	return w.write(decide(s))
}

// Cost estimates how many tokens a request costs: its messages, and the definitions
// of its tools. It is an estimate, as no tokenizer is available: a token for every four
// bytes of the texts, and of the tools' JSON.
func Cost[M adk.MessageType](messages []M, tools []*schema.ToolInfo) (text, definitions int) {
	request, definitions := Request(messages, tools)
	return (len(request) - definitions) / 4, definitions / 4
}

// Request writes a request in the order in which providers read it: tools, then the
// system message, then the other messages. The definitions are its first bytes.
func Request[M adk.MessageType](messages []M, tools []*schema.ToolInfo) (request string, definitions int) {
	var b strings.Builder
	for _, t := range tools {
		b.Write(Definition(t))
	}
	definitions = b.Len()
	for _, m := range messages {
		t := Read(m)
		b.WriteString(t.Text)
		for _, c := range t.Calls {
			b.WriteString(c.Name + c.Args)
		}
		for _, r := range t.Results {
			b.WriteString(r.Text)
		}
	}
	return b.String(), definitions
}

// Common is the length of what two requests begin with in common, which a prompt cache can keep.
func Common(a, b string) int {
	const step = 256 // is compared at once: requests are long, and begin alike
	n, i := min(len(a), len(b)), 0
	for i+step <= n && a[i:i+step] == b[i:i+step] {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// Definition is a tool as it goes over the wire, in JSON.
func Definition(info *schema.ToolInfo) []byte {
	var parameters any
	if info.ParamsOneOf != nil {
		parameters, _ = info.ParamsOneOf.ToJSONSchema()
	}
	b, _ := json.Marshal(map[string]any{"name": info.Name, "description": info.Desc, "parameters": parameters})
	return b
}
