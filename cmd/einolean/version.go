// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean version says which version it is.

import (
	"context"
	"fmt"
	"runtime/debug"
)

// versionSchema names what --json writes.
const versionSchema = "einolean.version/1"

// devel is the version of what was built from a checkout.
const devel = "devel"

func runVersion(_ context.Context, s streams, args []string) error {
	type versionJSON struct {
		Schema  string `json:"schema"`
		Version string `json:"version"` // "devel" if it was built from a checkout
		Go      string `json:"go"`
		Eino    string `json:"eino"`
	}
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
	v := versionJSON{Schema: versionSchema}
	info, _ := debug.ReadBuildInfo()
	v.Version, v.Go, v.Eino = versionOf(info)
	if common.json {
		return writeJSON(s.out, v)
	}
	_, err = fmt.Fprintf(s.out, "einolean %s, built with %s for Eino %s\n", v.Version, v.Go, v.Eino)
	return err
}

// versionOf reads the build information. info may be nil.
func versionOf(info *debug.BuildInfo) (version, compiler, eino string) {
	version, compiler, eino = devel, "an unknown Go", "of an unknown version"
	if info == nil {
		return version, compiler, eino
	}
	if v := info.Main.Version; v != "" && v != "("+devel+")" {
		version = v
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/cloudwego/eino" {
			eino = m.Version
		}
	}
	return version, info.GoVersion, eino
}
