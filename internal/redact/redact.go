// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package redact takes secrets from what a server, a URL or a header says, before anything keeps
// or shows it.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mask stands where a secret was.
const mask = "…"

// Text returns a text without secrets: without the known ones, in any form in which URLs, JSON and
// quotes write them, and without what looks like one. Of URLs that is who asks, the query, the
// fragment, and each part of a path that may be a key; elsewhere, what follows a name such as
// "token" or "Bearer", and keys in the forms of well-known services.
func Text(text string, known ...string) string {
	for _, secret := range formsOf(known) {
		text = strings.ReplaceAll(text, secret, mask)
	}
	lower := foldCase(text)
	for _, r := range rules {
		if r.mayMatch(text, lower) {
			text = r.replace(text)
		}
	}
	return text
}

// rule takes one kind of secret out of a text.
type rule struct {
	pattern     *regexp.Regexp
	replacement string // what stands for a match; if empty, withoutKeys makes it
	// may reports whether a text, which is also there in lower case, may hold a match. A server may
	// log megabytes, and this takes a hundredth of the pattern's time.
	mayMatch func(text, lower string) bool
}

func (r rule) replace(text string) string {
	if r.replacement == "" {
		return r.pattern.ReplaceAllStringFunc(text, withoutKeys)
	}
	return r.pattern.ReplaceAllString(text, r.replacement)
}

// foldCase returns a text in lower case, as patterns without case read it: they take ſ for an s.
func foldCase(text string) string { return strings.ReplaceAll(strings.ToLower(text), "ſ", "s") }

// rules are applied in this order. In URLs, secrets are who asks, the path, and what follows it.
var rules = []rule{
	{regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'<>]*@`), "$1", containsAny("://")},
	{regexp.MustCompile(`(://[^\s?#"'<>/]+)(/[^\s?#"'<>]+)`), "", containsAny("://")},
	{regexp.MustCompile(`(\?|://[^\s?#"'<>]*#)[^\s"'<>]+`), "$1" + mask, containsAny("?", "://")},
	{regexp.MustCompile(`(?i)(\b(?:bearer|basic)[ +:]+)["'\\]*[A-Za-z0-9._~+/=-]{6,}`), "$1" + mask, containsAnyFold("bearer", "basic")},
	{regexp.MustCompile(`(?i)(\b[\w-]*(?:` + secretWord + `)[\w-]*\\?["']?[ \t]*[:=][ \t]*)(?:\\?"[^"\\]*\\?"|'[^']*'|[^\s"'\\,;&)}\]]+)`), "$1" + mask,
		containsAnyFold("key", "secret", "token", "passw", "passphrase", "authorization", "credential", "cookie", "signature")},
	{service, mask, func(text, _ string) bool { return strings.Contains(text, "eyJ") || hasLongWord(text) }},
}

// service matches keys of well-known services.
var service = regexp.MustCompile(`\b(?:sk|pk|rk|gh[a-z]|glpat|github_pat|xox[a-z]|npm|hf|pypi|shpat|AIza|AKIA|ASIA)[-_A-Za-z0-9]{16,}|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?`)

// containsAny returns a function that reports whether a text has one of the words.
func containsAny(words ...string) func(text, lower string) bool {
	return func(text, _ string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
}

// containsAnyFold is containsAny without case.
func containsAnyFold(words ...string) func(text, lower string) bool {
	is := containsAny(words...)
	return func(_, lower string) bool { return is(lower, "") }
}

// hasLongWord reports whether a text has a word as long as the shortest key of a service.
func hasLongWord(text string) bool {
	const shortest = 18
	length := 0
	for i := range len(text) {
		c := text[i]
		if c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			if length++; length == shortest {
				return true
			}
			continue
		}
		length = 0
	}
	return false
}

// withoutKeys is the host and the path of a URL without the parts that may be keys.
func withoutKeys(url string) string {
	parts := strings.Split(url, "/")
	for i, p := range parts[3:] { // after the scheme and the host
		if MayBeKey(p) {
			parts[3+i] = mask
		}
	}
	return strings.Join(parts, "/")
}

// secretWord is in the name of what holds a secret.
const secretWord = `api[-_]?key|access[-_]?key|private[-_]?key|secret|token|passw(?:or)?d|passphrase|authorization|credentials?|cookie|signature`

var isSecretName = regexp.MustCompile(`(?i)` + secretWord + `|(?:^|[-_])(?:key|auth|pass|pwd|pat|dsn)(?:$|[-_])`)

// MayBeKey reports whether a word may be a key: it is longer than words are, or as long as a key
// and has a digit.
func MayBeKey(word string) bool {
	const longWord, shortKey = 24, 8
	return len(word) >= longWord || len(word) >= shortKey && strings.ContainsAny(word, "0123456789")
}

// minSecretBytes is the length from which on a value is searched for everywhere.
const minSecretBytes = 4

// formsOf are the texts that stand for values, the longest first.
func formsOf(values []string) (forms []string) {
	for _, v := range values {
		if len(v) < minSecretBytes {
			continue
		}
		quoted := strconv.Quote(v)
		inJSON, _ := json.Marshal(v) // a string can always be encoded
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), quoted[1:len(quoted)-1], string(inJSON[1:len(inJSON)-1]), base64.StdEncoding.EncodeToString([]byte(v)))
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(forms)
}

// InURL are the parts of a URL that may be secrets.
func InURL(raw string) (values []string) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	if u.User != nil {
		password, _ := u.User.Password()
		values = append(values, u.User.Username(), password)
	}
	for _, p := range strings.Split(u.Path, "/") {
		if MayBeKey(p) {
			values = append(values, p)
		}
	}
	for _, all := range u.Query() {
		values = append(values, all...)
	}
	return append(values, u.RawQuery, u.Fragment)
}

// harmlessHeaders are headers without secrets.
var harmlessHeaders = []string{"accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-type", "host", "origin", "user-agent"}

// InHeader are the parts of a header that may be secrets: its value, and what follows a scheme
// such as Bearer in it.
func InHeader(name, value string) (values []string) {
	if slices.Contains(harmlessHeaders, strings.ToLower(name)) {
		return nil
	}
	values = []string{value}
	kind, rest, _ := strings.Cut(value, " ")
	if rest = strings.TrimSpace(rest); rest == "" {
		return values
	}
	values = append(values, rest)
	if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(kind, "basic") {
		_, password, _ := strings.Cut(string(plain), ":")
		values = append(values, string(plain), password)
	}
	return values
}

// InVariable are the parts of a variable that may be secrets: its value, if the variable's name or
// the value's form says so. A path is none, and what a URL holds may be one.
func InVariable(name, value string) []string {
	switch {
	case isSecretName.MatchString(name):
		return append(InURL(value), value)
	case strings.Contains(value, "://"):
		return InURL(value)
	case service.MatchString(value), !strings.ContainsAny(value, `/\. `) && MayBeKey(value):
		return []string{value}
	}
	return nil
}

// InArguments are the parts of a program's arguments that may be secrets.
func InArguments(args []string) (values []string) {
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		if !has && i > 0 && strings.HasPrefix(args[i-1], "-") {
			name, value = args[i-1], arg
		} else if !has {
			name, value = "", arg
		}
		values = append(values, InVariable(strings.TrimLeft(name, "-"), value)...)
	}
	return values
}
