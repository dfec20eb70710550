// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// A server in the configuration files of other programs. A key that restricts what the server may do is
// obeyed or refused, but never ignored.

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/redact"
)

// maxSeconds is the longest timeout without a unit that means seconds. Programs that write more write
// milliseconds.
const maxSeconds = 3600

// serverReader reads the members of a server's object.
type serverReader struct {
	server   Server
	errs     []error
	includes []string // the keys that name the only tools
	types    []string // the keys that say what kind of server it is
	urls     map[string]string
}

// serverKeys are the keys that are read, and how.
var serverKeys = map[string]func(r *serverReader, key string, value json.RawMessage){
	"type":      (*serverReader).readType,
	"transport": (*serverReader).readType,

	"command":     (*serverReader).readCommand,
	"args":        (*serverReader).readArgs,
	"env":         (*serverReader).readEnv,
	"environment": (*serverReader).readEnv,
	"cwd":         (*serverReader).readDir,

	"url":       (*serverReader).readURL,
	"httpUrl":   (*serverReader).readURL,
	"serverUrl": (*serverReader).readURL,

	"headers":              (*serverReader).readHeaders,
	"http_headers":         (*serverReader).readHeaders,
	"env_http_headers":     (*serverReader).readHeaderVariables,
	"bearer_token_env_var": (*serverReader).readBearerVariable,

	"disabled": (*serverReader).readDisabled,
	"enabled":  (*serverReader).readEnabled,

	"include":       (*serverReader).readInclude,
	"includeTools":  (*serverReader).readInclude,
	"enabledTools":  (*serverReader).readInclude,
	"enabled_tools": (*serverReader).readInclude,
	"allowedTools":  (*serverReader).readInclude,
	"allowed_tools": (*serverReader).readInclude,
	"tools":         (*serverReader).readInclude,

	"exclude":        (*serverReader).readExclude,
	"excludeTools":   (*serverReader).readExclude,
	"disabledTools":  (*serverReader).readExclude,
	"disabled_tools": (*serverReader).readExclude,
	"blockedTools":   (*serverReader).readExclude,

	"timeout":          (*serverReader).readTimeout,
	"tool_timeout_sec": (*serverReader).readSeconds,

	"noPrefix":   func(r *serverReader, key string, v json.RawMessage) { r.server.NoPrefix = r.flag(key, v) },
	"noRecheck":  func(r *serverReader, key string, v json.RawMessage) { r.server.NoRecheck = r.flag(key, v) },
	"shared":     func(r *serverReader, key string, v json.RawMessage) { r.server.Shared = r.flag(key, v) },
	"alwaysLoad": (*serverReader).readAlwaysLoad,

	// About approvals, and for people.
	"alwaysAllow": skipKey, "autoApprove": skipKey, "trust": skipKey, "description": skipKey, "name": skipKey,
}

func skipKey(*serverReader, string, json.RawMessage) {}

// restrictingWords are the words of a key that may restrict what a server may do.
var restrictingWords = []string{
	"enable", "enabled", "disable", "disabled", "exclude", "excluded", "deny", "denied", "block", "blocked", "allow", "allowed",
	"only", "include", "included",
}

// readServer reads a server. A disabled one has no errors.
func readServer(data []byte) (Server, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return Server{}, fmt.Errorf("it is %s, not an object", kindOfJSON(data))
	}
	r := serverReader{urls: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		read, ok := serverKeys[key]
		switch {
		case string(members[key]) == "null": // as if it was not there
		case ok:
			read(&r, key, members[key])
		case restricts(key):
			r.fail(key, "is unknown and may restrict what the server may do, so the server is not started: remove it, or use disabled, include or exclude")
		default:
			r.warn(key, "is unknown and has no effect")
		}
	}
	r.chooseURL()
	if r.server.Disabled {
		return r.server, nil
	}
	return r.server, errors.Join(r.errs...)
}

// restricts reports whether a key that is not known may restrict what a server may do.
func restricts(key string) bool {
	words := wordsOf(key)
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(restrictingWords, word) }) &&
		!slices.Equal(words, []string{"read", "only"})
}

// wordsOf splits a key at changes of case and at everything that is neither a letter nor a digit.
func wordsOf(key string) (words []string) {
	letters := []rune(key)
	start := 0
	end := func(i int) {
		if i > start {
			words = append(words, strings.ToLower(string(letters[start:i])))
		}
	}
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])):
			end(i)
			start = i
		}
	}
	end(len(letters))
	return words
}

