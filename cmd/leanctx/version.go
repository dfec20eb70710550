// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds the command that says which version it is.

import (
	"context"
	"fmt"
	"runtime/debug"
)

// versionSchema names what versionJSON is.
const versionSchema = "leanctx.version/1"

// versionJSON is what --json writes.
type versionJSON struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // "devel" if it was built from a checkout
	Go      string `json:"go"`
	Eino    string `json:"eino"`
}

// devel is the version of what was built from a checkout.
const devel = "devel"

func runVersion(_ context.Context, s streams, args []string) error {
	var common options
	rest, err := parse(flags(s, "version", &common), args)
	switch {
	case err != nil:
		return err
	case common.schema:
		return writeSchema[versionJSON](s.out, versionSchema)
	case len(rest) > 0:
		return fail(exitUsage, "it takes no arguments")
	}
	info, _ := debug.ReadBuildInfo()
	v := versionOf(info)
	if common.json {
		return writeJSON(s.out, v)
	}
	_, err = fmt.Fprintf(s.out, "leanctx %s, built with %s for Eino %s\n", v.Version, v.Go, v.Eino)
	return err
}

// versionOf reads what the linker knows; nil if it wrote nothing down.
func versionOf(info *debug.BuildInfo) versionJSON {
	v := versionJSON{Schema: versionSchema, Version: devel, Go: "an unknown Go", Eino: "of an unknown version"}
	if info == nil {
		return v
	}
	v.Go = info.GoVersion
	if info.Main.Version != "" && info.Main.Version != "("+devel+")" {
		v.Version = info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/cloudwego/eino" {
			v.Eino = m.Version
		}
	}
	return v
}
