// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of units of measurement.

import (
	"fmt"
	"sort"
	"strings"
)

var unitsServer = group{"units", "Units of measurement", []maker{
	define("units__convert_length", "Converts a length or distance: metres, kilometres, miles, feet, inches, nautical miles and others.",
		convert("length")),
	define("units__convert_mass", "Converts a mass or weight: kilograms, grams, pounds, ounces, stones, tonnes, jin and others.", convert("mass")),
	define("units__convert_temperature", "Converts a temperature between Celsius, Fahrenheit, Kelvin and Rankine.", func(in struct {
		Value    float64 `json:"value" jsonschema_description:"The temperature to convert"`
		FromUnit string  `json:"from_unit" jsonschema:"enum=celsius,enum=fahrenheit,enum=kelvin,enum=rankine,enum=C,enum=F,enum=K" jsonschema_description:"The scale of the value"`
		ToUnit   string  `json:"to_unit" jsonschema:"enum=celsius,enum=fahrenheit,enum=kelvin,enum=rankine,enum=C,enum=F,enum=K" jsonschema_description:"The scale wanted"`
	}) (string, error) {
		from, to := temperatureScales[strings.ToLower(in.FromUnit)[0]], temperatureScales[strings.ToLower(in.ToUnit)[0]]
		kelvin := (in.Value + from.shift) * from.factor
		if kelvin < -1e-9 {
			return "", fmt.Errorf("%s %s is below absolute zero", plain(in.Value), in.FromUnit)
		}
		return converted(convertIn(in), kelvin/to.factor-to.shift)
	}),
	define("units__convert_area", "Converts an area: square metres, hectares, acres, square feet, mu and others.", convert("area")),
	define("units__convert_volume", "Converts a volume: litres, millilitres, gallons, cups, fluid ounces, cubic metres and others.", convert("volume")),
	define("units__convert_speed", "Converts a speed: km/h, mph, m/s, knots, feet per second, Mach.", convert("speed")),
	define("units__convert_data_size", "Converts an amount of data: bits, bytes, kilobytes, KiB, megabytes, MiB, gigabytes and more.",
		convert("data_size")),
	define("units__convert_duration", "Converts an amount of time: seconds, minutes, hours, days, weeks, months, years.", convert("duration")),
	define("units__convert_pressure", "Converts a pressure: pascal, bar, psi, atmospheres, mmHg.", convert("pressure")),
	define("units__convert_energy", "Converts an energy: joules, calories, kilocalories, watt hours, BTU, electronvolts.", convert("energy")),
	define("units__convert_power", "Converts a power: watts, kilowatts, horsepower, BTU per hour.", convert("power")),
	define("units__convert_angle", "Converts an angle: degrees, radians, gradians, turns, arc minutes.", convert("angle")),
	define("units__convert_fuel_economy", "Converts a car's fuel economy between litres per 100 km, miles per gallon and km per litre.", func(in struct {
		Value    float64 `json:"value" jsonschema:"exclusiveMinimum=0,minimum=0" jsonschema_description:"The consumption or range to convert; above zero"`
		FromUnit string  `json:"from_unit" jsonschema:"enum=l/100km,enum=mpg,enum=mpg_uk,enum=km/l" jsonschema_description:"The unit of the value"`
		ToUnit   string  `json:"to_unit" jsonschema:"enum=l/100km,enum=mpg,enum=mpg_uk,enum=km/l" jsonschema_description:"The unit wanted"`
	}) (string, error) {
		if in.Value <= 0 {
			return "", fmt.Errorf("the value must be above zero")
		}
		perLitre := map[string]float64{"mpg": 1.609344 / 3.785411784, "mpg_uk": 1.609344 / 4.54609, "km/l": 1}
		reach := either(in.FromUnit == "l/100km", 100/in.Value, in.Value*perLitre[in.FromUnit])
		if in.ToUnit == "l/100km" {
			return converted(convertIn(in), 100/reach)
		}
		return converted(convertIn(in), reach/perLitre[in.ToUnit])
	}),
	define("units__list", "Lists the units that are known for a kind of quantity, with their size in the base unit.", func(in struct {
		Kind string `json:"kind" jsonschema:"enum=length,enum=mass,enum=area,enum=volume,enum=speed,enum=data_size,enum=duration,enum=pressure,enum=energy,enum=power,enum=angle" jsonschema_description:"The kind of quantity"`
	}) (string, error) {
		var out []string
		for names, size := range unitTables[in.Kind] {
			out = append(out, strings.ReplaceAll(names, "|", ", ")+" = "+plain(size))
		}
		sort.Strings(out)
		return strings.Join(out, "\n"), nil
	}),
}}

