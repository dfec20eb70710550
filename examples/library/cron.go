// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of cron schedules.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/tool"
)

func cronServer() Server {
	return Server{Name: "cron", Title: "Cron schedules", Tools: []tool.BaseTool{
		define("cron__describe", "Explains a cron schedule of five fields in words.", cronDescribe),
		define("cron__next_runs", "Lists the next times at which a cron schedule fires.", cronNext),
		define("cron__matches", "Says whether a cron schedule fires at a given time.", cronMatches),
		define("cron__build", "Builds a cron schedule from a time of day and days of the week or month.", cronBuild),
	}}
}

// cronField says what one of the five fields may hold.
type cronField struct {
	name        string
	least, most int
	names       []string // from least on
}

var cronFields = []cronField{
	{"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day of month", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"day of week", 0, 7, strings.Fields("sun mon tue wed thu fri sat")},
}

// schedule holds the values of each field, and which fields were a star.
type schedule struct {
	values [5][]int
	star   [5]bool
	fields []string
}

var cronNicknames = map[string]string{"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *"}

func parseCron(text string) (schedule, error) {
	if full, ok := cronNicknames[strings.TrimSpace(strings.ToLower(text))]; ok {
		text = full
	}
	s := schedule{fields: strings.Fields(strings.ToLower(text))}
	if len(s.fields) != 5 {
		return s, fmt.Errorf("%q has %s; a schedule has 5: minute, hour, day of month, month, day of week", text, counted(len(s.fields), "field"))
	}
	for i, field := range s.fields {
		for _, piece := range strings.Split(field, ",") {
			values, err := cronFields[i].expand(piece)
			if err != nil {
				return s, err
			}
			s.values[i] = append(s.values[i], values...)
		}
		slices.Sort(s.values[i])
		s.values[i] = slices.Compact(s.values[i])
		s.star[i] = strings.HasPrefix(field, "*")
	}
	return s, nil
}

