// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of shapes and places, of units of measurement, and of money.

import (
	_ "embed"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"
)

var geometryServer = group{"geometry", "Shapes, points and places on the earth", []maker{
	define("geometry__circle", "Computes circumference, area and diameter of a circle from its radius.", func(in radiusIn) (string, error) {
		return measures("circumference %s, area %s, diameter %s", 2*math.Pi*in.Radius, math.Pi*in.Radius*in.Radius, 2*in.Radius)
	}),
	define("geometry__rectangle", "Computes area, perimeter and diagonal of a rectangle.", func(in rectangleIn) (string, error) {
		return measures("area %s, perimeter %s, diagonal %s", in.Width*in.Height, 2*(in.Width+in.Height), math.Hypot(in.Width, in.Height))
	}),
	define("geometry__triangle", "Computes area, perimeter and angles of a triangle from its three sides.", func(in struct {
		A float64 `json:"a" jsonschema:"minimum=0" jsonschema_description:"The first side"`
		B float64 `json:"b" jsonschema:"minimum=0" jsonschema_description:"The second side"`
		C float64 `json:"c" jsonschema:"minimum=0" jsonschema_description:"The third side"`
	}) (string, error) {
		a, b, c := in.A, in.B, in.C
		if a+b <= c || a+c <= b || b+c <= a {
			return "", fmt.Errorf("sides %s, %s and %s make no triangle: each must be shorter than the two others together", plain(a), plain(b), plain(c))
		}
		angle := func(opposite, x, y float64) float64 {
			return math.Acos((x*x+y*y-opposite*opposite)/(2*x*y)) * 180 / math.Pi
		}
		s := (a + b + c) / 2
		return measures("area %s, perimeter %s, angles %s°, %s°, %s°", math.Sqrt(s*(s-a)*(s-b)*(s-c)), 2*s, angle(a, b, c), angle(b, a, c), angle(c, a, b))
	}),
	define("geometry__hypotenuse", "Computes the hypotenuse of a right triangle from its legs (Pythagoras).", func(in struct {
		A float64 `json:"a" jsonschema:"minimum=0" jsonschema_description:"The first leg"`
		B float64 `json:"b" jsonschema:"minimum=0" jsonschema_description:"The second leg"`
	}) (string, error) {
		return finite(math.Hypot(in.A, in.B))
	}),
	define("geometry__sphere", "Computes volume and surface of a sphere from its radius.", func(in radiusIn) (string, error) {
		return measures("volume %s, surface %s", 4.0/3*math.Pi*math.Pow(in.Radius, 3), 4*math.Pi*in.Radius*in.Radius)
	}),
	define("geometry__cylinder", "Computes volume and surface of a cylinder from radius and height.", func(in roundSolidIn) (string, error) {
		base := math.Pi * in.Radius * in.Radius
		return measures("volume %s, surface %s", base*in.Height, 2*base+2*math.Pi*in.Radius*in.Height)
	}),
	define("geometry__cone", "Computes volume and surface of a cone from radius and height.", func(in roundSolidIn) (string, error) {
		base := math.Pi * in.Radius * in.Radius
		return measures("volume %s, surface %s", base*in.Height/3, base+math.Pi*in.Radius*math.Hypot(in.Radius, in.Height))
	}),
	define("geometry__box", "Computes volume, surface and space diagonal of a box.", func(in struct {
		rectangleIn
		Depth float64 `json:"depth" jsonschema:"minimum=0" jsonschema_description:"The depth"`
	}) (string, error) {
		w, h, d := in.Width, in.Height, in.Depth
		return measures("volume %s, surface %s, diagonal %s", w*h*d, 2*(w*h+w*d+h*d), math.Hypot(math.Hypot(w, h), d))
	}),
	define("geometry__point_distance", "Computes distance, midpoint and slope between two points in the plane.", func(in struct {
		X1 float64 `json:"x1" jsonschema_description:"x of the first point"`
		Y1 float64 `json:"y1" jsonschema_description:"y of the first point"`
		X2 float64 `json:"x2" jsonschema_description:"x of the second point"`
		Y2 float64 `json:"y2" jsonschema_description:"y of the second point"`
	}) (string, error) {
		dx, dy := in.X2-in.X1, in.Y2-in.Y1
		out, err := measures("distance %s, midpoint (%s, %s)", math.Hypot(dx, dy), in.X1/2+in.X2/2, in.Y1/2+in.Y2/2)
		if dx != 0 && err == nil {
			out += ", slope " + plain(dy/dx)
		}
		return out, err
	}),
	define("geometry__polygon_area", "Computes area and perimeter of a polygon from the coordinates of its corners.", func(in struct {
		Points [][]float64 `json:"points" jsonschema:"minItems=3" jsonschema_description:"The corners in order, each as a pair [x, y]"`
	}) (string, error) {
		area, perimeter := 0.0, 0.0
		for i, p := range in.Points {
			next := in.Points[(i+1)%len(in.Points)]
			if len(p) != 2 || len(next) != 2 {
				return "", fmt.Errorf("corner %d is not a pair [x, y]", i+1)
			}
			area += p[0]*next[1] - next[0]*p[1]
			perimeter += math.Hypot(next[0]-p[0], next[1]-p[1])
		}
		return measures("area %s, perimeter %s", math.Abs(area)/2, perimeter)
	}),
	define("geometry__earth_distance", "Computes the great-circle distance between two places from their latitudes and longitudes.",
		func(in placesIn) (string, error) {
			lat1, lat2, dLon := in.radians()
			h := math.Pow(math.Sin((lat2-lat1)/2), 2) + math.Cos(lat1)*math.Cos(lat2)*math.Pow(math.Sin(dLon/2), 2)
			km := 2 * 6371.0088 * math.Asin(math.Min(1, math.Sqrt(h)))
			return fmt.Sprintf("%.1f km (%.1f miles)", km, km/1.609344), nil
		}),
	define("geometry__bearing", "Computes the compass bearing from one place to another from their latitudes and longitudes.",
		func(in placesIn) (string, error) {
			lat1, lat2, dLon := in.radians()
			angle := math.Atan2(math.Sin(dLon)*math.Cos(lat2), math.Cos(lat1)*math.Sin(lat2)-math.Sin(lat1)*math.Cos(lat2)*math.Cos(dLon))
			degrees := math.Mod(angle*180/math.Pi+360, 360)
			names := []string{"N", "NE", "E", "SE", "S", "SW", "W", "NW"}
			return fmt.Sprintf("%.1f° (%s)", degrees, names[int(degrees/45+0.5)%8]), nil
		}),
}}

