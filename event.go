// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einolean

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/safe"
)

// Kind says what an [Event] reports.
type Kind string

// The kinds of toolsearch.
const (
	// KindCatalogChanged: a run started, or the hidden tools differ from those last
	// reported in it. Tools holds how many there are and the tokens of their definitions.
	KindCatalogChanged Kind = "catalog_changed"
	// KindToolsSearched: the model searched and got an answer. Search is set.
	KindToolsSearched Kind = "tools_searched"
	// KindToolsPrefetched: tools were loaded for a user message before the model was
	// called. Tools and Search are set.
	KindToolsPrefetched Kind = "tools_prefetched"
	// KindToolsLoaded: tools became visible to the model. Tools is set.
	KindToolsLoaded Kind = "tools_loaded"
	// KindToolsUnloaded: tools were hidden again. Tools is set.
	KindToolsUnloaded Kind = "tools_unloaded"
	// KindToolsDenied: the model, or a program of it, called a tool that the Filter denies. Tool, Tools and
	// CallID are set, and Err to the Filter's error, if it returned one.
	KindToolsDenied Kind = "tools_denied"
	// KindToolsNotHidden: handlers after toolsearch added tools whose
	// ToolInfo.Extra["defer_loading"] is true, which stay visible in this run. Tools and
	// Err are set. It is reported once per run.
	KindToolsNotHidden Kind = "tools_not_hidden"
	// KindNothingHidden: a run shows all tools, because their definitions take no more tokens than
	// MinTokensToHide. Tools has the tokens and the reason. Each middleware reports it once.
	KindNothingHidden Kind = "nothing_hidden"
	// KindCallGated: a call did not run because its tool was not loaded. Tool and
	// CallID are set.
	KindCallGated Kind = "call_gated"
	// KindSourceFailed: a Source of tools failed, and the run keeps its last tools.
	// Err is set.
	KindSourceFailed Kind = "source_failed"
	// KindIndexFailed: an index failed, and another one answered. Err is set.
	KindIndexFailed Kind = "index_failed"
)

// The kinds of reduction.
const (
	// KindResultTruncated: a result was longer than its limit when it returned. Output is set.
	KindResultTruncated Kind = "result_cut"
	// KindResultKept: a result was longer than its limit and stays whole.
	// Output.Reason says why.
	KindResultKept Kind = "result_kept"
	// KindResultCompacted: the same value in fewer bytes took the place of a result. Output
	// is set.
	KindResultCompacted Kind = "result_compacted"
	// KindResultReferred: a result became a reference to an equal one that the model
	// still sees. Output is set.
	KindResultReferred Kind = "result_referred"
	// KindResultRead: the model read stored content back. Output is set.
	KindResultRead Kind = "result_read"
	// KindResultCleared: an old result was replaced for the first time. Output is set.
	KindResultCleared Kind = "result_cleared"
	// KindOverflow: the model refused a request as too long, and is asked again with a shorter
	// one. Err is set, and Pass with the tokens before and after, those that the error named as
	// its Threshold, and those that requests of this run may have from now on as its Target.
	KindOverflow Kind = "overflow"
	// KindReadToolNotAdded: the agent has a tool with the name of the one that
	// ProvideReadTool adds, and it is used instead. Whether it reads the Backend is not
	// known. Tool and Err are set. It is reported once per run.
	KindReadToolNotAdded Kind = "read_tool_not_added"
	// KindClearDone: a clearing pass ran because the history crossed the threshold.
	// Pass is set.
	KindClearDone Kind = "clear_done"
)

// The kind of package programs.
const (
	// KindProgramEnded: a program of the model ended. Tool and CallID are those of its call,
	// Program says what it called, and Output compares all that its calls returned with what
	// the model reads.
	KindProgramEnded Kind = "program_ended"
)

