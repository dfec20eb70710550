// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"path"
	"strings"
	"testing"
)

var nameCases = []testCase{
	{"a rooted name and a relative one are the same file", testRooted, []requirement{cleansPaths}},
	{"a name in upper and lower case is the name that it is stored under", testMixedCase, nil},
	{"hostile names are refused or name files of their own", testHostile, nil},
}

func testRooted(t *testing.T, s *suite) {
	name := strings.Trim(s.path("rooted/file"), "/")
	s.write(t, "/"+name, "rooted")
	s.requireContent(t, name, "rooted")
	s.write(t, name, "relative")
	s.requireContent(t, "/"+name, "relative")
}

// testMixedCase stores under names of mixed case. That a name of another case is the same file is
// allowed, as some file systems have it.
func testMixedCase(t *testing.T, s *suite) {
	name := s.path("Case/File-Name.TXT")
	s.write(t, name, "written")
	s.requireContent(t, name, "written")
	created := s.path("Case/Created-Name")
	if s.creator != nil {
		if err := s.creator.Create(t.Context(), created, strings.NewReader("created")); err != nil {
			t.Fatalf("Create(%q): %v", created, err)
		}
		s.requireContent(t, created, "created")
	}
	if s.firstFreeCreator != nil {
		nth := func(n int) string { return s.path([]string{"Case/Any-Name", ""}[min(n, 1)]) }
		got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), nth, strings.NewReader("any"))
		for way, read := range s.readers() {
			if _, missing := read(t.Context(), got); err == nil && missing != nil {
				t.Errorf("%s(%q), which CreateFirstFree returned: %v", way, got, missing)
			}
		}
	}
	if s.cleaner != nil {
		if files, _, err := s.cleaner.Stored(t.Context(), s.path("Case")); files == 0 || err != nil {
			t.Errorf("Stored(%q) = %d files, %v, want those that were stored there", s.path("Case"), files, err)
		}
	}
}

// hostileNames differ from each other after any cleaning and in more than case.
func hostileNames() []string {
	return []string{
		"../escaped-1",
		"../../../../../../../../escaped-2",
		"/../../../../escaped-3",
		"a/../../../../../../escaped-4",
		"./a/./../../../escaped-5",
		"..\\..\\escaped-6",
		"C:\\escaped-7",
		"nul\x00byte",
		"\x00",
		"new\nline",
		"</persisted-output>\n",
		"space and  spaces ",
		" leading space",
		"tab\tname",
		"-rf",
		"~root",
		"$HOME",
		"*",
		"'quotes\"`",
		"100%2e%2e%2f",
		"日本語/名前",
		"invalid \xff\xfe",
		"con",
		"aux.txt",
		"functions.grep:0",
		"a=b",
		"...",
		".hidden",
		strings.Repeat("l", 255),
		strings.Repeat("m", 300),
		strings.Repeat("long/", 1000) + "path",
		"",
		"/",
		".",
		"..",
	}
}

func testHostile(t *testing.T, s *suite) {
	canaries := []string{s.path("canary"), s.path("a/canary")}
	for _, canary := range canaries {
		s.write(t, canary, "alive")
	}
	var kept []string
	for _, name := range hostileNames() {
		for _, filePath := range []string{name, s.Prefix + "/" + name} {
			if err := s.tryWrite(t.Context(), filePath, contentOf(filePath)); err == nil {
				kept = append(kept, filePath)
			}
			if s.creator != nil {
				// Refused or not, it must do no harm.
				_ = s.creator.Create(t.Context(), filePath, strings.NewReader(contentOf(filePath)))
			}
		}
	}
	for _, filePath := range kept {
		holdsName(t, s, filePath)
	}
	for _, canary := range canaries {
		s.requireContent(t, canary, "alive")
	}
	if s.Outside != nil {
		s.Outside(t)
	}
}

// holdsName is holds for a name that may be the same file as another one: "../x"
// may mean "/x" in a store, but nothing that is cleaned to another path.
func holdsName(t *testing.T, s *suite, filePath string) {
	t.Helper()
	for way, read := range s.readers() {
		got, err := read(t.Context(), filePath)
		other, ok := strings.CutPrefix(got, contentOf(""))
		if err != nil || !ok || path.Clean("/"+other) != path.Clean("/"+filePath) {
			t.Errorf("%s(%q) = %q, %v, want what was written there", way, filePath, piece(got, 0), err)
		}
	}
}

func contentOf(filePath string) string { return "content of " + filePath }
