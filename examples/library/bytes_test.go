// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of bytes, time and measures.

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestEncodingTruths(t *testing.T) {
	hold(t, []truth{
		{"encoding__base64_encode", `{"text":"hello"}`, "aGVsbG8="},
		{"encoding__base64_encode", `{"text":"??>","url_safe":true}`, "Pz8-"},
		{"encoding__base64_decode", `{"text":"aGVsbG8"}`, "hello"},
		{"encoding__base64_decode", `{"text":"/w=="}`, "1 byte not text, in hexadecimal: ff"},
		{"encoding__base64_decode", `{"text":"*"}`, "error: the text is not valid Base64"},
		{"encoding__base32_encode", `{"text":"foobar"}`, "MZXW6YTBOI======"},
		{"encoding__base32_decode", `{"text":"mzxw6ytboi"}`, "foobar"},
		{"encoding__base85_encode", `{"text":"Man "}`, "9jqo^"},
		{"encoding__base85_decode", `{"text":"<~9jqo^~>"}`, "Man "},
		{"encoding__hex_encode", `{"text":"Az"}`, "417a"},
		{"encoding__hex_decode", `{"text":"41:7a"}`, "Az"},
		{"encoding__binary_encode", `{"text":"Hi"}`, "01001000 01101001"},
		{"encoding__binary_decode", `{"text":"01001000 01101001"}`, "Hi"},
		{"encoding__url_encode", `{"text":"a b&c=é"}`, "a+b%26c%3D%C3%A9"},
		{"encoding__url_decode", `{"text":"a+b%26c"}`, "a b&c"},
		{"encoding__html_escape", `{"text":"<a href=\"x\">"}`, "&lt;a href=&#34;x&#34;&gt;"},
		{"encoding__html_unescape", `{"text":"caf&eacute; &amp; co"}`, "café & co"},
		{"encoding__quoted_printable_encode", `{"text":"café=1"}`, "caf=C3=A9=3D1"},
		{"encoding__quoted_printable_decode", `{"text":"caf=C3=A9=3D1"}`, "café=1"},
		{"encoding__mime_header_encode", `{"text":"Grüße"}`, "=?UTF-8?q?Gr=C3=BC=C3=9Fe?="},
		{"encoding__mime_header_decode", `{"text":"=?UTF-8?B?5L2g5aW9?="}`, "你好"},
	})
}

