// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

// Tool is a tool as a request declares it.
type Tool struct {
	Name        string
	Description string
	// Deferred: the model does not see it before a search has found it.
	Deferred bool
	// Bytes is the length of its declaration.
	Bytes int

	raw []byte
}

// Request is one request as the server understood it.
type Request struct {
	// Body is the body as it was received.
	Body []byte
	// Stream: the answer was asked for in pieces.
	Stream bool
	// Refused is the message of the error that the server answered with; "" if none.
	Refused string
	// Tools are the tools declared, in order, without search tools.
	Tools []Tool
	// Search is "hosted" or "client" where the request declares a tool of the provider's
	// own search; "" elsewhere.
	Search string
	// Loaded are the tools that results of searches in the conversation let the model
	// see, in order.
	Loaded []Tool
	// Thoughts are how many blocks of thinking came back, Dropped how many of them the server
	// left out, and Missing how many answers came back without their thinking behind what
	// they were given behind.
	Thoughts, Dropped, Missing int
	// Prompt is the number of bytes of the conversation, without tools.
	Prompt int
	// Teased is the number of bytes of what the model sees of tools that are not loaded.
	Teased int
}

// Names are the names of tools.
func Names(tools []Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// Deferred are the declared tools that are deferred.
func (r Request) Deferred() (list []Tool) {
	for _, t := range r.Tools {
		if t.Deferred {
			list = append(list, t)
		}
	}
	return list
}

// Visible are the tools that the model can call.
func (r Request) Visible() (list []Tool) {
	seen := map[string]bool{}
	for _, t := range append(append([]Tool(nil), r.Tools...), loadedTools(r.Loaded)...) {
		if !t.Deferred && !seen[t.Name] {
			seen[t.Name] = true
			list = append(list, t)
		}
	}
	return list
}

func loadedTools(tools []Tool) []Tool {
	list := append([]Tool(nil), tools...)
	for i := range list {
		list[i].Deferred = false
	}
	return list
}

// Tokens estimates what the model reads, at four bytes a token: the conversation, and the
// tools that it sees.
func (r Request) Tokens() int {
	sum := r.Prompt + r.Teased
	for _, t := range r.Visible() {
		sum += t.Bytes
	}
	return sum / 4
}
