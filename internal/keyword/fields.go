// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file says which parts of a document BM25 weighs, and how much.

import "strings"

// field is a part of a document.
type field uint8

const (
	fieldName field = iota
	fieldDescription
	fieldParam
	fieldParamDescription
	fieldEnum
	fieldServer
	fieldCount
)

var fieldNames = [fieldCount]string{
	"name", "description", "parameter", "parameter description", "parameter value", "server",
}

// fieldWeights say how much one occurrence in a field is worth, and fieldSlopes how
// much less it is worth the longer the field is. Words about parameters have a slope:
// without it tools with many parameters would win every search.
var (
	fieldWeights = [fieldCount]float64{2.5, 1, 0.5, 0.35, 0.35, 1}
	fieldSlopes  = [fieldCount]float64{0.4, 0.75, 0.5, 0.5, 0.5, 0}
)

// saturation says how fast further occurrences stop to count.
const saturation = 1.2

// Bounds on what is read of one document. What is beyond them is not searched.
const (
	maxNameBytes        = 512
	maxDescriptionBytes = 16 << 10
	maxParams           = 128
	maxParamBytes       = 2 << 10 // of a parameter's description
	maxEnum             = 32      // values of one parameter
)

// counts packs how often a token occurs in each field, countBits for each.
type counts uint32

const (
	countBits = 5
	maxCount  = 1<<countBits - 1
)

func (c counts) of(f field) int { return int(c>>(countBits*f)) & maxCount }

func (c counts) plus(f field) counts {
	if c.of(f) == maxCount {
		return c
	}
	return c + 1<<(countBits*f)
}

// splitServer separates the server's name from the tool's own. Clients write them as
// server__tool or mcp__server__tool.
func splitServer(d *Doc) (server, name string) {
	if d.Server != "" {
		if own, ok := strings.CutPrefix(d.Name, d.Server+"__"); ok && own != "" {
			return d.Server, own
		}
		return d.Server, d.Name
	}
	server, name, ok := strings.Cut(strings.TrimPrefix(d.Name, "mcp__"), "__")
	if !ok || server == "" || name == "" {
		return "", d.Name
	}
	return server, name
}
