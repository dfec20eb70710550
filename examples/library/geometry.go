// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of shapes and places on the earth.

import (
	"fmt"
	"math"
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
