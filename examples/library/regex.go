// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of regular expressions.

import (
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
)

var regexServer = group{"regex", "Regular expressions (RE2)", []maker{
	define("regex__test", "Says whether a text matches a regular expression, and where first.", func(in patternIn) (string, error) {
		at := in.Pattern.FindStringIndex(in.Text)
		if at == nil {
			return "no match", nil
		}
		return fmt.Sprintf("match %q at byte %d", in.Text[at[0]:at[1]], at[0]), nil
	}),
	define("regex__find_all", "Lists everything in a text that matches a regular expression.", func(in patternIn) (string, error) {
		found := in.Pattern.FindAllString(in.Text, maxMatches)
		return listed(found, "no match"), nil
	}),
	define("regex__groups", "Extracts the capture groups of every match of a regular expression, with their names.", func(in patternIn) (string, error) {
		if in.Pattern.NumSubexp() == 0 {
			return "", fmt.Errorf("the pattern has no groups in parentheses")
		}
		var out []string
		for _, match := range in.Pattern.FindAllStringSubmatch(in.Text, maxMatches) {
			var groups []string
			for i, name := range in.Pattern.SubexpNames()[1:] {
				if name == "" {
					name = fmt.Sprint(i + 1)
				}
				groups = append(groups, name+"="+match[i+1])
			}
			out = append(out, strings.Join(groups, ", "))
		}
		return listed(out, "no match"), nil
	}),
	define("regex__replace", "Replaces what matches a regular expression in a text; $1 or ${name} stand for groups.", func(in struct {
		patternIn
		Replacement string `json:"replacement" jsonschema_description:"What to put in place of each match; may be empty"`
	}) (string, error) {
		n := len(in.Pattern.FindAllStringIndex(in.Text, -1))
		longest := len(in.Replacement)
		if strings.Contains(in.Replacement, "$") {
			longest *= 1 + len(in.Text)/100
		}
		if n*longest > 16*maxAnswer {
			return "", fmt.Errorf("the result would be too long: %d matches", n)
		}
		return in.Pattern.ReplaceAllString(in.Text, in.Replacement), nil
	}),
	define("regex__split", "Splits a text wherever a regular expression matches.",
		func(in patternIn) (string, error) {
			return strings.Join(in.Pattern.Split(in.Text, maxMatches), "\n"), nil
		}),
	define("regex__count", "Counts the matches of a regular expression in a text.",
		func(in patternIn) (string, error) {
			return fmt.Sprint(len(in.Pattern.FindAllStringIndex(in.Text, -1))), nil
		}),
	define("regex__escape", "Escapes a text so that a regular expression matches it literally.",
		func(in textIn) (string, error) { return regexp.QuoteMeta(in.Text), nil }),
	define("regex__explain", "Checks a regular expression and explains its parts, one a line.", func(in struct {
		Pattern pattern `json:"pattern" jsonschema_description:"The regular expression in RE2 syntax"`
	}) (string, error) {
		tree, err := syntax.Parse(in.Pattern.text, syntax.Perl)
		if err != nil {
			return "", fmt.Errorf("%q is not a valid regular expression", in.Pattern.text)
		}
		var out []string
		describeRegexp(tree, 0, &out)
		return strings.Join(out, "\n"), nil
	}),
	define("regex__glob_match", "Says which of some names match a shell pattern with * and ?.", func(in struct {
		Pattern string   `json:"pattern" jsonschema_description:"The shell pattern, such as *.txt"`
		Names   []string `json:"names" jsonschema:"minItems=1" jsonschema_description:"The names to try"`
	}) (string, error) {
		var out []string
		for _, name := range in.Names {
			ok, err := path.Match(in.Pattern, name)
			if err != nil {
				return "", fmt.Errorf("%q is not a valid shell pattern", in.Pattern)
			}
			if ok {
				out = append(out, name)
			}
		}
		return listed(out, "no name matches"), nil
	}),
}}

type patternIn struct {
	textIn
	Pattern pattern `json:"pattern" jsonschema_description:"The regular expression in RE2 syntax; (?i) in front ignores case"`
}

// pattern is an argument that is a regular expression.
type pattern struct {
	written
	*regexp.Regexp
}

// UnmarshalJSON compiles the pattern.
func (p *pattern) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &p.written, &p.Regexp, compilePattern)
}

// maxMatches bounds a list of matches.
const maxMatches = 1000

func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > 2000 {
		return nil, fmt.Errorf("the pattern has %d bytes; at most 2000 are taken", len(pattern))
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%q is not a valid regular expression: %s", pattern, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

var regexpOps = map[syntax.Op]string{
	syntax.OpAnyChar: "any character", syntax.OpAnyCharNotNL: "any character but a line break", syntax.OpBeginLine: "start of a line", syntax.OpEndLine: "end of a line",
	syntax.OpBeginText: "start of the text", syntax.OpEndText: "end of the text", syntax.OpWordBoundary: "word boundary", syntax.OpNoWordBoundary: "no word boundary",
	syntax.OpStar: "none or more of", syntax.OpPlus: "one or more of", syntax.OpQuest: "optionally", syntax.OpConcat: "in this order", syntax.OpAlternate: "one of", syntax.OpEmptyMatch: "nothing",
	syntax.OpNoMatch: "never",
}

func describeRegexp(re *syntax.Regexp, depth int, out *[]string) {
	if depth > 40 || len(*out) > 500 {
		return
	}
	line := regexpOps[re.Op]
	switch re.Op {
	case syntax.OpLiteral:
		line = fmt.Sprintf("the text %q", string(re.Rune))
	case syntax.OpCharClass:
		line = "one character of " + re.String()
	case syntax.OpCapture:
		line = fmt.Sprintf("group %d %s", re.Cap, re.Name)
	case syntax.OpRepeat:
		line = fmt.Sprintf("%d to %d times", re.Min, re.Max)
		if re.Max < 0 {
			line = fmt.Sprintf("at least %d times", re.Min)
		}
	}
	*out = append(*out, strings.Repeat("  ", depth)+strings.TrimSpace(line))
	for _, sub := range re.Sub {
		describeRegexp(sub, depth+1, out)
	}
}
