// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of calculation, dates, colours and addresses.

import "testing"

func TestMathTruths(t *testing.T) {
	hold(t, []truth{
		{"math__evaluate", args("expression", "(3 + 4) * 2^3 - -1"), "57"},
		{"math__evaluate", args("expression", "2^3^2"), "512"},
		{"math__evaluate", args("expression", "-2^2"), "-4"},
		{"math__evaluate", args("expression", "sqrt(16) + max(1, 2, 3) + 7 % 4"), "10"},
		{"math__evaluate", args("expression", "0.1+0.2"), "0.3"},
		{"math__evaluate", args("expression", "9999999999*9999999999 + SUM(1, 2) % 2"), "9.999999998e+19"},
		{"math__evaluate", args("expression", "7.5 % 0"), "~error: division by zero"},
		{"math__evaluate", args("expression", "sqrt(1, 2)"), "~too many arguments"},
		{"math__evaluate", args("expression", "len('abc')"), "~error: the expression may hold numbers"},
		{"math__evaluate", args("expression", "sin(pi/2) × 3"), "3"},
		{"math__evaluate", args("expression", "1/0"), "~error: division by zero"},
		{"math__evaluate", args("expression", "2 +"), "~error: the expression cannot be read: unexpected token EOF (1:3)"},
		{"math__evaluate", args("expression", "2 3"), `~unexpected token Number("3") (1:3)`},
		{"math__add", args("numbers", []float64{0.1, 0.2, -1}), "-0.7"},
		{"math__multiply", args("numbers", []float64{2, 3, 7}), "42"},
		{"math__divide", args("dividend", 17, "divisor", 5), "3.4 (whole part 3, remainder 2)"},
		{"math__power", args("base", 2, "exponent", 0.5), "1.41421356237"},
		{"math__power", args("base", 10, "exponent", 999), "~not a finite number"},
		{"math__root", args("number", -27, "degree", 3), "-3"},
		{"math__logarithm", args("number", 1024, "base", 2), "10"},
		{"math__trigonometry", args("function", "sin", "value", 30), "0.5"},
		{"math__trigonometry", args("function", "atan", "value", 1), "45"},
		{"math__trigonometry", args("function", "tan", "value", 90), "~not defined"},
		{"math__round", args("number", 2.345, "places", 1), "2.3"},
		{"math__round", args("number", 1234, "places", -2, "mode", "up"), "1300"},
		{"math__round", args("number", 2.5, "mode", "bankers"), "2"},
		{"math__percent_of", args("percent", 15, "number", 80), "12"},
		{"math__percent_change", args("from", 80, "to", 100), "25%"},
		{"math__ratio", args("first", 1920, "second", 1080), "16:9"},
		{"math__ratio", args("first", 2, "second", 3, "third", 8), "2:3; 8:x with x = 12"},
		{"math__solve_quadratic", args("a", 1, "b", -3, "c", 2), "x = 2 or x = 1"},
		{"math__solve_quadratic", args("a", 1, "b", 2, "c", 5), "no real solution; x = -1 ± 2i"},
		{"math__solve_linear_system", args("coefficients", [][]float64{{2, 1}, {1, -1}}, "results", []float64{5, 1}), "x1 = 2, x2 = 1"},
		{"math__solve_linear_system", args("coefficients", [][]float64{{1, 1}, {2, 2}}, "results", []float64{1, 2}), "~no single solution"},
		{"math__matrix_multiply", args("first", [][]float64{{1, 2}}, "second", [][]float64{{3}, {4}}), "[11]"},
		{"math__determinant", args("matrix", [][]float64{{0, 1}, {1, 0}}), "-1"},
	})
}

func TestGeometryTruths(t *testing.T) {
	hold(t, []truth{
		{"geometry__circle", args("radius", 2), "circumference 12.5663706144, area 12.5663706144, diameter 4"},
		{"geometry__rectangle", args("width", 3, "height", 4), "area 12, perimeter 14, diagonal 5"},
		{"geometry__triangle", args("a", 3, "b", 4, "c", 5), "area 6, perimeter 12, angles 36.8698976458°, 53.1301023542°, 90°"},
		{"geometry__triangle", args("a", 1, "b", 2, "c", 5), "~make no triangle"},
		{"geometry__hypotenuse", args("a", 5, "b", 12), "13"},
		{"geometry__sphere", args("radius", 3), "volume 113.097335529, surface 113.097335529"},
		{"geometry__cylinder", args("radius", 1, "height", 2), "volume 6.28318530718, surface 18.8495559215"},
		{"geometry__cone", args("radius", 3, "height", 4), "volume 37.6991118431, surface 75.3982236862"},
		{"geometry__box", args("width", 2, "height", 3, "depth", 6), "volume 36, surface 72, diagonal 7"},
		{"geometry__point_distance", args("x1", 0, "y1", 0, "x2", 3, "y2", 4), "distance 5, midpoint (1.5, 2), slope 1.33333333333"},
		{"geometry__polygon_area", args("points", [][]float64{{0, 0}, {4, 0}, {4, 3}}), "area 6, perimeter 12"},
		{"geometry__earth_distance", args("lat1", 52.52, "lon1", 13.405, "lat2", 48.8566, "lon2", 2.3522), "877.5 km (545.2 miles)"},
		{"geometry__bearing", args("lat1", 0, "lon1", 0, "lat2", 0, "lon2", 10), "90.0° (E)"},
	})
}

