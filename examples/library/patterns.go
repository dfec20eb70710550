// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers that find patterns in texts, take addresses, numbers and dates out of them, and compare them.

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/strutil/metrics"
	"github.com/aymanbagabas/go-udiff"
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
			groups := times(in.Pattern.NumSubexp(), func(i int) string {
				return cmp.Or(in.Pattern.SubexpNames()[i+1], fmt.Sprint(i+1)) + "=" + match[i+1]
			})
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
	define("regex__escape", "Escapes a text so that a regular expression matches it literally.", rewritten(regexp.QuoteMeta)),
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

var extractServer = group{"extract", "Addresses, numbers and dates in running text", []maker{
	define("extract__emails", "Finds all e-mail addresses in a text.", found(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`, nil)),
	define("extract__urls", "Finds all web addresses in a text.", found(`https?://[^\s<>"'()\]]*[^\s<>"'()\].,;:!?。,]`, nil)),
	define("extract__phone_numbers", "Finds all phone numbers in a text, international or with a leading zero.",
		found(`(?:\+|\b0|\b1[3-9])\d[\d /().-]{5,18}\d\b`, nil)),
	define("extract__numbers", "Finds all numbers in a text and adds them up.", func(in textIn) (string, error) {
		var numbers []float64
		for _, match := range numberInText.FindAllString(in.Text, maxMatches) {
			numbers = append(numbers, firstNumber(strings.NewReplacer(",", "", "−", "-").Replace(match)))
		}
		if len(numbers) == 0 {
			return "none found", nil
		}
		total, err := finite(sum(numbers))
		return fmt.Sprintf("%s (sum %s)", plainList(numbers), total), err
	}),
	define("extract__dates", "Finds all dates in a text and writes them as YYYY-MM-DD.",
		found(datePattern, func(s string) string {
			t, err := parseDate(s)
			if err != nil {
				return ""
			}
			return t.Format("2006-01-02")
		})),
	define("extract__ip_addresses", "Finds all IP addresses in a text.",
		found(`[0-9A-Fa-f:.]*[0-9A-Fa-f:]`, func(s string) string {
			ip, err := netip.ParseAddr(s)
			if err != nil {
				return ""
			}
			return ip.String()
		})),
	define("extract__hashtags", "Finds all hashtags and mentions (#topic, @name) in a text.", found(`[#@][\p{L}\p{N}_]+`, nil)),
	define("extract__prices", "Finds all amounts of money in a text.",
		found(`(?:[$€£¥]|USD|EUR|GBP|CNY)\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?(?:[€£¥]|USD|EUR|GBP|CNY|元|dollars|euros)`, nil)),
	define("extract__quoted", "Finds everything between quotation marks in a text.",
		found(`"[^"\n]+"|“[^”\n]+”|«[^»\n]+»|「[^」\n]+」`, func(s string) string { return strings.Trim(s, `"“”«»「」`) })),
	define("extract__colors", "Finds all hex colour codes in a text.", found(`#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\b`, nil)),
}}

const datePattern = `\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{4}|` +
	`(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2},? \d{4}`

// found makes a tool that lists the different matches of a pattern; rewrite
// may change a match or drop it by making it empty.
func found(pattern string, rewrite func(string) string) func(textIn) (string, error) {
	re := regexp.MustCompile(pattern)
	return func(in textIn) (string, error) {
		matches := re.FindAllString(in.Text, 10*maxMatches)
		if rewrite != nil {
			matches = each(matches, rewrite)
		}
		out := nonEmpty(unique(matches))
		return listed(out[:min(len(out), maxMatches)], "none found"), nil
	}
}

var numberInText = regexp.MustCompile(`[-−]?\d+(?:,\d{3})*(?:\.\d+)?`)

var compareServer = group{"compare", "Differences and likenesses of texts", []maker{
	define("compare__lines", "Compares two texts line by line and marks what was added (+) and removed (-).", compareLines),
	define("compare__words", "Compares two texts word by word and marks what was [-removed-] and {+added+}.", func(in oldNewIn) (string, error) {
		words := strings.Fields(in.Old)
		if out := strings.Join(words, " "); out == strings.Join(strings.Fields(in.New), " ") {
			return out, nil
		}
		out, err := changes(words, strings.Fields(in.New), len(words), func(kind rune, word string) string {
			return map[rune]string{'=': word, '-': "[-" + word + "-]", '+': "{+" + word + "+}"}[kind]
		})
		return strings.Join(out, " "), err
	}),
	define("compare__levenshtein", "Computes the edit distance (Levenshtein) between two words or short texts.", func(in twoTextsIn) (string, error) {
		if len(in.First)*len(in.Second) > 16*maxCells {
			return "", errors.New("the texts are too long for this comparison")
		}
		return fmt.Sprint(metrics.NewLevenshtein().Distance(in.First, in.Second)), nil
	}),
	define("compare__hamming", "Counts the positions at which two equally long texts differ (Hamming distance).", func(in twoTextsIn) (string, error) {
		if a, b := utf8.RuneCountInString(in.First), utf8.RuneCountInString(in.Second); a != b {
			return "", fmt.Errorf("the texts have %d and %d characters; they must be equally long", a, b)
		}
		return fmt.Sprint(metrics.NewHamming().Distance(in.First, in.Second)), nil
	}),
	// The Dice coefficient over pairs of neighbouring letters, in any case.
	define("compare__similarity", "Rates how alike two texts are from 0 to 100 percent, by the pairs of letters they share.",
		func(in twoTextsIn) (string, error) {
			dice := metrics.SorensenDice{NgramSize: 2}
			return fmt.Sprintf("%.0f%%", 100*dice.Compare(in.First, in.Second)), nil
		}),
	define("compare__closest", "Finds the entries of a list that are most like a word, such as to correct a typing error.", func(in struct {
		Word  string   `json:"word" jsonschema_description:"The word to look for"`
		List  []string `json:"list" jsonschema:"minItems=1" jsonschema_description:"The entries to choose from"`
		Count int      `json:"count,omitempty" jsonschema:"default=3,minimum=1,maximum=100" jsonschema_description:"How many entries to give"`
	}) (string, error) {
		metric := metrics.Levenshtein{InsertCost: 1, DeleteCost: 1, ReplaceCost: 1}
		cost := map[string]int{}
		for _, entry := range in.List {
			if len(in.Word)*len(entry) > maxCells/len(in.List) {
				return "", errors.New("the list is too long for this comparison")
			}
			cost[entry] = metric.Distance(in.Word, entry)
		}
		list := slices.Clone(in.List)
		sort.SliceStable(list, func(i, j int) bool { return cost[list[i]] < cost[list[j]] })
		return joined(list[:min(in.Count, len(list))], "\n", func(entry string) string {
			return fmt.Sprintf("%s (distance %d)", entry, cost[entry])
		}), nil
	}),
	define("compare__soundex", "Computes the Soundex code of English names, which is the same for names that sound alike.", func(in struct {
		Names []string `json:"names" jsonschema:"minItems=1" jsonschema_description:"One or more names"`
	}) (string, error) {
		for _, name := range in.Names {
			if !strings.ContainsAny(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz") {
				return "", fmt.Errorf("%q has no Latin letters", name)
			}
		}
		return joined(in.Names, "\n", func(name string) string { return name + ": " + soundex(name) }), nil
	}),
	define("compare__common_prefix", "Finds the longest text that two texts begin with in common, and the one they end with.",
		func(in twoTextsIn) (string, error) {
			a, b := []rune(in.First), []rune(in.Second)
			head, tail := sharedEnds(a, b)
			return fmt.Sprintf("beginning: %q\nend: %q", string(a[:head]), string(a[len(a)-tail:])), nil
		}),
	define("compare__common_substring", "Finds the longest piece that two texts have in common.", func(in twoTextsIn) (string, error) {
		a, b := []rune(in.First), []rune(in.Second)
		if len(a)*len(b) > maxCells {
			return "", errors.New("the texts are too long for this comparison")
		}
		row := make([]int, len(b)+1) // length of the common piece that ends here
		best, end := 0, 0
		for i, r := range a {
			for j := len(b) - 1; j >= 0; j-- {
				if row[j+1] = 0; b[j] == r {
					row[j+1] = row[j] + 1
				}
				if row[j+1] > best {
					best, end = row[j+1], i+1
				}
			}
		}
		return either(best == 0, "the texts have nothing in common", string(a[end-best:end])), nil
	}),
	define("compare__anagram", "Says whether two phrases are anagrams: the same letters in another order.", func(in twoTextsIn) (string, error) {
		first, second := letters(in.First), letters(in.Second)
		switch {
		case first == "" || second == "":
			return "", errors.New("both phrases need letters or digits")
		case first == second:
			return "yes, they are anagrams", nil
		}
		return "no, they are not anagrams", nil
	}),
	define("compare__lists", "Compares two lists: what is in both, only in the first, only in the second.", func(in struct {
		First  []string `json:"first" jsonschema_description:"The first list"`
		Second []string `json:"second" jsonschema_description:"The second list"`
	}) (string, error) {
		inFirst, inSecond := tally(in.First), tally(in.Second)
		pick := func(list []string, other map[string]int, want bool) string {
			kept := slices.DeleteFunc(unique(list), func(entry string) bool { return (other[entry] > 0) != want })
			return strings.Join(kept, ", ")
		}
		return fmt.Sprintf("in both: %s\nonly in the first: %s\nonly in the second: %s",
			pick(in.First, inSecond, true), pick(in.First, inSecond, false), pick(in.Second, inFirst, false)), nil
	}),
}}

type oldNewIn struct {
	Old string `json:"old" jsonschema_description:"The old text"`
	New string `json:"new" jsonschema_description:"The new text"`
}

// maxCells bounds the table of a comparison.
const maxCells = 4_000_000

// changes marks the lines of a text that went (-), came (+) or stayed (=), these with some
// lines around each change.
func changes(old, new []string, context int, mark func(kind rune, line string) string) ([]string, error) {
	before, after := strings.Join(old, "\n")+"\n", strings.Join(new, "\n")+"\n"
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), context)
	var out []string
	for _, hunk := range diff.Hunks {
		for _, line := range hunk.Lines {
			out = append(out, mark(map[udiff.OpKind]rune{udiff.Delete: '-', udiff.Insert: '+', udiff.Equal: '='}[line.Kind], strings.TrimSuffix(line.Content, "\n")))
		}
	}
	return out, err
}

