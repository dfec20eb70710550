// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package einonext tests einolean with the next version of Eino, v0.10: that all modules compile,
// and that what the handlers change counts in sessions, which are rebuilt from events.
package einonext

import (
	_ "github.com/einolean/einolean/einoleantest"
	_ "github.com/einolean/einolean/programs/javascript"
	_ "github.com/einolean/einolean/reduction"
	_ "github.com/einolean/einolean/reduction/blobbackend"
	_ "github.com/einolean/einolean/reduction/jq"
	_ "github.com/einolean/einolean/toolerror"
	_ "github.com/einolean/einolean/toolsearch"
	_ "github.com/einolean/einolean/toolsearch/mcptools"
	_ "github.com/einolean/einolean/toolsearch/skills"
	_ "github.com/einolean/einolean/toolsearch/toolsearcheval"
	_ "github.com/einolean/einolean/window"
	_ "github.com/einolean/einolean/window/inspect"
	_ "github.com/einolean/einolean/window/windowotel"
)