func TestCalendarTruths(t *testing.T) {
	hold(t, []truth{
		{"calendar__weekday", args("date", "1969-07-20"), "1969-07-20 is a Sunday"},
		{"calendar__weekday", args("date", "2023-02-29"), `error: "2023-02-29" is not a date; write it as YYYY-MM-DD, such as 2024-02-29`},
		{"calendar__add_days", args("date", "2024-01-31", "months", 1), "2024-02-29 (Thursday)"},
		{"calendar__add_days", args("date", "March 1, 2024", "days", -1), "2024-02-29 (Thursday)"},
		{"calendar__add_days", args("date", "2024-02-29", "years", 1, "weeks", 1), "2025-03-07 (Friday)"},
		{"calendar__days_between", args("start", "2024-02-01", "end", "2024-03-01"), "29 days (4 weeks and 1 day)"},
		{"calendar__days_between", args("start", "0001-01-01", "end", "9999-12-31"), "~3652058 days"},
		{"calendar__business_days_between", args("start", "2024-02-02", "end", "2024-02-12"), "7 working days"},
		{"calendar__add_business_days", args("date", "2024-02-02", "days", 1), "2024-02-05 (Monday)"},
		{"calendar__add_business_days", args("date", "2024-02-05", "days", -1), "2024-02-02 (Friday)"},
		{"calendar__week_number", args("date", "2027-01-01"), "week 53 of 2026"},
		{"calendar__day_of_year", args("date", "2024-12-31"), "day 366 of 366; 0 left"},
		{"calendar__is_leap_year", args("year", 1900), "no, it has 365 days; the leap years next to it are 1896 and 1904"},
		{"calendar__is_leap_year", args("year", 2000), "~yes"},
		{"calendar__month", args("year", 2024, "month", 2), "February 2024\nMo Tu We Th Fr Sa Su\n          1  2  3  4\n 5  6  7  8  9 10 11\n12 13 14 15 16 17 18\n19 20 21 22 23 24 25\n26 27 28 29"},
		{"calendar__easter", args("year", 2024), "Ash Wednesday: 2024-02-14\nGood Friday: 2024-03-29\nEaster Sunday: 2024-03-31\nAscension Day: 2024-05-09\nWhit Sunday: 2024-05-19"},
		{"calendar__easter", args("year", 1981), "~Easter Sunday: 1981-04-19"},
		{"calendar__easter", args("year", 2038), "~Easter Sunday: 2038-04-25"},
		{"calendar__age", args("birthdate", "2000-02-29", "on", "2024-02-28"), "23 years, 11 months and 30 days"},
		{"calendar__nth_weekday", args("year", 2024, "month", 11, "weekday", "thursday", "which", "fourth"), "2024-11-28 (Thursday)"},
		{"calendar__nth_weekday", args("year", 2024, "month", 2, "weekday", "monday", "which", "fifth"), "~has no fifth"},
		{"calendar__quarter", args("date", "2024-05-17"), "Q2 2024, from 2024-04-01 to 2024-06-30"},
		{"calendar__moon_phase", args("date", "2024-04-08"), "~new moon"},
		{"calendar__moon_phase", args("date", "2024-10-17"), "~full moon, about 100% lit"},
		{"calendar__list_dates", args("start", "2024-01-01", "end", "2024-01-15", "step_days", 7), "2024-01-01 (Monday)\n2024-01-08 (Monday)\n2024-01-15 (Monday)"},
	})
}

func TestColorTruths(t *testing.T) {
	hold(t, []truth{
		{"color__convert", args("color", "orange"), "#ffa500\nrgb(255, 165, 0)\nhsl(38.8, 100%, 50%)\ncmyk(0%, 35%, 100%, 0%)"},
		{"color__convert", args("color", "octarine"), "~is not a colour"},
		{"color__hex_to_rgb", args("hex", "#f80"), "rgb(255, 136, 0)"},
		{"color__rgb_to_hex", args("red", 255, "green", 136, "blue", 0), "#ff8800"},
		{"color__rgb_to_hsl", args("red", 0, "green", 128, "blue", 0), "hsl(120, 100%, 25.1%)"},
		{"color__hsl_to_rgb", args("hue", 210, "saturation", 50, "lightness", 40), "rgb(51, 102, 153) #336699"},
		{"color__contrast", args("first", "black", "second", "white"), "contrast 21.00:1, meets AA and AAA"},
		{"color__contrast", args("first", "#777", "second", "#fff"), "contrast 4.48:1, meets AA for large text only"},
		{"color__mix", args("first", "red", "second", "blue"), "#800080"},
		{"color__lighten", args("color", "#336699", "percent", 20), "#6699cc"},
		{"color__complement", args("color", "red"), "complement #00ffff, triad #00ff00 and #0000ff"},
		{"color__gradient", args("first", "black", "second", "white", "steps", 3), "#000000 #808080 #ffffff"},
		{"color__grayscale", args("color", "red"), "#4c4c4c"},
		{"color__nearest_name", args("color", "#fe0101"), "red (#ff0000)"},
	})
}

