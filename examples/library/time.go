// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of clock times and time zones, of dates and calendars, and of cron schedules.

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

	"github.com/robfig/cron/v3"
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
		return zone.String(), err
	}),
	define("time__is_daylight_saving", "Says whether daylight saving time (summer time) is in force in a time zone at a moment.",
		func(in offsetIn) (string, error) {
			t, err := in.Zone.moment(in.Time)
			answer := either(t.IsDST(), "yes, daylight saving time: ", "no, standard time: ")
			return answer + t.Format("UTC-07:00 (MST)"), err
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
		d := end.Sub(start)
		return fmt.Sprintf("%s (%s seconds)", spell(d), plain(d.Seconds())), err
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

var calendarServer = group{"calendar", "Dates and calendars", []maker{
	define("calendar__weekday", "Tells on which day of the week a date falls.",
		func(in dateIn) (string, error) { return in.Date.Format("2006-01-02 is a Monday"), nil }),
	define("calendar__add_days", "Adds or subtracts days, weeks, months and years to a date.", func(in struct {
		dateIn
		Days   int `json:"days,omitempty" jsonschema:"minimum=-1000000,maximum=1000000" jsonschema_description:"Days to add; negative to subtract"`
		Weeks  int `json:"weeks,omitempty" jsonschema:"minimum=-100000,maximum=100000" jsonschema_description:"Weeks to add; negative to subtract"`
		Months int `json:"months,omitempty" jsonschema:"minimum=-12000,maximum=12000" jsonschema_description:"Months to add; negative to subtract"`
		Years  int `json:"years,omitempty" jsonschema:"minimum=-1000,maximum=1000" jsonschema_description:"Years to add; negative to subtract"`
	}) (string, error) {
		t := in.Date
		month := time.Date(t.Year()+in.Years, t.Month()+time.Month(in.Months), 1, 0, 0, 0, 0, time.UTC)
		last := month.AddDate(0, 1, -1).Day() // a month later than the 31st is the month's last day
		return readableDate(month.AddDate(0, 0, min(t.Day(), last)-1+in.Days+7*in.Weeks)), nil
	}),
	define("calendar__days_between", "Counts the days between two dates.", func(in twoDatesIn) (string, error) {
		n := daysBetween(in.Start, in.End)
		if n < 0 {
			return fmt.Sprintf("%s; the second date is the earlier one", counted(-n, "day")), nil
		}
		return fmt.Sprintf("%s (%s and %s)", counted(n, "day"), counted(n/7, "week"), counted(n%7, "day")), nil
	}),
	define("calendar__business_days_between", "Counts the working days (Monday to Friday) from one date to another, both included.",
		func(in twoDatesIn) (string, error) {
			if in.End.Before(in.Start.Time) {
				return "", fmt.Errorf("the end %s lies before the start %s", in.End.text, in.Start.text)
			}
			days := daysBetween(in.Start, in.End) + 1
			n := days / 7 * 5
			for day := in.Start.AddDate(0, 0, days/7*7); !day.After(in.End.Time); day = day.AddDate(0, 0, 1) {
				if isWorkday(day) {
					n++
				}
			}
			return counted(n, "working day"), nil
		}),
	define("calendar__add_business_days", "Finds the date a number of working days (Monday to Friday) after or before a date.", func(in struct {
		dateIn
		Days int `json:"days" jsonschema:"minimum=-100000,maximum=100000" jsonschema_description:"How many working days later; negative for earlier"`
	}) (string, error) {
		t, step, left := in.Date.Time, 1, in.Days
		if left < 0 {
			step, left = -1, -left
		}
		for left > 0 {
			if t = t.AddDate(0, 0, step); isWorkday(t) {
				left--
			}
		}
		return readableDate(t), nil
	}),
	define("calendar__week_number", "Gives the ISO 8601 week number and year of a date.", func(in dateIn) (string, error) {
		year, week := in.Date.ISOWeek()
		return fmt.Sprintf("week %d of %d", week, year), nil
	}),
	define("calendar__day_of_year", "Gives the ordinal number of a date within its year and how many days are left.", func(in dateIn) (string, error) {
		day, all := in.Date.YearDay(), daysIn(in.Date.Year())
		return fmt.Sprintf("day %d of %d; %d left", day, all, all-day), nil
	}),
	define("calendar__is_leap_year", "Says whether a year is a leap year, and which are the nearest ones.", func(in yearIn) (string, error) {
		before, after := in.Year-1, in.Year+1
		for before > 0 && daysIn(before) == 365 {
			before--
		}
		for daysIn(after) == 365 {
			after++
		}
		answer := either(daysIn(in.Year) == 366, "yes, it has 366 days", "no, it has 365 days")
		return fmt.Sprintf("%s; the leap years next to it are %d and %d", answer, before, after), nil
	}),
	define("calendar__month", "Draws the calendar of a month, weeks starting on Monday.", func(in monthIn) (string, error) {
		first := in.first()
		out := first.Format("January 2006") + "\nMo Tu We Th Fr Sa Su\n"
		out += strings.Repeat("   ", (int(first.Weekday())+6)%7)
		for day := first; day.Month() == first.Month(); day = day.AddDate(0, 0, 1) {
			end := either(day.Weekday() == time.Sunday, "\n", " ")
			out += fmt.Sprintf("%2d%s", day.Day(), end)
		}
		return strings.TrimRight(out, " \n"), nil
	}),
	define("calendar__easter", "Computes the dates of Easter Sunday and the feasts that move with it for a year.", func(in yearIn) (string, error) {
		if in.Year < 1583 {
			return "", fmt.Errorf("the Gregorian calendar began in 1582; give a year from 1583")
		}
		on := func(shift int) string { return easter(in.Year).AddDate(0, 0, shift).Format("2006-01-02") }
		return fmt.Sprintf("Ash Wednesday: %s\nGood Friday: %s\nEaster Sunday: %s\nAscension Day: %s\nWhit Sunday: %s",
			on(-46), on(-2), on(0), on(39), on(49)), nil
	}),
	define("calendar__age", "Computes an age in years, months and days from a date of birth.", func(in struct {
		Birthdate date `json:"birthdate" jsonschema_description:"The date of birth, as YYYY-MM-DD"`
		On        date `json:"on,omitempty" jsonschema:"default=today" jsonschema_description:"The date at which to compute the age, as YYYY-MM-DD"`
	}) (string, error) {
		born, on := in.Birthdate, in.On
		if on.Before(born.Time) {
			return "", fmt.Errorf("the date %s lies before the birth on %s", on.text, born.text)
		}
		years, months, days := on.Year()-born.Year(), int(on.Month())-int(born.Month()), on.Day()-born.Day()
		if days < 0 {
			months--
			days += time.Date(on.Year(), on.Month(), 0, 0, 0, 0, 0, time.UTC).Day()
		}
		if months < 0 {
			years, months = years-1, months+12
		}
		return fmt.Sprintf("%s, %s and %s", counted(years, "year"), counted(months, "month"), counted(max(days, 0), "day")), nil
	}),
	define("calendar__nth_weekday", "Finds a date such as the third Friday or the last Monday of a month.", func(in struct {
		monthIn
		Weekday string `json:"weekday" jsonschema:"enum=monday,enum=tuesday,enum=wednesday,enum=thursday,enum=friday,enum=saturday,enum=sunday" jsonschema_description:"The day of the week"`
		Which   string `json:"which" jsonschema:"enum=first,enum=second,enum=third,enum=fourth,enum=fifth,enum=last" jsonschema_description:"Which one of the month"`
	}) (string, error) {
		var found []time.Time
		for day := in.first(); day.Month() == time.Month(in.Month); day = day.AddDate(0, 0, 1) {
			if strings.EqualFold(day.Weekday().String(), in.Weekday) {
				found = append(found, day)
			}
		}
		at := map[string]int{"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": len(found) - 1}[in.Which]
		if at >= len(found) {
			return "", fmt.Errorf("%s has no fifth %s", in.first().Format("January 2006"), in.Weekday)
		}
		return readableDate(found[at]), nil
	}),
	define("calendar__quarter", "Tells the quarter of a date with its first and last day.", func(in dateIn) (string, error) {
		q := (int(in.Date.Month()) - 1) / 3
		first := time.Date(in.Date.Year(), time.Month(q*3+1), 1, 0, 0, 0, 0, time.UTC)
		return "Q" + strconv.Itoa(q+1) + first.Format(" 2006, from 2006-01-02 to ") + first.AddDate(0, 3, -1).Format("2006-01-02"), nil
	}),
	define("calendar__moon_phase", "Estimates the phase of the moon on a date.", func(in dateIn) (string, error) {
		const month = 29.530588861                                   // days between new moons
		newMoon := time.Date(2000, 1, 6, 18, 14, 0, 0, time.UTC)     // one to count from
		days := float64(in.Date.Unix()+43200-newMoon.Unix()) / 86400 // at noon
		age := math.Mod(math.Mod(days, month)+month, month)
		lit := math.Round((1 - math.Cos(2*math.Pi*age/month)) * 50)
		names := []string{"new moon", "waxing crescent", "first quarter", "waxing gibbous", "full moon", "waning gibbous", "last quarter", "waning crescent"}
		return fmt.Sprintf("%s, about %s%% lit, %.1f days after new moon", names[int(age/month*8+0.5)%8], plain(lit), age), nil
	}),
	define("calendar__list_dates", "Lists the dates from a start to an end in steps of some days.", func(in struct {
		twoDatesIn
		StepDays int `json:"step_days,omitempty" jsonschema:"default=1,minimum=1,maximum=366" jsonschema_description:"Days from one date to the next; 7 for weekly"`
	}) (string, error) {
		days := daysBetween(in.Start, in.End)
		if n := days / in.StepDays; n < 0 || n > 1000 {
			return "", fmt.Errorf("there would be %d dates; from 1 to 1000 can be listed", n+1)
		}
		n := either(days < 0, 0, days/in.StepDays+1)
		return strings.Join(times(n, func(i int) string { return readableDate(in.Start.AddDate(0, 0, i*in.StepDays)) }), "\n"), nil
	}),
}}

type dateIn struct {
	Date date `json:"date" jsonschema_description:"The date, as YYYY-MM-DD"`
}

type twoDatesIn struct {
	Start date `json:"start" jsonschema_description:"The first date, as YYYY-MM-DD"`
	End   date `json:"end" jsonschema_description:"The last date, as YYYY-MM-DD"`
}

// daysBetween holds over centuries, where a time.Duration does not.
func daysBetween(start, end date) int { return int((end.Unix() - start.Unix()) / 86400) }

func isWorkday(t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }

func daysIn(year int) int { return time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay() }

type yearIn struct {
	Year int `json:"year" jsonschema:"minimum=1,maximum=9999" jsonschema_description:"The year, such as 2024"`
}

type monthIn struct {
	yearIn
	Month int `json:"month" jsonschema:"minimum=1,maximum=12" jsonschema_description:"The month, 1 to 12"`
}

func (in monthIn) first() time.Time {
	return time.Date(in.Year, time.Month(in.Month), 1, 0, 0, 0, 0, time.UTC)
}

// easter follows the Gregorian computation with the golden number and the epact.
func easter(year int) time.Time {
	golden, century := year%19, year/100
	epact := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	moon := epact - epact/28*(1-29/(epact+1)*((21-golden)/11))
	weekday := (year + year/4 + moon + 2 - century + century/4) % 7
	return time.Date(year, 3, 28+moon-weekday, 0, 0, 0, 0, time.UTC)
}

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
