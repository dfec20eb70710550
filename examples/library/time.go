// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of clock times, durations and time zones.

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var timeServer = group{"time", "Clock times, durations and time zones", []maker{
	define("time__now", "Tells the current date and time in a time zone.",
		func(in zoneIn) (string, error) { return now().In(in.Zone.Location).Format(timeLayout), nil }),
	define("time__convert_zone", "Converts a time from one time zone to another, with daylight saving taken into account.", func(in struct {
		Time     string `json:"time" jsonschema_description:"The time to convert, as YYYY-MM-DD HH:MM, or HH:MM for today"`
		FromZone zone   `json:"from_zone" jsonschema_description:"The time zone that the time is given in: an IANA name, a large city or an offset"`
		ToZone   zone   `json:"to_zone" jsonschema_description:"The time zone wanted: an IANA name, a large city or an offset"`
	}) (string, error) {
		t, err := in.FromZone.moment(in.Time)
		return t.Format(timeLayout) + " is " + t.In(in.ToZone.Location).Format(timeLayout), err
	}),
	define("time__zone_offset", "Gives a time zone's offset from UTC and its abbreviation at a moment.", func(in offsetIn) (string, error) {
		t, err := in.Zone.moment(in.Time)
		return t.Format("UTC-07:00 (MST)"), err
	}),
	define("time__zone_difference", "Says how many hours one time zone is ahead of or behind another.", func(in struct {
		FromZone zone   `json:"from_zone" jsonschema_description:"The first time zone or city"`
		ToZone   zone   `json:"to_zone" jsonschema_description:"The second time zone or city"`
		Time     string `json:"time,omitempty" jsonschema:"default=now" jsonschema_description:"The moment to compare them at, as YYYY-MM-DD HH:MM"`
	}) (string, error) {
		from, err := in.FromZone.moment(in.Time)
		if err != nil {
			return "", err
		}
		_, a := from.Zone()
		_, b := from.In(in.ToZone.Location).Zone()
		hours := plain(math.Abs(float64(b-a)) / 3600)
		if a == b {
			return fmt.Sprintf("%s and %s have the same time", in.ToZone.text, in.FromZone.text), nil
		}
		return fmt.Sprintf("%s is %s hours %s %s", in.ToZone.text, hours, either(b > a, "ahead of", "behind"), in.FromZone.text), nil
	}),
	define("time__find_zone", "Finds the IANA time zone names for a city, a country or part of a zone's name.", func(in struct {
		Place string `json:"place" jsonschema_description:"A city, a country or part of a zone's name, such as berlin"`
	}) (string, error) {
		if found := zonesLike(in.Place); len(found) > 0 {
			return strings.Join(found, "\n"), nil
		}
		zone, err := loadZone(in.Place)
		if err != nil {
			return "", err
		}
		return zone.String(), nil
	}),
	define("time__is_daylight_saving", "Says whether daylight saving time (summer time) is in force in a time zone at a moment.",
		func(in offsetIn) (string, error) {
			t, err := in.Zone.moment(in.Time)
			if err != nil {
				return "", err
			}
			answer := either(t.IsDST(), "yes, daylight saving time: ", "no, standard time: ")
			return answer + t.Format("UTC-07:00 (MST)"), nil
		}),
	define("time__from_unix", "Turns a Unix timestamp (seconds or milliseconds since 1970) into a readable time.", func(in struct {
		Timestamp int64 `json:"timestamp" jsonschema_description:"Seconds since 1970-01-01 UTC; values above 100000000000 are taken as milliseconds"`
		zoneIn
	}) (string, error) {
		inMillis := in.Timestamp > 1e11 || in.Timestamp < -1e11
		t := either(inMillis, time.UnixMilli(in.Timestamp), time.Unix(in.Timestamp, 0))
		if y := t.Year(); y < -9999 || y > 9999 {
			return "", fmt.Errorf("the timestamp %d is outside the years that have dates", in.Timestamp)
		}
		return t.In(in.Zone.Location).Format(timeLayout), nil
	}),
	define("time__to_unix", "Turns a date and time into a Unix timestamp in seconds since 1970.", func(in momentIn) (string, error) {
		t, err := in.Zone.moment(in.Time)
		return strconv.FormatInt(t.Unix(), 10), err
	}),
	define("time__format", "Rewrites a time in a named format such as RFC 3339, RFC 1123, ISO week or twelve-hour clock.", func(in struct {
		momentIn
		Format string `json:"format" jsonschema:"enum=rfc3339,enum=rfc1123,enum=rfc822,enum=iso_week,enum=us,enum=twelve_hour,enum=date,enum=clock" jsonschema_description:"The format wanted"`
	}) (string, error) {
		t, err := in.Zone.moment(in.Time)
		if in.Format == "iso_week" {
			year, week := t.ISOWeek()
			return fmt.Sprintf("%d-W%02d-%d", year, week, (int(t.Weekday())+6)%7+1), err
		}
		layouts := map[string]string{"rfc3339": time.RFC3339, "rfc1123": time.RFC1123Z, "rfc822": time.RFC822Z, "us": "01/02/2006 03:04 PM",
			"twelve_hour": "3:04 PM", "date": "2006-01-02", "clock": "15:04:05"}
		return t.Format(layouts[in.Format]), err
	}),
	define("time__parse_duration", "Reads a duration such as 1h30m or 2d4h and gives it in seconds, minutes, hours and days.", func(in struct {
		Duration string `json:"duration" jsonschema_description:"A duration made of w, d, h, m, s, ms, such as 1h30m or 2d4h"`
	}) (string, error) {
		d, err := parseDuration(in.Duration)
		return fmt.Sprintf("%s seconds = %s minutes = %s hours = %s days", plain(d.Seconds()), plain(d.Minutes()), plain(d.Hours()), plain(d.Hours()/24)), err
	}),
	define("time__format_seconds", "Writes a number of seconds as days, hours, minutes and seconds.", func(in struct {
		Seconds float64 `json:"seconds" jsonschema:"minimum=-9000000000,maximum=9000000000" jsonschema_description:"The number of seconds"`
	}) (string, error) {
		return spell(time.Duration(in.Seconds * float64(time.Second))), nil
	}),
	define("time__add_duration", "Adds a duration such as 90m or 1d12h to a time; a leading minus subtracts it.", func(in struct {
		momentIn
		Duration string `json:"duration" jsonschema_description:"What to add, such as 90m, 1d12h or -2h"`
	}) (string, error) {
		d, err := parseDuration(in.Duration)
		if err != nil {
			return "", err
		}
		t, err := in.Zone.moment(in.Time)
		return t.Add(d).Format(timeLayout), err
	}),
	define("time__difference", "Measures how much time lies between two moments.", func(in struct {
		Start string `json:"start" jsonschema_description:"The first moment, as YYYY-MM-DD HH:MM"`
		End   string `json:"end" jsonschema_description:"The second moment, as YYYY-MM-DD HH:MM"`
		zoneIn
	}) (string, error) {
		start, end, err := both(in.Zone.moment, in.Start, in.End)
		if err != nil {
			return "", err
		}
		d := end.Sub(start)
		return fmt.Sprintf("%s (%s seconds)", spell(d), plain(d.Seconds())), nil
	}),
}}