// The kinds that several packages use: reduction, toolsearch and mcptools.
const (
	// KindStoreFailed: a write to a store failed, and the content stays in the
	// conversation; or the files that a conversation names could not be marked as used, so
	// that a deletion of unused files may take them. Err is set, and Output if it was a result.
	KindStoreFailed Kind = "store_failed"
	// KindSessionRestarted: provider-side state was invalidated, because tools or messages before it have
	// changed. If the provider stores the conversation, the next request resends the full history. If
	// Claude signed thinking for the old prompt, that thinking is omitted.
	KindSessionRestarted Kind = "session_restarted"
	// KindServerUp: an MCP server answers. Server is set.
	KindServerUp Kind = "server_up"
	// KindServerDown: an MCP server stopped answering. Server and Err are set.
	KindServerDown Kind = "server_down"
	// KindServerListed: an MCP server listed its tools, or they could not be listed and the
	// last ones stay. Server is set, and Tools or Err.
	KindServerListed Kind = "server_listed"
	// KindToolRefused: a tool of a Source or an MCP server cannot be offered. Tool and
	// Err are set, and Server where there is one.
	KindToolRefused Kind = "tool_refused"
)

// Event reports one thing that a middleware did. Only the parts that belong to its Kind
// are set. A receiver may keep an event but must not change it: all receivers of a
// [Tee] get the same one.
type Event struct {
	// Time is when it happened.
	Time time.Time
	// Kind says what happened.
	Kind Kind
	// Tool and CallID are the tool call it happened to, and Server its MCP server.
	Tool, CallID, Server string
	// Repeat says that an earlier run of this conversation did the same, for instance
	// if tools are loaded because the history shows that they were.
	Repeat bool
	// Search is one search and its answer.
	Search *Search
	// Tools is a change of what the model sees or may use.
	Tools *ToolChange
	// Output is a tool's result and what became of it.
	Output *OutputChange
	// Pass is one clearing pass.
	Pass *Pass
	// Program is what a program called.
	Program *Program
	// Err is what failed. Its text may name machines and files, and never reaches
	// the model. In JSON it is the text.
	Err error
}

// Search is one search for tools.
type Search struct {
	// Query is the request as the model wrote it, at most 1,000 bytes of it.
	Query string `json:"query"`
	// Index is the type of the index that answered.
	Index string `json:"index,omitempty"`
	// Took is how long the answer took.
	Took time.Duration `json:"took_ns"`
	// Fallback says that the index failed and another one answered.
	Fallback bool `json:"fallback,omitempty"`
	// Hits are at most 10 results, best first.
	Hits []Hit `json:"hits,omitempty"`
}

// Hit is one result of a search.
type Hit struct {
	// Name is the tool's name.
	Name string `json:"name"`
	// Score orders the results of one search. Scores of different indexes are not
	// comparable.
	Score float64 `json:"score"`
	// Confidence is the index's estimate, from 0 to 1, that the tool serves the
	// request. If zero, it is not known.
	Confidence float64 `json:"confidence,omitempty"`
	// Terms explain the score, for the first 5 hits, where the index can.
	Terms []Term `json:"terms,omitempty"`
}

// Term is what one word of a request added to the score of a tool.
type Term struct {
	// Text is the word as the model wrote it.
	Text string `json:"text"`
	// Field is the part of the tool's definition that holds it.
	Field string `json:"field,omitempty"`
	// Relation is how the two are related, such as "equals" or "typo".
	Relation string `json:"relation,omitempty"`
	// Score is what it added.
	Score float64 `json:"score"`
}

// ToolChange is a change of what the model sees or may use.
type ToolChange struct {
	// Added and Removed are at most 20 names each, in the order of the tool list.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// AddedCount and RemovedCount count all of them.
	AddedCount   int `json:"added_count,omitempty"`
	RemovedCount int `json:"removed_count,omitempty"`
	// Tokens is the estimated size of the definitions of all tools concerned.
	Tokens int64 `json:"tokens,omitempty"`
	// Phase is the phase of a denial: a toolsearch.Phase.
	Phase string `json:"phase,omitempty"`
	// Reason is why, such as "history" or "unused".
	Reason string `json:"reason,omitempty"`
}

// Program is what a program of the model called, without a model.
type Program struct {
	// Calls are its calls, one for each tool, in the order of the first; at most 20.
	Calls []ProgramCalls `json:"calls,omitempty"`
	// Rounds is how often it waited for calls: turns in which no model was asked.
	Rounds int `json:"rounds,omitempty"`
	// Failed says that it ended before its end.
	Failed bool `json:"failed,omitempty"`
}

// ProgramCalls counts the calls of a program to one tool.
type ProgramCalls struct {
	// Tool is the tool's name.
	Tool string `json:"tool"`
	// Calls counts all calls, and Failed those that failed or were refused.
	Calls  int `json:"calls"`
	Failed int `json:"failed,omitempty"`
	// Bytes is the size of all results.
	Bytes int `json:"bytes"`
}

