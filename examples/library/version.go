// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of semantic versions.

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func versionServer() Server {
	return Server{Name: "version", Title: "Semantic versions", Tools: []tool.BaseTool{
		define("version__parse", "Takes a semantic version apart into major, minor, patch, pre-release and build.", versionParse),
		define("version__compare", "Says which of two semantic versions is the newer one.", versionCompare),
		define("version__bump", "Raises the major, minor or patch part of a semantic version.", versionBump),
		define("version__sort", "Sorts semantic versions from the oldest to the newest.", versionSort),
		define("version__satisfies", "Says whether a version satisfies a constraint such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0.", versionSatisfies),
		define("version__latest", "Finds the newest of some versions that satisfies a constraint.", versionLatest),
	}}
}

type version struct {
	part [3]int
	pre  string
	text string
}

var versionForm = regexp.MustCompile(`^[vV=]?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$`)

func parseVersion(text string) (version, error) {
	m := versionForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return version{}, fmt.Errorf("%q is not a version such as 1.4.2 or v2.0.0-rc.1", text)
	}
	v := version{pre: m[4], text: strings.TrimSpace(text)}
	for i := range v.part {
		v.part[i], _ = strconv.Atoi(m[i+1])
	}
	return v, nil
}

func compareVersions(a, b version) int {
	if c := slices.Compare(a.part[:], b.part[:]); c != 0 || a.pre == b.pre {
		return c
	}
	if a.pre == "" || b.pre == "" { // a pre-release comes before its release
		return cmp.Compare(len(b.pre), len(a.pre))
	}
	return slices.CompareFunc(strings.Split(a.pre, "."), strings.Split(b.pre, "."), func(x, y string) int {
		n, errX := strconv.Atoi(x)
		m, errY := strconv.Atoi(y)
		switch {
		case errX == nil && errY == nil:
			return cmp.Compare(n, m)
		case errX == nil:
			return -1
		case errY == nil:
			return 1
		}
		return strings.Compare(x, y)
	})
}

type versionIn struct {
	Version string `json:"version" jsonschema_description:"The version, such as 1.4.2"`
}

func versionParse(in versionIn) (string, error) {
	v, err := parseVersion(in.Version)
	out := fmt.Sprintf("major %d, minor %d, patch %d", v.part[0], v.part[1], v.part[2])
	if v.pre != "" {
		out += ", pre-release " + v.pre
	}
	if _, build, ok := strings.Cut(v.text, "+"); ok {
		out += ", build " + build
	}
	return out, err
}

type twoVersionsIn struct {
	First  string `json:"first" jsonschema_description:"The first version"`
	Second string `json:"second" jsonschema_description:"The second version"`
}

func versionCompare(in twoVersionsIn) (string, error) {
	list, err := parseVersions([]string{in.First, in.Second})
	if err != nil {
		return "", err
	}
	switch c := compareVersions(list[0], list[1]); {
	case c < 0:
		return in.Second + " is newer than " + in.First, nil
	case c > 0:
		return in.First + " is newer than " + in.Second, nil
	}
	return "both are the same version", nil
}

type bumpIn struct {
	versionIn
	Part string `json:"part" jsonschema:"enum=major,enum=minor,enum=patch" jsonschema_description:"The part to raise"`
}

func versionBump(in bumpIn) (string, error) {
	v, err := parseVersion(in.Version)
	if err != nil {
		return "", err
	}
	at := map[string]int{"major": 0, "minor": 1, "patch": 2}[in.Part]
	release := v.pre != "" && !slices.ContainsFunc(v.part[at+1:], func(n int) bool { return n > 0 })
	if !release { // 2.0.0-rc.1 becomes 2.0.0, not 3.0.0
		v.part[at]++
	}
	clear(v.part[at+1:])
	prefix := v.text[:strings.IndexAny(v.text, "0123456789")]
	return fmt.Sprintf("%s%d.%d.%d", prefix, v.part[0], v.part[1], v.part[2]), nil
}

type versionsIn struct {
	Versions []string `json:"versions" jsonschema:"minItems=1" jsonschema_description:"The versions"`
}

func parseVersions(texts []string) ([]version, error) {
	var out []version
	for _, text := range texts {
		v, err := parseVersion(text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func versionSort(in versionsIn) (string, error) {
	list, err := parseVersions(in.Versions)
	slices.SortStableFunc(list, compareVersions)
	var out []string
	for _, v := range list {
		out = append(out, v.text)
	}
	return strings.Join(out, "\n"), err
}

var constraintForm = regexp.MustCompile(`^(\^|~|>=|<=|>|<|=|!=)?\s*(.+)$`)

// satisfies checks all conditions that blanks or commas part, and any of those that || parts.
func satisfies(v version, constraint string) (bool, error) {
	constraint = regexp.MustCompile(`([\^~<>=!])\s+`).ReplaceAllString(constraint, "$1")
	for _, either := range strings.Split(constraint, "||") {
		all := true
		for _, condition := range strings.FieldsFunc(either, func(r rune) bool { return r == ' ' || r == ',' }) {
			ok, err := meets(v, condition)
			if err != nil {
				return false, err
			}
			all = all && ok
		}
		if all && strings.TrimSpace(either) != "" {
			return true, nil
		}
	}
	return false, nil
}

func meets(v version, condition string) (bool, error) {
	m := constraintForm.FindStringSubmatch(condition)
	if m == nil {
		return false, fmt.Errorf("%q is not a constraint", condition)
	}
	bound, err := parseVersion(m[2])
	if err != nil {
		return false, err
	}
	c := compareVersions(v, bound)
	switch m[1] {
	case "^":
		first := slices.IndexFunc(bound.part[:], func(n int) bool { return n > 0 })
		return c >= 0 && slices.Equal(v.part[:max(0, first)+1], bound.part[:max(0, first)+1]), nil
	case "~":
		same := min(2, strings.Count(m[2], ".")+1)
		return c >= 0 && slices.Equal(v.part[:same], bound.part[:same]), nil
	}
	return map[string]bool{"": c == 0, "=": c == 0, "!=": c != 0, ">": c > 0, ">=": c >= 0, "<": c < 0, "<=": c <= 0}[m[1]], nil
}

type satisfiesIn struct {
	versionIn
	Constraint string `json:"constraint" jsonschema_description:"The constraint, such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0; || parts alternatives"`
}

func versionSatisfies(in satisfiesIn) (string, error) {
	v, err := parseVersion(in.Version)
	if err != nil {
		return "", err
	}
	ok, err := satisfies(v, in.Constraint)
	if ok {
		return fmt.Sprintf("yes, %s satisfies %s", in.Version, in.Constraint), err
	}
	return fmt.Sprintf("no, %s does not satisfy %s", in.Version, in.Constraint), err
}

type latestIn struct {
	versionsIn
	Constraint string `json:"constraint,omitempty" jsonschema:"default=>=0" jsonschema_description:"The constraint; any version if left out"`
}

func versionLatest(in latestIn) (string, error) {
	list, err := parseVersions(in.Versions)
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(list, compareVersions)
	for _, v := range slices.Backward(list) {
		if ok, err := satisfies(v, in.Constraint); ok || err != nil {
			return v.text, err
		}
	}
	return "none of the versions satisfies " + in.Constraint, nil
}
