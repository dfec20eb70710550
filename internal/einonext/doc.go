// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package einonext tests leanctx with the next version of Eino, v0.10: that all modules compile,
// and that what the handlers change counts in sessions, which are rebuilt from events.
package einonext

import (
	_ "github.com/leanctx/leanctx/leanctxtest"
	_ "github.com/leanctx/leanctx/reduction"
	_ "github.com/leanctx/leanctx/reduction/blobbackend"
	_ "github.com/leanctx/leanctx/reduction/jq"
	_ "github.com/leanctx/leanctx/toolerror"
	_ "github.com/leanctx/leanctx/toolsearch"
	_ "github.com/leanctx/leanctx/toolsearch/javascript"
	_ "github.com/leanctx/leanctx/toolsearch/mcptools"
	_ "github.com/leanctx/leanctx/toolsearch/skills"
	_ "github.com/leanctx/leanctx/toolsearch/toolsearcheval"
	_ "github.com/leanctx/leanctx/window"
	_ "github.com/leanctx/leanctx/window/inspect"
	_ "github.com/leanctx/leanctx/window/leanctxotel"
)