// Size measures the text of a result.
type Size struct {
	// Bytes of text, in UTF-8.
	Bytes int `json:"bytes"`
	// Tokens is an estimate.
	Tokens int64 `json:"tokens"`
}

// OutputChange is a tool's result and what became of it.
type OutputChange struct {
	// Before is the size that the tool returned, and After the size that goes on.
	// They are equal if nothing changed.
	Before Size `json:"before"`
	After  Size `json:"after"`
	// Path is where the whole result is stored. If empty, it is not stored.
	Path string `json:"path,omitempty"`
	// Rule is what decided, such as "limit" or "handler".
	Rule string `json:"rule,omitempty"`
	// Reason is why a result was kept: a reduction.Reason.
	Reason string `json:"reason,omitempty"`
	// Stream says that the result was streamed.
	Stream bool `json:"stream,omitempty"`
}

// Pass is one clearing pass through a history.
type Pass struct {
	// Looked counts the results examined, Cleared those replaced for the first time,
	// and Repeated those that an earlier run had replaced already.
	Looked   int `json:"looked"`
	Cleared  int `json:"cleared"`
	Repeated int `json:"repeated,omitempty"`
	// Kept counts the results left as they are, by reason.
	Kept map[string]int `json:"kept,omitempty"`
	// Before and After are estimates of the whole history in tokens. Threshold is
	// what started the pass, and Target what it aimed at; if zero, it had none.
	Before    int64 `json:"before"`
	After     int64 `json:"after"`
	Threshold int64 `json:"threshold"`
	Target    int64 `json:"target,omitempty"`
}

// eventJSON is the form of an Event on the wire.
type eventJSON struct {
	Time    time.Time     `json:"time"`
	Kind    Kind          `json:"kind"`
	Tool    string        `json:"tool,omitempty"`
	CallID  string        `json:"call_id,omitempty"`
	Server  string        `json:"server,omitempty"`
	Repeat  bool          `json:"repeat,omitempty"`
	Search  *Search       `json:"search,omitempty"`
	Tools   *ToolChange   `json:"tools,omitempty"`
	Output  *OutputChange `json:"output,omitempty"`
	Pass    *Pass         `json:"pass,omitempty"`
	Program *Program      `json:"program,omitempty"`
	Error   string        `json:"error,omitempty"`
}

// MarshalJSON writes the parts that are set under keys in snake_case. It writes 0 for a
// score that is no number, the largest number for one that is infinite, and no time that
// JSON has no form for.
func (e Event) MarshalJSON() ([]byte, error) {
	if _, err := e.Time.MarshalJSON(); err != nil {
		e.Time = time.Time{}
	}
	return json.Marshal(eventJSON{e.Time, e.Kind, e.Tool, e.CallID, e.Server, e.Repeat, e.Search.finite(), e.Tools, e.Output, e.Pass, e.Program, safe.ErrorText(e.Err)})
}

// finite returns the search with numbers that JSON can hold.
func (s *Search) finite() *Search {
	if s == nil || !slices.ContainsFunc(s.Hits, func(h Hit) bool {
		return !isFinite(h.Score) || !isFinite(h.Confidence) || slices.ContainsFunc(h.Terms, func(t Term) bool { return !isFinite(t.Score) })
	}) {
		return s
	}
	mended := *s
	mended.Hits = slices.Clone(s.Hits)
	for i := range mended.Hits {
		h := &mended.Hits[i]
		h.Score, h.Confidence, h.Terms = display.Finite(h.Score), display.Finite(h.Confidence), slices.Clone(h.Terms)
		for j := range h.Terms {
			h.Terms[j].Score = display.Finite(h.Terms[j].Score)
		}
	}
	return &mended
}

func isFinite(x float64) bool { return x == display.Finite(x) }

// UnmarshalJSON reads what MarshalJSON wrote. Err is then an error with the same text.
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = Event{j.Time, j.Kind, j.Tool, j.CallID, j.Server, j.Repeat, j.Search, j.Tools, j.Output, j.Pass, j.Program, nil}
	if j.Error != "" {
		e.Err = errors.New(j.Error)
	}
	return nil
}
