// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file finds a time zone by its name, by a city, or by an offset.

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// cityZones holds what people call places, and the zone that is meant.
var cityZones = pairs(`
utc=UTC gmt=UTC z=UTC est=America/New_York edt=America/New_York cst=America/Chicago pst=America/Los_Angeles
pdt=America/Los_Angeles mst=America/Denver cet=Europe/Paris cest=Europe/Paris bst=Europe/London jst=Asia/Tokyo ist=Asia/Kolkata
beijing=Asia/Shanghai shanghai=Asia/Shanghai shenzhen=Asia/Shanghai guangzhou=Asia/Shanghai china=Asia/Shanghai 北京=Asia/Shanghai
上海=Asia/Shanghai 深圳=Asia/Shanghai 广州=Asia/Shanghai 中国=Asia/Shanghai hong_kong=Asia/Hong_Kong 香港=Asia/Hong_Kong taipei=Asia/Taipei
台北=Asia/Taipei tokyo=Asia/Tokyo osaka=Asia/Tokyo japan=Asia/Tokyo 东京=Asia/Tokyo seoul=Asia/Seoul korea=Asia/Seoul 首尔=Asia/Seoul
singapore=Asia/Singapore 新加坡=Asia/Singapore bangkok=Asia/Bangkok jakarta=Asia/Jakarta manila=Asia/Manila hanoi=Asia/Ho_Chi_Minh
kuala_lumpur=Asia/Kuala_Lumpur delhi=Asia/Kolkata new_delhi=Asia/Kolkata mumbai=Asia/Kolkata bangalore=Asia/Kolkata india=Asia/Kolkata
kathmandu=Asia/Kathmandu dhaka=Asia/Dhaka karachi=Asia/Karachi tehran=Asia/Tehran dubai=Asia/Dubai riyadh=Asia/Riyadh
tel_aviv=Asia/Jerusalem jerusalem=Asia/Jerusalem istanbul=Europe/Istanbul moscow=Europe/Moscow 莫斯科=Europe/Moscow kyiv=Europe/Kyiv
athens=Europe/Athens helsinki=Europe/Helsinki stockholm=Europe/Stockholm oslo=Europe/Oslo copenhagen=Europe/Copenhagen
berlin=Europe/Berlin munich=Europe/Berlin frankfurt=Europe/Berlin germany=Europe/Berlin 柏林=Europe/Berlin vienna=Europe/Vienna
zurich=Europe/Zurich rome=Europe/Rome milan=Europe/Rome paris=Europe/Paris france=Europe/Paris 巴黎=Europe/Paris brussels=Europe/Brussels
amsterdam=Europe/Amsterdam madrid=Europe/Madrid barcelona=Europe/Madrid lisbon=Europe/Lisbon london=Europe/London uk=Europe/London
伦敦=Europe/London dublin=Europe/Dublin warsaw=Europe/Warsaw prague=Europe/Prague budapest=Europe/Budapest reykjavik=Atlantic/Reykjavik
cairo=Africa/Cairo lagos=Africa/Lagos nairobi=Africa/Nairobi johannesburg=Africa/Johannesburg cape_town=Africa/Johannesburg
casablanca=Africa/Casablanca new_york=America/New_York nyc=America/New_York boston=America/New_York washington=America/New_York
miami=America/New_York 纽约=America/New_York toronto=America/Toronto montreal=America/Toronto chicago=America/Chicago dallas=America/Chicago
houston=America/Chicago denver=America/Denver phoenix=America/Phoenix los_angeles=America/Los_Angeles san_francisco=America/Los_Angeles
seattle=America/Los_Angeles 洛杉矶=America/Los_Angeles 旧金山=America/Los_Angeles vancouver=America/Vancouver anchorage=America/Anchorage
honolulu=Pacific/Honolulu hawaii=Pacific/Honolulu mexico_city=America/Mexico_City bogota=America/Bogota lima=America/Lima
santiago=America/Santiago buenos_aires=America/Argentina/Buenos_Aires sao_paulo=America/Sao_Paulo rio=America/Sao_Paulo
sydney=Australia/Sydney 悉尼=Australia/Sydney melbourne=Australia/Melbourne brisbane=Australia/Brisbane adelaide=Australia/Adelaide
perth=Australia/Perth auckland=Pacific/Auckland wellington=Pacific/Auckland`)

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
	seconds := hours*3600 + minutes*60
	if m[1] == "-" {
		seconds = -seconds
	}
	return time.FixedZone("UTC"+m[1]+fmt.Sprintf("%02d:%02d", hours, minutes), seconds), nil
}

// zoneSpelling writes europe/berlin as Europe/Berlin.
func zoneSpelling(key string) string {
	out := []rune(key)
	for i, r := range out {
		if i == 0 || out[i-1] == '/' || out[i-1] == '_' {
			out[i] = []rune(strings.ToUpper(string(r)))[0]
		}
	}
	return string(out)
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