// measures writes named results, refusing if one is not finite.
func measures(format string, values ...float64) (string, error) {
	return filled(finite, format, values)
}

type radiusIn struct {
	Radius float64 `json:"radius" jsonschema:"minimum=0" jsonschema_description:"The radius"`
}

type rectangleIn struct {
	Width  float64 `json:"width" jsonschema:"minimum=0" jsonschema_description:"The width"`
	Height float64 `json:"height" jsonschema:"minimum=0" jsonschema_description:"The height"`
}

type roundSolidIn struct {
	radiusIn
	Height float64 `json:"height" jsonschema:"minimum=0" jsonschema_description:"The height"`
}

type placesIn struct {
	Lat1 float64 `json:"lat1" jsonschema:"minimum=-90,maximum=90" jsonschema_description:"Latitude of the first place in degrees, north positive"`
	Lon1 float64 `json:"lon1" jsonschema:"minimum=-180,maximum=180" jsonschema_description:"Longitude of the first place in degrees, east positive"`
	Lat2 float64 `json:"lat2" jsonschema:"minimum=-90,maximum=90" jsonschema_description:"Latitude of the second place in degrees"`
	Lon2 float64 `json:"lon2" jsonschema:"minimum=-180,maximum=180" jsonschema_description:"Longitude of the second place in degrees"`
}

func (in placesIn) radians() (lat1, lat2, dLon float64) {
	const degree = math.Pi / 180
	return in.Lat1 * degree, in.Lat2 * degree, (in.Lon2 - in.Lon1) * degree
}

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
var unitTables = func() map[string]map[string]float64 {
	tables := map[string]map[string]float64{}
	kind := ""
	for line := range strings.Lines(unitsText) {
		names, size, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if heading, ok := strings.CutPrefix(names, "# "); ok {
			kind = heading
			tables[kind] = map[string]float64{}
			continue
		}
		exact, _ := new(big.Rat).SetString(size)
		tables[kind][names], _ = exact.Float64()
	}
	return tables
}()

//go:embed data/units.txt
var unitsText string

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