// unitTables holds each unit's size in the base unit of its kind. The first
// spelling of a unit is the one it is listed under.
var unitTables = map[string]map[string]float64{
	"length": {"m|metre|meter|米": 1, "km|kilometre|kilometer|公里|千米": 1000, "cm|centimetre|centimeter|厘米": 0.01, "mm|millimetre|millimeter|毫米": 0.001,
		"um|micrometre|micrometer|micron": 1e-6, "nm|nanometre|nanometer": 1e-9, "mi|mile|英里": 1609.344, "yd|yard": 0.9144, "ft|foot|feet|英尺": 0.3048,
		"in|inch|inches|英寸": 0.0254, "nmi|nautical mile|海里": 1852, "ly|light year": 9.4607304725808e15, "au|astronomical unit": 149597870700, "li|里": 500, "chi|尺": 1.0 / 3},
	"mass": {"kg|kilogram|kilo|公斤|千克": 1, "g|gram|克": 0.001, "mg|milligram|毫克": 1e-6, "t|tonne|metric ton|吨": 1000, "lb|pound|lbs|磅": 0.45359237,
		"oz|ounce|盎司": 0.028349523125, "st|stone": 6.35029318, "ct|carat|克拉": 0.0002, "us ton|short ton": 907.18474, "jin|斤": 0.5, "liang|两": 0.05},
	"area": {"m2|square metre|square meter|sq m|平方米": 1, "km2|square kilometre|square kilometer|平方公里": 1e6, "cm2|square centimetre|square centimeter": 1e-4,
		"ha|hectare|公顷": 10000, "acre|英亩": 4046.8564224, "ft2|square foot|square feet|sq ft|平方英尺": 0.09290304, "in2|square inch|square inches": 0.00064516,
		"mi2|square mile": 2589988.110336, "mu|亩": 2000.0 / 3},
	"volume": {"l|litre|liter|升": 1, "ml|millilitre|milliliter|毫升": 0.001, "m3|cubic metre|cubic meter|立方米": 1000, "cm3|cubic centimetre|cubic centimeter|cc": 0.001,
		"gal|gallon|us gallon|加仑": 3.785411784, "imperial gallon|uk gallon": 4.54609, "qt|quart": 0.946352946, "pt|pint": 0.473176473, "cup": 0.2365882365,
		"fl oz|fluid ounce": 0.0295735295625, "tbsp|tablespoon": 0.01478676478125, "tsp|teaspoon": 0.00492892159375, "ft3|cubic foot|cubic feet": 28.316846592, "bbl|barrel|oil barrel": 158.987294928},
	"speed": {"m/s|metres per second|meters per second": 1, "km/h|kph|kmh|kilometres per hour|kilometers per hour": 1 / 3.6, "mph|miles per hour": 0.44704,
		"kn|knot|kt": 1852.0 / 3600, "ft/s|feet per second": 0.3048, "mach": 340.29, "c|speed of light": 299792458},
	"data_size": {"b|byte|bytes": 1, "bit": 0.125, "kb|kilobyte": 1e3, "mb|megabyte": 1e6, "gb|gigabyte": 1e9, "tb|terabyte": 1e12, "pb|petabyte": 1e15,
		"kib|kibibyte": 1 << 10, "mib|mebibyte": 1 << 20, "gib|gibibyte": 1 << 30, "tib|tebibyte": 1 << 40, "pib|pebibyte": 1 << 50,
		"kbit|kilobit": 125, "mbit|megabit": 125000, "gbit|gigabit": 1.25e8},
	"duration": {"s|second|sec|秒": 1, "ms|millisecond|毫秒": 0.001, "us|microsecond": 1e-6, "ns|nanosecond": 1e-9, "min|minute|分钟": 60, "h|hour|hr|小时": 3600,
		"d|day|天": 86400, "week|周": 604800, "month|月": 2629746, "year|yr|年": 31556952, "decade": 315569520, "century|centuries": 3155695200},
	"pressure": {"pa|pascal": 1, "kpa|kilopascal": 1000, "hpa|hectopascal": 100, "mpa|megapascal": 1e6, "bar": 1e5, "mbar|millibar": 100, "psi": 6894.757293168,
		"atm|atmosphere": 101325, "mmhg|torr": 133.322387415},
	"energy": {"j|joule": 1, "kj|kilojoule": 1000, "mj|megajoule": 1e6, "cal|calorie": 4.184, "kcal|kilocalorie|大卡|千卡": 4184, "wh|watt hour": 3600, "kwh|kilowatt hour|度": 3.6e6,
		"btu": 1055.05585262, "ev|electronvolt": 1.602176634e-19},
	"power": {"w|watt|瓦": 1, "kw|kilowatt|千瓦": 1000, "mw|megawatt": 1e6, "hp|horsepower": 745.69987158227, "ps|metric horsepower|马力": 735.49875, "btu/h": 0.29307107},
	"angle": {"deg|degree|°|度": 1, "rad|radian": 57.29577951308232, "grad|gradian|gon": 0.9, "turn|revolution": 360, "arcmin|arc minute": 1.0 / 60, "arcsec|arc second": 1.0 / 3600},
}

