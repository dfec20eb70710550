// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// meaning writes the terms of a query: its words, what each counts, and what stands
// for it.
func meaning(x *Index, text string) string {
	var lines []string
	q := parsed(x, text)
	for _, t := range q.terms {
		line := fmt.Sprintf("%s %.3g:", t.text, t.weight)
		for _, e := range t.expansions {
			line += fmt.Sprintf(" %s %s %.3g;", e.relation, x.Text(e.token), e.weight)
		}
		lines = append(lines, strings.TrimRight(line, ":;"))
	}
	return strings.Join(lines, "\n")
}

func TestParse_ExpandsTerms(t *testing.T) {
	for _, c := range []struct{ names, query, want string }{
		{"mail", "mail", "mail 1: equals mail 1"},
		{"mail", "mails", "mail 1: equals mail 1"},
		{"convert", "conversion", "convers 1: form of convert 0.8; synonym of convert 0.3; looks like convert 0.6"},
		{"remove", "delete", "delet 1: same as remov 0.6; synonym of remov 0.3"},
		{"erase", "removal", "remov 1: same as eras 0.6; synonym of eras 0.3"},
		{"list", "show", "show 1: synonym of list 0.3"},
		{"weather", "rain", "rain 1: related to weather 0.45"},
		{"天气", "weather", "weather 1: translation of 天气 1"},
		{"天气", "天气", "天 0.5: equals 天 1\n气 0.5: equals 气 1\n天气 1: equals 天气 1"},
		{"weather", "天气", "天 0.5\n气 0.5\n天气 1\n天气/weather 0.9: translation of weather 1"},
		{"weather 天气", "天气", "天 0.5: equals 天 1\n气 0.5: equals 气 1\n天气 1: equals 天气 1\n天气/weather 0.5: translation of weather 1"},
		{"forecast", "天气", "天 0.5\n气 0.5\n天气 1"},
		{"calendar", "cal", "cal 1"},
		{"calendar", "calen", "calen 1: begins like calendar 0.25; looks like calendar 0.35"},
		{"calendar", "ndar", "ndar 1: ends like calendar 0.2; looks like calendar 0.28"},
		{"cal", "calendar", "calendar 1"},
		{"dar", "calendar", "calendar 1"},
		{"delete", "undelete", "undelet 1"},
		{"time zone", "timezone", "timezon 1: equals timezon 1; synonym of zone 0.2; related to time 0.3; begins like time 0.229"},
		{"time_zone", "timezone", "timezon 1: equals timezon 1; synonym of zone 0.2; related to time 0.3; begins like time 0.229"},
		{"timezone", "time zone", "time 1: joined in timezon 0.8\nzone 1: joined in timezon 0.8"},
		{"base64", "base 64", "base 1: joined in base64 0.8\n64 1: joined in base64 0.8"},
		{"base 64", "base64", "base64 1: equals base64 1; begins like base 0.267"},
		{"weather", "wether", "wether 1: looks like weather 0.6"},
		{"weather", "eather", "eather 1: ends like weather 0.343; looks like weather 0.48"},
		{"weather", "xeather", "xeather 1: looks like weather 0.36"},
		{"create", "set up", "set up 1: meaning of creat 0.8\nset 0.2"},
		{"schedule", "set up", "set up 1: meaning of schedul 0.6\nset 0.2"},
		{"create schedule set", "set it up", "set up 1: meaning of creat 0.8; meaning of schedul 0.6\nset 0.2: equals set 1"},
		{"set", "set up", "set 1: equals set 1"},
		{"due_date", "due_date", "due_date 1: equals due_date 1\ndue 1: equals due 1; joined in duedat 0.8\ndate 1: equals date 1; joined in duedat 0.8"},
		{"getHTTPServer", "getHTTPServer", "get 1: equals get 1; joined in gethttpserv 0.8\nhttp 1: equals http 1; joined in gethttpserv 0.8\nserver 1: equals server 1; joined in gethttpserv 0.8\ngethttpserv 1: equals gethttpserv 1"},
		{"mail", "the \"mail\"", "mail 0.4: equals mail 1"},
		{"mail", " \"mail\" ", "mail 1: equals mail 1"},
		{"mail", "http://mail.com/x", "http 0.5\nmail 0.5: equals mail 1\ncom 0.5"},
		{"mail", "a@mail.com", "mail 0.5: equals mail 1\ncom 0.5"},
		{"mail the", "the mail", "mail 1: equals mail 1"},
		{"the", "the", "the 1: equals the 1"},
		{"天 气", "天气", "天 0.5: equals 天 1\n气 0.5: equals 气 1\n天气 1"},
		{"天", "天", "天 1: equals 天 1"},
		{"mail x;mail y;zebra mail", "mail zebra", "mail 1: equals mail 1\nzebra 1: equals zebra 1"},
		{"update;updated_x;updated_y", "update", "updat 1: equals updat 1"},
		{"create;creating_x;created_xyz", "create", "creat 1: equals creat 1"},
		{"mailbox;mail a;mail b;mail c", "mail", "mail 1: equals mail 1; synonym of mailbox 0.0592; begins like mailbox 0.0677"},
		{"*time zone", "timezone", "timezon 1: synonym of zone 0.3; related to time 0.45; part of time 0.7; part of zone 0.7"},
		{"*grape fruit;*grape x", "grapefruit", "grapefruit 1: part of grape 0.7; part of fruit 0.7"},
		{"x_y", "x_y", "x_y 1: equals x_y 1"},
	} {
		var docs []keyword.Doc
		for _, name := range strings.Split(c.names, ";") {
			doc := keyword.Doc{Name: name}
			if description, ok := strings.CutPrefix(name, "*"); ok {
				doc = keyword.Doc{Description: description}
			}
			if strings.Contains(name, "_") && !strings.Contains(name, "time") {
				doc = keyword.Doc{Params: []keyword.Param{{Name: name}}}
			}
			docs = append(docs, doc)
		}
		require.Equal(t, c.want, meaning(New(allWords(), docs), c.query), "%q in %q", c.query, c.names)
	}
}