// shownKey is a key as messages name it.
func shownKey(key string) string { return display.Short(redact.Text(key), 200) }

func (r *serverReader) fail(key, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s: %s", shownKey(key), fmt.Sprintf(format, args...)))
}

func (r *serverReader) warn(key, format string, args ...any) {
	r.server.warnings = append(r.server.warnings, fmt.Sprintf("%s: %s", shownKey(key), fmt.Sprintf(format, args...)))
}

// kindOfJSON names the type of a JSON value.
func kindOfJSON(value json.RawMessage) string {
	switch strings.TrimSpace(string(value) + " ")[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

func (r *serverReader) text(key string, value json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(value, &text) != nil {
		r.fail(key, "is %s and should be a string", kindOfJSON(value))
		return "", false
	}
	return text, true
}

// scalar returns the text of a string, or of a number or a truth value as it is written.
func (r *serverReader) scalar(key string, value json.RawMessage) (text string, ok bool) {
	switch value[0] {
	case '{', '[', 'n':
		r.fail(key, "is %s and should be a string", kindOfJSON(value))
		return "", false
	case '"':
		return r.text(key, value)
	}
	return string(value), true
}

func (r *serverReader) flag(key string, value json.RawMessage) (enabled bool) {
	if json.Unmarshal(value, &enabled) != nil {
		r.fail(key, "is %s and should be true or false", kindOfJSON(value))
	}
	return enabled
}

// names reads a list of names, in which only a trailing * may stand for more than itself.
func (r *serverReader) names(key string, value json.RawMessage) (names []string, ok bool) {
	if json.Unmarshal(value, &names) != nil {
		r.fail(key, "is not a list of names")
		return nil, false
	}
	for _, name := range names {
		if name == "" {
			r.fail(key, "one of the names is empty")
			return nil, false
		}
		if strings.Contains(strings.TrimSuffix(name, "*"), "*") {
			r.fail(key, "%q: only a * at the end is understood", name)
			return nil, false
		}
	}
	return names, true
}

// typesByName maps the transport names of other programs to ours.
var typesByName = map[string]string{
	"stdio": "stdio", "local": "stdio", "http": "http", "streamable-http": "http", "streamable_http": "http", "streamablehttp": "http",
	"remote": "http", "sse": "sse",
}

func (r *serverReader) readType(key string, value json.RawMessage) {
	text, ok := r.text(key, value)
	if !ok || text == "" {
		return
	}
	kind := typesByName[strings.ToLower(text)]
	switch {
	case kind == "":
		r.fail(key, "%q is unknown: use stdio, http or sse", nameOf(text))
	case r.server.Type != "" && r.server.Type != kind:
		r.fail(key, "%q contradicts %s, which is %q", nameOf(text), r.types[0], r.server.Type)
	default:
		r.server.Type, r.types = kind, append(r.types, key)
	}
}

// readCommand reads a program, or a list of the program and its first arguments.
func (r *serverReader) readCommand(key string, value json.RawMessage) {
	var list []string
	if json.Unmarshal(value, &list) == nil && len(list) > 0 {
		r.server.Command, r.server.Args = list[0], append(list[1:], r.server.Args...)
		return
	}
	r.server.Command, _ = r.text(key, value)
}

func (r *serverReader) readArgs(key string, value json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		r.fail(key, "is %s and should be a list", kindOfJSON(value))
		return
	}
	for i, arg := range list {
		text, _ := r.scalar(fmt.Sprintf("%s[%d]", key, i), arg)
		r.server.Args = append(r.server.Args, text)
	}
}

// texts reads an object of texts. Null leaves a member out.
func (r *serverReader) texts(key string, value json.RawMessage, add func(name, text string)) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		r.fail(key, "is %s and should be an object", kindOfJSON(value))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if string(members[name]) == "null" {
			continue
		}
		if text, ok := r.scalar(fmt.Sprintf("%s[%q]", key, nameOf(name)), members[name]); ok {
			add(name, text)
		}
	}
}

func (r *serverReader) readEnv(key string, value json.RawMessage) {
	r.texts(key, value, func(name, text string) {
		if r.server.Env == nil {
			r.server.Env = map[string]string{}
		}
		r.server.Env[name] = text
	})
}