// expand lists the values of *, 5, 1-5, */10 or 1-30/2.
func (f cronField) expand(piece string) ([]int, error) {
	span, stepText, hasStep := strings.Cut(piece, "/")
	step := 1
	if hasStep {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return nil, fmt.Errorf("%q is not a step in the field %s", piece, f.name)
		}
	}
	low, high := f.least, f.most
	if span != "*" {
		from, to, isRange := strings.Cut(span, "-")
		var okFrom, okTo bool
		low, okFrom = f.value(from)
		high, okTo = low, true
		if isRange {
			high, okTo = f.value(to)
		} else if hasStep {
			high = f.most
		}
		if !okFrom || !okTo || low > high {
			return nil, fmt.Errorf("%q is not a value of the field %s, which goes from %d to %d", piece, f.name, f.least, f.most)
		}
	}
	var out []int
	for v := low; v <= high; v += step {
		if f.name == "day of week" {
			out = append(out, v%7)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}

func (f cronField) value(text string) (int, bool) {
	if i := slices.Index(f.names, text); i >= 0 {
		return i + f.least, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= f.least && n <= f.most
}

// day says whether a date fits: where both day fields are set, one is enough.
func (s schedule) day(t time.Time) bool {
	if !slices.Contains(s.values[3], int(t.Month())) {
		return false
	}
	inMonth := slices.Contains(s.values[2], t.Day())
	inWeek := slices.Contains(s.values[4], int(t.Weekday()))
	if s.star[2] || s.star[4] {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}

type cronIn struct {
	Schedule string `json:"schedule" jsonschema_description:"The schedule: minute, hour, day of month, month, day of week, such as 30 6 * * 1-5"`
}

func cronDescribe(in cronIn) (string, error) {
	s, err := parseCron(in.Schedule)
	if err != nil {
		return "", err
	}
	out := []string{s.clock()}
	days := []string{}
	if s.fields[2] != "*" {
		days = append(days, "on day "+listInts(s.values[2])+" of the month")
	}
	if s.fields[4] != "*" {
		var names []string
		for _, d := range s.values[4] {
			names = append(names, time.Weekday(d).String())
		}
		days = append(days, "on "+strings.Join(names, ", "))
	}
	if len(days) > 0 {
		out = append(out, strings.Join(days, " or "))
	} else {
		out = append(out, "every day")
	}
	if s.fields[3] != "*" {
		var names []string
		for _, m := range s.values[3] {
			names = append(names, time.Month(m).String())
		}
		out = append(out, "in "+strings.Join(names, ", "))
	}
	return strings.Join(out, ", "), nil
}

// clock describes minute and hour.
func (s schedule) clock() string {
	minute, hour := s.values[0], s.values[1]
	switch {
	case len(minute) == 1 && len(hour) <= 6:
		var times []string
		for _, h := range hour {
			times = append(times, fmt.Sprintf("%02d:%02d", h, minute[0]))
		}
		return "at " + strings.Join(times, ", ")
	case s.fields[0] == "*" && s.fields[1] == "*":
		return "every minute"
	case s.fields[0] == "*":
		return "every minute of hour " + listInts(hour)
	}
	out := "at minute " + listInts(minute)
	if step, ok := strings.CutPrefix(s.fields[0], "*/"); ok {
		out = "every " + step + " minutes"
	}
	if s.fields[1] != "*" {
		return out + " of hour " + listInts(hour)
	}
	return out + " of every hour"
}

func listInts(values []int) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Itoa(v)
	}
	return strings.Join(out, ", ")
}

type cronNextIn struct {
	cronIn
	From  string `json:"from,omitempty" jsonschema:"default=now" jsonschema_description:"The time after which to look, as YYYY-MM-DD HH:MM"`
	Count int    `json:"count,omitempty" jsonschema:"default=5,minimum=1,maximum=100" jsonschema_description:"How many times to list"`
}

func cronNext(in cronNextIn) (string, error) {
	s, err := parseCron(in.Schedule)
	if err != nil {
		return "", err
	}
	from, err := parseTime(in.From, time.UTC)
	if err != nil {
		return "", err
	}
	var out []string
	for n := range 366 * 9 { // the longest wait is for a 29 February after a century without one
		day := time.Date(from.Year(), from.Month(), from.Day()+n, 0, 0, 0, 0, time.UTC)
		if !s.day(day) {
			continue
		}
		for _, hour := range s.values[1] {
			for _, minute := range s.values[0] {
				if t := day.Add(time.Duration(hour*60+minute) * time.Minute); t.After(from) {
					out = append(out, t.Format("2006-01-02 15:04 (Monday)"))
				}
				if len(out) == in.Count {
					return strings.Join(out, "\n"), nil
				}
			}
		}
	}
	return strings.Join(append(out, "no further time within nine years"), "\n"), nil
}

type cronAtIn struct {
	cronIn
	Time string `json:"time" jsonschema_description:"The time, as YYYY-MM-DD HH:MM"`
}

func cronMatches(in cronAtIn) (string, error) {
	s, err := parseCron(in.Schedule)
	if err != nil {
		return "", err
	}
	t, err := parseTime(in.Time, time.UTC)
	if err != nil {
		return "", err
	}
	if s.day(t) && slices.Contains(s.values[1], t.Hour()) && slices.Contains(s.values[0], t.Minute()) {
		return "yes, the schedule fires at that time", nil
	}
	return "no, the schedule does not fire at that time", nil
}

type cronBuildIn struct {
	Clock      string `json:"clock" jsonschema_description:"The time of day, as HH:MM"`
	Weekdays   string `json:"weekdays,omitempty" jsonschema:"default=*" jsonschema_description:"Days of the week, such as mon-fri or sat,sun"`
	DayOfMonth string `json:"day_of_month,omitempty" jsonschema:"default=*" jsonschema_description:"Days of the month, such as 1 or 1,15"`
}

func cronBuild(in cronBuildIn) (string, error) {
	t, err := time.Parse("15:04", strings.TrimSpace(in.Clock))
	if err != nil {
		return "", fmt.Errorf("%q is not a time of day as HH:MM", in.Clock)
	}
	text := fmt.Sprintf("%d %d %s * %s", t.Minute(), t.Hour(), in.DayOfMonth, strings.ToLower(in.Weekdays))
	_, err = parseCron(text)
	return text, err
}