func TestURLTruths(t *testing.T) {
	hold(t, []truth{
		{"url__parse", args("url", "https://me@example.org:8443/a/b?x=1&y=2#top"), "scheme: https\nhost: example.org\nport: 8443\nuser: me\npath: /a/b\nquery: x=1&y=2\nfragment: top"},
		{"url__parse", args("url", "nonsense"), "~is not a full URL"},
		{"url__build", args("host", "example.org", "path", "a b", "query", map[string]string{"q": "x y"}), "https://example.org/a%20b?q=x+y"},
		{"url__query_get", args("url", "http://a.b/?x=1&y=2", "name", "y"), "2"},
		{"url__query_set", args("url", "http://a.b/?x=1", "name", "x", "value", "é"), "http://a.b/?x=%C3%A9"},
		{"url__query_set", args("url", "http://a.b/?x=1&y=2", "name", "x"), "http://a.b/?y=2"},
		{"url__resolve", args("base", "http://a.b/c/d.html", "link", "../e.png"), "http://a.b/e.png"},
		{"url__normalize", args("url", "HTTP://Example.ORG:80/a/../b/?z=1&a=2"), "http://example.org/b/?a=2&z=1"},
		{"url__remove_tracking", args("url", "https://a.b/c?id=7&utm_source=x&fbclid=y"), "https://a.b/c?id=7"},
		{"url__domain", args("address", "me@mail.example.org"), "host: mail.example.org\ntop level: org\nlabels: mail, example, org"},
		{"url__compare", args("first", "HTTP://a.b:80", "second", "http://a.b/"), "the same: http://a.b/"},
	})
}

func TestNetworkTruths(t *testing.T) {
	hold(t, []truth{
		{"network__parse_ip", args("ip", "192.168.1.10"), "version: IPv4\nscope: private\nshort: 192.168.1.10\nlong: 192.168.1.10"},
		{"network__parse_ip", args("ip", "2001:0db8::1"), "version: IPv6\nscope: public\nshort: 2001:db8::1\nlong: 2001:0db8:0000:0000:0000:0000:0000:0001"},
		{"network__cidr_info", args("network", "192.168.1.77/26"), "network: 192.168.1.64/26\nfirst: 192.168.1.64\nlast: 192.168.1.127\naddresses: 64\nmask: 255.255.255.192\nusable hosts: 62"},
		{"network__cidr_info", args("network", "::/0"), "~addresses: 340282366920938463463374607431768211456"},
		{"network__cidr_contains", args("network", "10.0.0.0/8", "ip", "10.200.3.4"), "yes, 10.200.3.4 is in 10.0.0.0/8"},
		{"network__cidr_overlap", args("first", "10.0.0.0/9", "second", "10.128.0.0/9"), "no, they do not overlap"},
		{"network__split_subnets", args("network", "192.168.0.0/24", "prefix", 26), "192.168.0.0/26\n192.168.0.64/26\n192.168.0.128/26\n192.168.0.192/26"},
		{"network__split_subnets", args("network", "10.0.0.0/8", "prefix", 32), "~must be from 8 to 18"},
		{"network__range_to_cidrs", args("start", "10.0.0.1", "end", "10.0.0.6"), "10.0.0.1/32\n10.0.0.2/31\n10.0.0.4/31\n10.0.0.6/32"},
		{"network__range_to_cidrs", args("start", "0.0.0.0", "end", "255.255.255.255"), "0.0.0.0/0"},
		{"network__ip_to_integer", args("ip", "1.2.3.4"), "16909060"},
		{"network__integer_to_ip", args("integer", 3232235777), "192.168.1.1"},
		{"network__reverse_dns_name", args("ip", "8.8.4.4"), "4.4.8.8.in-addr.arpa"},
		{"network__reverse_dns_name", args("ip", "2001:db8::1"), "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"},
		{"network__mask_to_prefix", args("mask", "255.255.240.0"), "/20, wildcard mask 0.0.15.255"},
		{"network__mask_to_prefix", args("mask", "255.0.255.0"), "~not a network mask"},
		{"network__parse_mac", args("mac", "001a.2b3c.4d5e"), "00:1a:2b:3c:4d:5e\n00-1A-2B-3C-4D-5E\n001a.2b3c.4d5e\nglobally unique, unicast"},
		{"network__parse_email", args("email", "Ann <ann@example.org>"), "name: Ann\nmailbox: ann\ndomain: example.org"},
		{"network__port_service", args("service", "443"), "port 443 is used by https"},
		{"network__port_service", args("service", "postgresql"), "postgresql uses port 5432"},
	})
}