func TestHashTruths(t *testing.T) {
	const sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	hold(t, []truth{
		{"hash__md5", `{"text":""}`, "d41d8cd98f00b204e9800998ecf8427e"},
		{"hash__sha1", `{"text":"abc"}`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"hash__sha256", `{"text":"abc"}`, sha},
		{"hash__sha512", `{"text":"abc"}`, "~ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"},
		{"hash__sha3_256", `{"text":"abc"}`, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"},
		{"hash__crc32", `{"text":"123456789"}`, "cbf43926"},
		{"hash__crc64", `{"text":"123456789"}`, "b90956c775a41001"},
		{"hash__adler32", `{"text":"Wikipedia"}`, "11e60398"},
		{"hash__fnv1a", `{"text":"a"}`, "af63dc4c8601ec8c"},
		{"hash__hmac", `{"text":"what do ya want for nothing?","key":"Jefe"}`, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
		{"hash__verify", `{"text":"abc","digest":"` + sha + `"}`, "~match: this is"},
		{"hash__verify", `{"text":"abd","digest":"` + sha + `"}`, "~no match"},
		{"hash__identify", `{"digest":"` + sha + `"}`, "SHA-256 or SHA3-256 (256 bits)"},
		{"hash__all", `{"text":"abc"}`, "~sha256 " + sha},
	})
}

func TestUnitTruths(t *testing.T) {
	hold(t, []truth{
		{"units__convert_length", `{"value":26.2,"from_unit":"miles","to_unit":"km"}`, "26.2 miles = 42.1648128 km"},
		{"units__convert_length", `{"value":6,"from_unit":"feet","to_unit":"inches"}`, "6 feet = 72 inches"},
		{"units__convert_length", `{"value":1,"from_unit":"parrot","to_unit":"m"}`, "~not a known unit of length"},
		{"units__convert_mass", `{"value":1,"from_unit":"lb","to_unit":"kg"}`, "1 lb = 0.45359237 kg"},
		{"units__convert_mass", `{"value":3,"from_unit":"斤","to_unit":"公斤"}`, "3 斤 = 1.5 公斤"},
		{"units__convert_temperature", `{"value":100,"from_unit":"celsius","to_unit":"fahrenheit"}`, "100 celsius = 212 fahrenheit"},
		{"units__convert_temperature", `{"value":-300,"from_unit":"C","to_unit":"K"}`, "error: -300 C is below absolute zero"},
		{"units__convert_area", `{"value":15,"from_unit":"mu","to_unit":"ha"}`, "15 mu = 1 ha"},
		{"units__convert_volume", `{"value":1,"from_unit":"gallon","to_unit":"litres"}`, "1 gallon = 3.785411784 litres"},
		{"units__convert_speed", `{"value":36,"from_unit":"km/h","to_unit":"m/s"}`, "36 km/h = 10 m/s"},
		{"units__convert_data_size", `{"value":1,"from_unit":"GiB","to_unit":"MB"}`, "1 GiB = 1073.741824 MB"},
		{"units__convert_duration", `{"value":2,"from_unit":"weeks","to_unit":"hours"}`, "2 weeks = 336 hours"},
		{"units__convert_pressure", `{"value":1,"from_unit":"atm","to_unit":"hPa"}`, "1 atm = 1013.25 hPa"},
		{"units__convert_energy", `{"value":1,"from_unit":"kWh","to_unit":"MJ"}`, "1 kWh = 3.6 MJ"},
		{"units__convert_power", `{"value":100,"from_unit":"PS","to_unit":"kW"}`, "100 PS = 73.549875 kW"},
		{"units__convert_angle", `{"value":180,"from_unit":"degrees","to_unit":"radians"}`, "180 degrees = 3.14159265359 radians"},
		{"units__convert_fuel_economy", `{"value":5,"from_unit":"l/100km","to_unit":"km/l"}`, "5 l/100km = 20 km/l"},
		{"units__list", `{"kind":"angle"}`, "~deg, degree, °, 度 = 1"},
	})
}

func TestTimeTruths(t *testing.T) {
	hold(t, []truth{
		{"time__convert_zone", `{"time":"2024-07-01 09:00","from_zone":"Tokyo","to_zone":"Europe/Berlin"}`, "2024-07-01 09:00:00 JST (Monday) is 2024-07-01 02:00:00 CEST (Monday)"},
		{"time__convert_zone", `{"time":"2024-01-01 3:30 pm","from_zone":"New York","to_zone":"+08:00"}`, "2024-01-01 15:30:00 EST (Monday) is 2024-01-02 04:30:00 UTC+08:00 (Tuesday)"},
		{"time__convert_zone", `{"time":"2024-01-01 09:00","from_zone":"Atlantis","to_zone":"UTC"}`, `~"Atlantis" is not a time zone`},
		{"time__zone_offset", `{"zone":"Asia/Kolkata","time":"2024-01-01"}`, "UTC+05:30 (IST)"},
		{"time__zone_difference", `{"from_zone":"London","to_zone":"Tokyo","time":"2024-07-01"}`, "Tokyo is 8 hours ahead of London"},
		{"time__zone_difference", `{"from_zone":"London","to_zone":"Lisbon"}`, "Lisbon and London have the same time"},
		{"time__find_zone", `{"place":"São Paulo"}`, "~not a time zone"},
		{"time__find_zone", `{"place":"sao paulo"}`, "rio: America/Sao_Paulo\nsao_paulo: America/Sao_Paulo"},
		{"time__is_daylight_saving", `{"zone":"Paris","time":"2024-07-01"}`, "yes, daylight saving time: UTC+02:00 (CEST)"},
		{"time__is_daylight_saving", `{"zone":"Paris","time":"2024-12-01"}`, "no, standard time: UTC+01:00 (CET)"},
		{"time__from_unix", `{"timestamp":1700000000}`, "2023-11-14 22:13:20 UTC (Tuesday)"},
		{"time__from_unix", `{"timestamp":1700000000000,"zone":"Asia/Shanghai"}`, "2023-11-15 06:13:20 CST (Wednesday)"},
		{"time__to_unix", `{"time":"2023-11-14T22:13:20Z"}`, "1700000000"},
		{"time__format", `{"time":"2024-02-29 15:04","format":"iso_week"}`, "2024-W09-4"},
		{"time__format", `{"time":"2024-02-29 15:04","format":"twelve_hour"}`, "3:04 PM"},
		{"time__parse_duration", `{"duration":"1d 2h30m"}`, "95400 seconds = 1590 minutes = 26.5 hours = 1.10416666667 days"},
		{"time__parse_duration", `{"duration":"999999w"}`, "~not a duration"},
		{"time__format_seconds", `{"seconds":93784}`, "1 day 2 hours 3 minutes 4 seconds"},
		{"time__add_duration", `{"time":"2024-02-28 23:00","duration":"2h"}`, "2024-02-29 01:00:00 UTC (Thursday)"},
		{"time__add_duration", `{"time":"2024-03-01 00:00","duration":"-1d"}`, "2024-02-29 00:00:00 UTC (Thursday)"},
		{"time__difference", `{"start":"2024-03-30 12:00","end":"2024-03-31 12:00","zone":"Berlin"}`, "23 hours (82800 seconds)"},
	})
}

func TestNowIsNow(t *testing.T) {
	tools, _ := library(t)
	got := call(t, tools["time__now"], `{"zone":"Asia/Tokyo"}`)
	at, err := time.Parse("2006-01-02 15:04:05 MST (Monday)", got)
	assert.NoError(t, err)
	tokyo, _ := time.LoadLocation("Asia/Tokyo")
	written := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, tokyo)
	assert.InDelta(t, time.Now().Unix(), written.Unix(), 60)
}