type zoneIn struct {
	Zone zone `json:"zone,omitempty" jsonschema:"default=UTC" jsonschema_description:"Time zone: an IANA name such as Europe/Berlin, a large city, or an offset such as +08:00"`
}

type momentIn struct {
	Time string `json:"time" jsonschema_description:"The moment, as YYYY-MM-DD HH:MM or RFC 3339; or the word now"`
	zoneIn
}

// zone is an argument that is a time zone.
type zone struct {
	written
	*time.Location
}

// UnmarshalJSON finds the zone.
func (z *zone) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &z.written, &z.Location, loadZone)
}

// moment reads a time in the zone.
func (z zone) moment(text string) (time.Time, error) {
	t, err := parseTime(text, z.Location)
	return t.In(z.Location), err
}

const timeLayout = "2006-01-02 15:04:05 MST (Monday)"

type offsetIn struct {
	Zone zone   `json:"zone" jsonschema_description:"Time zone: an IANA name such as Asia/Tokyo, or a large city"`
	Time string `json:"time,omitempty" jsonschema:"default=now" jsonschema_description:"The moment, as YYYY-MM-DD HH:MM"`
}

// cityZones holds what people call places, and the zone that is meant.
var cityZones = pairs(zonesText)

//go:embed data/zones.txt
var zonesText string

// pairs reads "key=value" words.
func pairs(text string) map[string]string {
	out := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		out[key] = value
	}
	return out
}

var offsetZone = regexp.MustCompile(`^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$`)

// loadZone reads an IANA name, a city, an abbreviation or an offset.
func loadZone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	key := strings.ReplaceAll(strings.ToLower(name), " ", "_")
	if zone, ok := cityZones[key]; ok {
		return time.LoadLocation(zone)
	}
	if m := offsetZone.FindStringSubmatch(strings.ToUpper(name)); m != nil {
		return fixedZone(name, m)
	}
	if name != "" && key != "local" {
		for _, spelling := range []string{name, zoneSpelling(key)} {
			if zone, err := time.LoadLocation(spelling); err == nil {
				return zone, nil
			}
		}
	}
	return nil, fmt.Errorf("%q is not a time zone; use an IANA name such as Europe/Berlin, a large city, or an offset such as +08:00", name)
}

func fixedZone(name string, m []string) (*time.Location, error) {
	hours, _ := strconv.Atoi(m[2])
	minutes, _ := strconv.Atoi(m[3])
	if hours > 14 || minutes > 59 {
		return nil, fmt.Errorf("%q is not a time zone: offsets go from -12:00 to +14:00", name)
	}
	seconds := (hours*3600 + minutes*60) * either(m[1] == "-", -1, 1)
	return time.FixedZone(fmt.Sprintf("UTC%s%02d:%02d", m[1], hours, minutes), seconds), nil
}

// zoneSpelling writes europe/berlin as Europe/Berlin.
func zoneSpelling(key string) string {
	last := '/'
	return strings.Map(func(r rune) rune {
		before := last
		last = r
		return either(before == '/' || before == '_', unicode.ToUpper(r), r)
	}, key)
}

// zonesLike lists the places and zones whose name contains the text.
func zonesLike(text string) []string {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_")
	var out []string
	for place, zone := range cityZones {
		if strings.Contains(place, key) || strings.Contains(strings.ToLower(zone), key) {
			out = append(out, place+": "+zone)
		}
	}
	sort.Strings(out)
	return out
}
