// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that zones are known on a machine without a zone database
)

func dateTools() map[string]work {
	return map[string]work{
		"calendar__weekday": newWork(func(in dateIn) (string, error) {
			day, err := parseDate(in.Date)
			return day.Format("2006-01-02 is a Monday"), err
		}),
		"calendar__add_days": newWork(func(in struct {
			dateIn
			Days   int `json:"days"`
			Weeks  int `json:"weeks"`
			Months int `json:"months"`
			Years  int `json:"years"`
		}) (string, error) {
			t, err := parseDate(in.Date)
			month := time.Date(t.Year()+in.Years, t.Month()+time.Month(in.Months), 1, 0, 0, 0, 0, time.UTC)
			last := month.AddDate(0, 1, -1).Day() // a month later than the 31st is the month's last day
			return month.AddDate(0, 0, min(t.Day(), last)-1+in.Days+7*in.Weeks).Format("2006-01-02 (Monday)"), err
		}),
		"calendar__days_between": newWork(func(in spanIn) (string, error) {
			n, err := in.days()
			if n < 0 {
				return fmt.Sprintf("%s; the second date is the earlier one", counted(-n, "day")), err
			}
			return fmt.Sprintf("%s (%s and %s)", counted(n, "day"), counted(n/7, "week"), counted(n%7, "day")), err
		}),
		"calendar__is_leap_year": newWork(func(in yearIn) (string, error) {
			before, after := in.Year-1, in.Year+1
			for before > 0 && daysIn(before) == 365 {
				before--
			}
			for daysIn(after) == 365 {
				after++
			}
			answer := map[int]string{365: "no", 366: "yes"}[daysIn(in.Year)]
			return fmt.Sprintf("%s, it has %d days; the leap years next to it are %d and %d", answer, daysIn(in.Year), before, after), nil
		}),
		"time__convert_zone": newWork(func(in struct {
			Time string `json:"time"`
			From string `json:"from_zone"`
			To   string `json:"to_zone"`
		}) (string, error) {
			from, err := zoneOf(in.From)
			to, another := zoneOf(in.To)
			if err := cmp.Or(err, another); err != nil {
				return "", err
			}
			t, err := parseTime(in.Time, from)
			const layout = "2006-01-02 15:04:05 MST (Monday)"
			return t.Format(layout) + " is " + t.In(to).Format(layout), err
		}),
	}
}

type dateIn struct {
	Date string `json:"date"`
}

type spanIn struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

// days holds over centuries, where a time.Duration does not.
func (in spanIn) days() (int, error) {
	start, err := parseDate(in.Start)
	end, another := parseDate(in.End)
	return int((end.Unix() - start.Unix()) / 86400), cmp.Or(err, another)
}

type yearIn struct {
	Year int `json:"year"`
}

func daysIn(year int) int { return time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay() }

// parseDate reads a day, at midnight UTC.
func parseDate(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{time.DateOnly, "2006/01/02", "2006.01.02", "20060102", "2006-1-2", "2006年1月2日", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date; write it as YYYY-MM-DD, such as 2024-02-29", text)
}

// parseTime reads a moment in a zone; an offset in the text overrides the zone.
// A clock time alone is one of today.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.In(zone), nil
	}
	day, clock, has := strings.Cut(strings.Replace(text, "T", " ", 1), " ")
	if !has {
		day, clock = time.Now().In(zone).Format(time.DateOnly), day
	}
	if date, err := parseDate(day); err == nil {
		for _, layout := range []string{time.TimeOnly, "15:04", "3:04:05 PM", "3:04 PM", "3:04PM", "3 PM", "3PM"} {
			if t, err := time.Parse(layout, strings.ToUpper(clock)); err == nil {
				return time.Date(date.Year(), date.Month(), date.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write it as YYYY-MM-DD HH:MM, such as 2024-02-29 15:30", text)
}

// cityZones holds what people call places, and the zone that is meant.
var cityZones = func() map[string]string {
	out := map[string]string{}
	for _, word := range strings.Fields(zonesText) {
		place, zone, _ := strings.Cut(word, "=")
		out[place] = zone
	}
	return out
}()

//go:embed data/zones.txt
var zonesText string

var offsetZone = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

// zoneOf reads an IANA name, a city, an abbreviation or an offset.
func zoneOf(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	if zone, ok := cityZones[strings.ReplaceAll(strings.ToLower(name), " ", "_")]; ok {
		return time.LoadLocation(zone)
	}
	if m := offsetZone.FindStringSubmatch(strings.ToUpper(name)); m != nil {
		hours, _ := strconv.Atoi(m[1] + m[2])
		minutes, _ := strconv.Atoi(m[1] + m[3])
		return time.FixedZone(name, hours*3600+minutes*60), nil
	}
	if zone, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return zone, nil
	}
	return nil, fmt.Errorf("%q is not a time zone; use an IANA name such as Europe/Berlin, a large city, or an offset such as +08:00", name)
}