var financeServer = group{"finance", "Interest, loans and prices", []maker{
	define("finance__compound_interest", "Computes what an amount grows to with compound interest.", func(in struct {
		interestIn
		PerYear int `json:"times_per_year,omitempty" jsonschema:"default=1,minimum=1,maximum=366" jsonschema_description:"How often a year the interest is added: 1 yearly, 12 monthly"`
	}) (string, error) {
		n := float64(in.PerYear)
		end := in.Principal * math.Pow(1+in.Rate/100/n, n*in.Years)
		return amounts("%s after the time, of which %s interest", end, end-in.Principal)
	}),
	define("finance__simple_interest", "Computes the simple interest on an amount.", func(in interestIn) (string, error) {
		interest := in.Principal * in.Rate / 100 * in.Years
		return amounts("%s interest, %s in total", interest, in.Principal+interest)
	}),
	define("finance__loan_payment", "Computes the monthly payment of a loan and its total interest.", func(in loanIn) (string, error) {
		total := in.payment() * float64(in.Months)
		return amounts("%s a month, %s in total, of which %s interest", in.payment(), total, total-in.Amount)
	}),
	defineStream("finance__amortization_schedule", "Lists every payment of a loan with interest, repayment and what is left.",
		func(in loanIn, emit func(string) bool) error {
			left := in.Amount
			for month := 1; month <= in.Months; month++ {
				interest := left * in.Rate / 1200
				repaid := in.payment() - interest
				left -= repaid
				line, err := amounts("interest %s, repayment %s, left %s\n", interest, repaid, math.Abs(left))
				if err != nil {
					return err
				}
				if !emit(fmt.Sprintf("month %d: %s", month, line)) {
					return nil
				}
			}
			return nil
		}),
	define("finance__savings_plan", "Computes what regular monthly savings grow to with interest.", func(in struct {
		Monthly float64 `json:"monthly" jsonschema:"minimum=0" jsonschema_description:"What is saved each month, at its end"`
		Rate    float64 `json:"rate" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Interest per year in percent"`
		Years   float64 `json:"years" jsonschema:"minimum=0,maximum=100" jsonschema_description:"For how many years"`
	}) (string, error) {
		n, r := in.Years*12, in.Rate/1200
		end := either(r > 0, in.Monthly*(math.Pow(1+r, n)-1)/r, in.Monthly*n)
		return amounts("%s after the time, of which %s paid in", end, in.Monthly*n)
	}),
	define("finance__present_value", "Computes what a future amount is worth today at a discount rate.", func(in struct {
		Amount float64 `json:"amount" jsonschema_description:"The amount in the future"`
		Rate   float64 `json:"rate" jsonschema:"minimum=-50,maximum=1000" jsonschema_description:"Discount rate per year in percent"`
		Years  float64 `json:"years" jsonschema:"minimum=0,maximum=200" jsonschema_description:"In how many years"`
	}) (string, error) {
		return amounts("%s today", in.Amount/math.Pow(1+in.Rate/100, in.Years))
	}),
	define("finance__net_present_value", "Computes the net present value (NPV) of yearly cash flows.", func(in struct {
		flowsIn
		Rate float64 `json:"rate" jsonschema:"minimum=-50,maximum=1000" jsonschema_description:"Discount rate per year in percent"`
	}) (string, error) {
		return amounts("%s", npv(in.Rate/100, in.CashFlows))
	}),
	define("finance__internal_rate_of_return", "Computes the internal rate of return (IRR) of yearly cash flows.", func(in flowsIn) (string, error) {
		low, high := -0.99, 10.0
		atLow := npv(low, in.CashFlows)
		if len(in.CashFlows) > 1000 || !(atLow*npv(high, in.CashFlows) < 0) {
			return "", fmt.Errorf("these cash flows have no rate of return between -99%% and 1000%%; there must be payments out and in")
		}
		for range 200 {
			middle := (low + high) / 2
			if v := npv(middle, in.CashFlows); (v < 0) == (atLow < 0) {
				low = middle
			} else {
				high = middle
			}
		}
		return fmt.Sprintf("%.2f%%", low*100), nil
	}),
	define("finance__return_on_investment", "Computes the return on an investment in percent, in total and per year (CAGR).", func(in struct {
		Start float64 `json:"start" jsonschema:"minimum=0.01" jsonschema_description:"What was invested"`
		End   float64 `json:"end" jsonschema:"minimum=0" jsonschema_description:"What it is worth at the end"`
		Years float64 `json:"years,omitempty" jsonschema:"default=1,minimum=0.01,maximum=200" jsonschema_description:"After how many years"`
	}) (string, error) {
		growth := in.End / in.Start
		if _, err := finite(growth * 100); err != nil {
			return "", err
		}
		return fmt.Sprintf("%.2f%% in total, %.2f%% per year", (growth-1)*100, (math.Pow(growth, 1/in.Years)-1)*100), nil
	}),
	define("finance__add_tax", "Adds value added tax or sales tax to a price, or takes it out of one.", func(in struct {
		Price    float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price"`
		Rate     float64 `json:"rate" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"The tax in percent, such as 19"`
		Included bool    `json:"included,omitempty" jsonschema_description:"True if the price holds the tax already"`
	}) (string, error) {
		net := either(in.Included, in.Price/(1+in.Rate/100), in.Price)
		return amounts("net %s, tax %s, gross %s", net, net*in.Rate/100, net*(1+in.Rate/100))
	}),
	define("finance__discount", "Computes a price after a discount and what is saved.", func(in struct {
		Price   float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price before the discount"`
		Percent float64 `json:"percent" jsonschema:"minimum=0,maximum=100" jsonschema_description:"The discount in percent"`
	}) (string, error) {
		saved := in.Price * in.Percent / 100
		return amounts("%s, saving %s", in.Price-saved, saved)
	}),
	define("finance__split_bill", "Splits a restaurant bill with a tip among people.", func(in struct {
		Amount float64 `json:"amount" jsonschema:"minimum=0" jsonschema_description:"The bill"`
		People int     `json:"people" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"Among how many people"`
		Tip    float64 `json:"tip_percent,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"The tip in percent"`
	}) (string, error) {
		total := in.Amount * (1 + in.Tip/100)
		return amounts("%s each; %s in total with a tip of %s", total/float64(in.People), total, total-in.Amount)
	}),
	define("finance__break_even", "Computes how many units must be sold to cover the fixed costs.", func(in struct {
		FixedCosts float64 `json:"fixed_costs" jsonschema:"minimum=0" jsonschema_description:"The costs that do not depend on what is sold"`
		Price      float64 `json:"price" jsonschema:"minimum=0" jsonschema_description:"The price of a unit"`
		UnitCost   float64 `json:"unit_cost" jsonschema:"minimum=0" jsonschema_description:"The cost of a unit"`
	}) (string, error) {
		if in.Price <= in.UnitCost {
			return "", fmt.Errorf("the price must be above the cost of a unit, or no number of units covers the fixed costs")
		}
		units, err := finite(math.Ceil(in.FixedCosts / (in.Price - in.UnitCost)))
		return units + " units", err
	}),
	define("finance__margin", "Computes margin and markup from cost and price.", func(in struct {
		Cost  float64 `json:"cost" jsonschema:"minimum=0.01" jsonschema_description:"What the thing costs the seller"`
		Price float64 `json:"price" jsonschema:"minimum=0.01" jsonschema_description:"What it is sold for"`
	}) (string, error) {
		profit, err := money(in.Price - in.Cost)
		return fmt.Sprintf("profit %s, margin %.2f%%, markup %.2f%%", profit, (in.Price-in.Cost)/in.Price*100, (in.Price-in.Cost)/in.Cost*100), err
	}),
}}

