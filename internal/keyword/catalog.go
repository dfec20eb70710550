// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file numbers documents and knows their names.

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Doc is what is known about one tool. The zero value is a document without a
// name that nothing finds.
type Doc struct {
	// Name is the full name, with the server's prefix if it has one.
	Name string
	// Server names where the tool comes from. Empty: what stands before "__" in Name.
	Server string
	// Description is prose in any language.
	Description string
	// Params are the parameters of the tool.
	Params []Param
}

// Param is one parameter of a [Doc].
type Param struct {
	// Name is the parameter's own name, without those it is nested in.
	Name string
	// Description is prose in any language. May be empty.
	Description string
	// Enum lists the values it can have, if they are few and known.
	Enum []string
}

// catalog is the names of the documents. Inside, documents are numbered in the order
// of their names, so that comparing two numbers compares the names.
type catalog struct {
	names  []string          // by inner number
	place  []int             // inner number -> position in the slice of documents
	inner  []uint32          // the other way round
	byName map[string]uint32 // the first of each name
	near   func() *nearIndex // made when it is first needed: most searches never do
}

func newCatalog(docs []Doc) catalog {
	c := catalog{
		names:  make([]string, len(docs)),
		place:  make([]int, len(docs)),
		inner:  make([]uint32, len(docs)),
		byName: make(map[string]uint32, len(docs)),
	}
	for i := range c.place {
		c.place[i] = i
	}
	slices.SortFunc(c.place, func(a, b int) int {
		return cmp.Or(strings.Compare(docs[a].Name, docs[b].Name), cmp.Compare(a, b))
	})
	for i, place := range c.place {
		name := docs[place].Name
		c.inner[place] = uint32(i)
		c.names[i] = name
		if _, taken := c.byName[name]; !taken {
			c.byName[name] = uint32(i)
		}
	}
	names := c.names
	c.near = sync.OnceValue(func() *nearIndex { return newNearIndex(names) })
	return c
}

// Len is the number of documents.
func (c *catalog) Len() int { return len(c.names) }

// Name is the name of the document at the given position, which must be from 0
// to Len()-1.
func (c *catalog) Name(doc int) string { return c.names[c.inner[doc]] }

// Lookup finds the document with exactly this name, the first if there are
// several.
func (c *catalog) Lookup(name string) (doc int, ok bool) {
	i, ok := c.byName[name]
	if !ok {
		return 0, false
	}
	return c.place[i], true
}
