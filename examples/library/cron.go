// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of cron schedules.

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

var cronServer = group{"cron", "Cron schedules", []maker{
	define("cron__describe", "Explains a cron schedule of five fields in words.", func(in cronIn) (string, error) {
		s := in.Schedule
		out := []string{s.clock()}
		var days []string
		if list, every := values(s.Dom); !every {
			days = append(days, "on day "+listInts(list)+" of the month")
		}
		if list, every := values(s.Dow); !every {
			days = append(days, "on "+names(list, func(n int) fmt.Stringer { return time.Weekday(n) }))
		}
		if len(days) == 0 {
			days = []string{"every day"}
		}
		out = append(out, strings.Join(days, " or "))
		if list, every := values(s.Month); !every {
			out = append(out, "in "+names(list, func(n int) fmt.Stringer { return time.Month(n) }))
		}
		return strings.Join(out, ", "), nil
	}),
	define("cron__next_runs", "Lists the next times at which a cron schedule fires.", func(in struct {
		cronIn
		From  utc `json:"from,omitempty" jsonschema:"default=now" jsonschema_description:"The time after which to look, as YYYY-MM-DD HH:MM"`
		Count int `json:"count,omitempty" jsonschema:"default=5,minimum=1,maximum=100" jsonschema_description:"How many times to list"`
	}) (string, error) {
		from := in.From.Time
		var out []string
		for len(out) < in.Count {
			if from = in.Schedule.Next(from); from.IsZero() {
				out = append(out, "no further time within five years")
				break
			}
			out = append(out, from.Format("2006-01-02 15:04 (Monday)"))
		}
		return strings.Join(out, "\n"), nil
	}),
	define("cron__matches", "Says whether a cron schedule fires at a given time.", func(in struct {
		cronIn
		Time utc `json:"time" jsonschema_description:"The time, as YYYY-MM-DD HH:MM"`
	}) (string, error) {
		t := in.Time.Truncate(time.Minute)
		fires := in.Schedule.Next(t.Add(-time.Second)).Equal(t)
		return either(fires, "yes, the schedule fires at that time", "no, the schedule does not fire at that time"), nil
	}),
	define("cron__build", "Builds a cron schedule from a time of day and days of the week or month.", func(in struct {
		Clock      string `json:"clock" jsonschema_description:"The time of day, as HH:MM"`
		Weekdays   string `json:"weekdays,omitempty" jsonschema:"default=*" jsonschema_description:"Days of the week, such as mon-fri or sat,sun"`
		DayOfMonth string `json:"day_of_month,omitempty" jsonschema:"default=*" jsonschema_description:"Days of the month, such as 1 or 1,15"`
	}) (string, error) {
		t, err := time.Parse("15:04", strings.TrimSpace(in.Clock))
		if err != nil {
			return "", fmt.Errorf("%q is not a time of day as HH:MM", in.Clock)
		}
		text := fmt.Sprintf("%d %d %s * %s", t.Minute(), t.Hour(), in.DayOfMonth, strings.ToLower(in.Weekdays))
		_, err = parseCron(text)
		return text, err
	}),
}}

// schedule is an argument that is a cron schedule.
type schedule struct {
	written
	fired
}

// fired is a schedule with its fields as they were written; a nickname such as @daily has one.
type fired struct {
	*cron.SpecSchedule
	fields []string
}

func parseCron(text string) (fired, error) {
	s := fired{fields: strings.Fields(text)}
	if len(s.fields) == 5 {
		s.fields[4] = sundays(s.fields[4])
	} else if len(s.fields) != 1 || !strings.HasPrefix(s.fields[0], "@") {
		return s, fmt.Errorf("%q has %s; a schedule has 5: minute, hour, day of month, month, day of week", text, counted(len(s.fields), "field"))
	}
	parsed, err := cron.ParseStandard(strings.Join(s.fields, " "))
	if err != nil {
		return s, fmt.Errorf("%q is not a schedule: %w", text, err)
	}
	s.SpecSchedule = parsed.(*cron.SpecSchedule) // only @every, which has two fields, is of another type
	return s, nil
}

// sundays writes the Sunday that is called 7 as 0, which is all that the parser knows.
func sundays(field string) string {
	pieces := strings.Split(field, ",")
	for i, piece := range pieces {
		if from, ok := strings.CutSuffix(piece, "-7"); ok {
			pieces[i] = from + "-6,0"
		} else if piece == "7" {
			pieces[i] = "0"
		}
	}
	return strings.Join(pieces, ",")
}

// values lists the values of a field; every is true for a star.
func values(field uint64) (list []int, every bool) {
	for v := range 60 {
		if field&(1<<v) != 0 {
			list = append(list, v)
		}
	}
	return list, field&(1<<63) != 0
}

// UnmarshalJSON reads the schedule.
func (s *schedule) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &s.written, &s.fired, parseCron)
}

type cronIn struct {
	Schedule schedule `json:"schedule" jsonschema_description:"The schedule: minute, hour, day of month, month, day of week, such as 30 6 * * 1-5"`
}

func names(list []int, name func(int) fmt.Stringer) string {
	return joined(list, ", ", func(n int) string { return name(n).String() })
}

// clock describes minute and hour.
func (s fired) clock() string {
	minute, everyMinute := values(s.Minute)
	hour, everyHour := values(s.Hour)
	switch {
	case len(minute) == 1 && len(hour) <= 6:
		return "at " + joined(hour, ", ", func(h int) string { return fmt.Sprintf("%02d:%02d", h, minute[0]) })
	case everyMinute && everyHour:
		return "every minute"
	case everyMinute:
		return "every minute of hour " + listInts(hour)
	}
	out := "at minute " + listInts(minute)
	if step, ok := strings.CutPrefix(s.fields[0], "*/"); ok {
		out = "every " + step + " minutes"
	}
	return out + either(everyHour, " of every hour", " of hour "+listInts(hour))
}

func listInts(values []int) string {
	return joined(values, ", ", strconv.Itoa)
}