func (r *serverReader) readDir(key string, value json.RawMessage) {
	r.server.Dir, _ = r.text(key, value)
}

func (r *serverReader) readURL(key string, value json.RawMessage) {
	if text, ok := r.text(key, value); ok {
		r.urls[key] = text
	}
}

// chooseURL chooses one of several addresses: the one with the more specific key.
func (r *serverReader) chooseURL() {
	chosen := ""
	for _, key := range []string{"httpUrl", "url", "serverUrl"} {
		text, ok := r.urls[key]
		switch {
		case ok && chosen == "":
			r.server.URL, chosen = text, key
		case ok && text != r.server.URL:
			r.warn(key, "has no effect beside %s", chosen)
		}
	}
}

func (r *serverReader) setHeader(name, value string) {
	if r.server.Headers == nil {
		r.server.Headers = map[string]string{}
	}
	r.server.Headers[name] = value
}

func (r *serverReader) readHeaders(key string, value json.RawMessage) {
	r.texts(key, value, r.setHeader)
}

// readHeaderVariables reads headers whose values are in environment variables.
func (r *serverReader) readHeaderVariables(key string, value json.RawMessage) {
	r.texts(key, value, func(name, variable string) { r.setHeader(name, "${"+variable+"}") })
}

func (r *serverReader) readBearerVariable(key string, value json.RawMessage) {
	if variable, ok := r.text(key, value); ok {
		r.setHeader("Authorization", "Bearer ${"+variable+"}")
	}
}

func (r *serverReader) readDisabled(key string, value json.RawMessage) {
	r.server.Disabled = r.flag(key, value) || r.server.Disabled
}

func (r *serverReader) readEnabled(key string, value json.RawMessage) {
	var enabled bool
	if err := json.Unmarshal(value, &enabled); err != nil {
		r.flag(key, value)
	} else if !enabled {
		r.server.Disabled = true
	}
}

// readInclude reads the names of the only tools to offer. An empty list offers none.
func (r *serverReader) readInclude(key string, value json.RawMessage) {
	names, ok := r.names(key, value)
	if !ok {
		return
	}
	if len(r.includes) > 0 && !slices.Equal(names, r.server.Include) {
		r.fail(key, "%s names the only tools as well: keep one of both", r.includes[0])
		return
	}
	r.server.Include, r.includes = names, append(r.includes, key)
	if len(names) == 0 {
		r.server.Exclude = append(r.server.Exclude, "*")
	}
}

func (r *serverReader) readExclude(key string, value json.RawMessage) {
	if names, ok := r.names(key, value); ok {
		r.server.Exclude = append(r.server.Exclude, names...)
	}
}

// readAlwaysLoad reads a list of names, or true for all.
func (r *serverReader) readAlwaysLoad(key string, value json.RawMessage) {
	switch string(value) {
	case "true":
		r.server.AlwaysVisible = []string{"*"}
	case "false":
	default:
		r.server.AlwaysVisible, _ = r.names(key, value)
	}
}

// readTimeout reads "90s", or a number of seconds. A large one is in milliseconds.
func (r *serverReader) readTimeout(key string, value json.RawMessage) {
	text, ok := r.scalar(key, value)
	if !ok {
		return
	}
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		r.setTimeout(key, text, d.Seconds())
		return
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		r.fail(key, "%s: write seconds, or a text such as \"90s\"", value)
		return
	}
	if n > maxSeconds {
		n /= 1000
		r.warn(key, "%s without a unit is read as milliseconds", text)
	}
	r.setTimeout(key, text, n)
}

func (r *serverReader) readSeconds(key string, value json.RawMessage) {
	var n float64
	if json.Unmarshal(value, &n) != nil {
		r.fail(key, "is %s and should be a number of seconds", kindOfJSON(value))
		return
	}
	r.setTimeout(key, string(value), n)
}

func (r *serverReader) setTimeout(key, written string, seconds float64) {
	switch {
	case seconds < 0:
		r.fail(key, "%s is negative", written)
	case seconds > math.MaxInt64/float64(time.Second):
		r.fail(key, "%s is too long", written)
	default:
		r.server.Timeout = time.Duration(math.Round(seconds * float64(time.Second)))
	}
}