func compareLines(in oldNewIn) (string, error) {
	out, err := changes(linesIn{in.Old}.lines(), linesIn{in.New}.lines(), 2, func(kind rune, line string) string {
		return strings.Replace(string(kind), "=", " ", 1) + " " + line
	})
	return listed(out, "no differences"), err
}

type twoTextsIn struct {
	First  string `json:"first" jsonschema_description:"The first text"`
	Second string `json:"second" jsonschema_description:"The second text"`
}

// soundexCodes gives the digit of each letter from a to z; h and w are skipped, vowels part letters.
const soundexCodes = "0123012-02245501262301-202"

func soundex(name string) string {
	var out []byte
	last := byte('0')
	for _, r := range strings.ToLower(name) {
		if r < 'a' || r > 'z' {
			continue
		}
		code := soundexCodes[r-'a']
		switch {
		case len(out) == 0:
			out = append(out, byte(r)-'a'+'A')
		case code != '0' && code != '-' && code != last:
			out = append(out, code)
		}
		if code != '-' {
			last = code
		}
	}
	return (string(out) + "000")[:4]
}

// letters gives a phrase's letters and digits in order.
func letters(text string) string {
	kept := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	out := []rune(strings.Join(kept, ""))
	slices.Sort(out)
	return string(out)
}