type convertIn struct {
	Value    float64 `json:"value" jsonschema_description:"The amount to convert"`
	FromUnit string  `json:"from_unit" jsonschema_description:"The unit of the value, by its symbol or name, such as km or miles"`
	ToUnit   string  `json:"to_unit" jsonschema_description:"The unit wanted, by its symbol or name"`
}

// unitSize finds a unit by any spelling, in the singular or plural.
func unitSize(kind, unit string) (float64, error) {
	key := strings.ToLower(strings.TrimSpace(unit))
	key = strings.NewReplacer("²", "2", "³", "3", "_", " ", "^", "").Replace(key)
	for _, spelling := range []string{key, strings.TrimSuffix(key, "s"), strings.TrimSuffix(key, "es")} {
		for names, size := range unitTables[kind] {
			for _, name := range strings.Split(names, "|") {
				if name == spelling {
					return size, nil
				}
			}
		}
	}
	return 0, fmt.Errorf("%q is not a known unit of %s; known are %s", unit, strings.ReplaceAll(kind, "_", " "), strings.Join(unitNames(kind), ", "))
}

func unitNames(kind string) []string {
	var out []string
	for names := range unitTables[kind] {
		name, _, _ := strings.Cut(names, "|")
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func convert(kind string) func(convertIn) (string, error) {
	return func(in convertIn) (string, error) {
		from, err := unitSize(kind, in.FromUnit)
		if err != nil {
			return "", err
		}
		to, err := unitSize(kind, in.ToUnit)
		if err != nil {
			return "", err
		}
		return converted(in, in.Value*from/to)
	}
}

func converted(in convertIn, value float64) (string, error) {
	text, err := finite(value)
	return fmt.Sprintf("%s %s = %s %s", plain(in.Value), in.FromUnit, text, in.ToUnit), err
}

// temperatureScales gives each scale as kelvin = (value + shift) * factor.
var temperatureScales = map[byte]struct{ shift, factor float64 }{
	'c': {273.15, 1}, 'f': {459.67, 5.0 / 9}, 'k': {0, 1}, 'r': {0, 5.0 / 9},
}