// amounts writes named amounts with two decimals.
func amounts(format string, values ...float64) (string, error) {
	return filled(money, format, values)
}

type interestIn struct {
	Principal float64 `json:"principal" jsonschema:"minimum=0" jsonschema_description:"The amount at the start"`
	Rate      float64 `json:"rate" jsonschema:"minimum=-100,maximum=1000" jsonschema_description:"Interest per year in percent, such as 5"`
	Years     float64 `json:"years" jsonschema:"minimum=0,maximum=200" jsonschema_description:"For how many years"`
}

type loanIn struct {
	Amount float64 `json:"amount" jsonschema:"minimum=0.01" jsonschema_description:"The amount of the loan"`
	Rate   float64 `json:"rate" jsonschema:"minimum=0,maximum=100" jsonschema_description:"Interest per year in percent"`
	Months int     `json:"months" jsonschema:"minimum=1,maximum=600" jsonschema_description:"The number of monthly payments; 30 years are 360"`
}

func (in loanIn) payment() float64 {
	r := in.Rate / 1200
	if r == 0 {
		return in.Amount / float64(in.Months)
	}
	return in.Amount * r / (1 - math.Pow(1+r, -float64(in.Months)))
}

type flowsIn struct {
	CashFlows []float64 `json:"cash_flows" jsonschema:"minItems=2" jsonschema_description:"The cash flow of each year; the first is today's, mostly negative"`
}

func npv(rate float64, flows []float64) float64 {
	total := 0.0
	for i, f := range flows {
		total += f / math.Pow(1+rate, float64(i))
	}
	return total
}
