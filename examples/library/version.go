// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of semantic versions.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var versionServer = group{"version", "Semantic versions", []maker{
	define("version__parse", "Takes a semantic version apart into major, minor, patch, pre-release and build.", func(in versionIn) (string, error) {
		v := in.Version
		out := fmt.Sprintf("major %d, minor %d, patch %d", v.Major(), v.Minor(), v.Patch())
		if v.Prerelease() != "" {
			out += ", pre-release " + v.Prerelease()
		}
		if v.Metadata() != "" {
			out += ", build " + v.Metadata()
		}
		return out, nil
	}),
	define("version__compare", "Says which of two semantic versions is the newer one.", func(in struct {
		First  version `json:"first" jsonschema_description:"The first version"`
		Second version `json:"second" jsonschema_description:"The second version"`
	}) (string, error) {
		switch c := in.First.Compare(in.Second.Version); {
		case c < 0:
			return in.Second.text + " is newer than " + in.First.text, nil
		case c > 0:
			return in.First.text + " is newer than " + in.Second.text, nil
		}
		return "both are the same version", nil
	}),
	define("version__bump", "Raises the major, minor or patch part of a semantic version.", func(in struct {
		versionIn
		Part string `json:"part" jsonschema:"enum=major,enum=minor,enum=patch" jsonschema_description:"The part to raise"`
	}) (string, error) {
		v := in.Version
		next := map[string]func() semver.Version{"major": v.IncMajor, "minor": v.IncMinor, "patch": v.IncPatch}[in.Part]()
		zero := in.Part == "patch" || v.Patch() == 0 && (in.Part == "minor" || v.Minor() == 0)
		if v.Prerelease() != "" && zero { // 2.0.0-rc.1 becomes 2.0.0, not 3.0.0
			next = v.IncPatch()
		}
		return next.Original(), nil
	}),
	define("version__sort", "Sorts semantic versions from the oldest to the newest.", func(in versionsIn) (string, error) {
		return joined(in.sorted(), "\n", func(v version) string { return v.Original() }), nil
	}),
	define("version__satisfies", "Says whether a version satisfies a constraint such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0.", func(in struct {
		versionIn
		Constraint string `json:"constraint" jsonschema_description:"The constraint, such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0; || parts alternatives"`
	}) (string, error) {
		ok, err := in.Version.satisfies(in.Constraint)
		if ok {
			return fmt.Sprintf("yes, %s satisfies %s", in.Version.text, in.Constraint), err
		}
		return fmt.Sprintf("no, %s does not satisfy %s", in.Version.text, in.Constraint), err
	}),
	define("version__latest", "Finds the newest of some versions that satisfies a constraint.", func(in struct {
		versionsIn
		Constraint string `json:"constraint,omitempty" jsonschema:"default=>=0" jsonschema_description:"The constraint; any version if left out"`
	}) (string, error) {
		for _, v := range slices.Backward(in.sorted()) {
			if ok, err := v.satisfies(in.Constraint); ok || err != nil {
				return v.Original(), err
			}
		}
		return "none of the versions satisfies " + in.Constraint, nil
	}),
}}

func parseVersion(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%q is not a version such as 1.4.2 or v2.0.0-rc.1", text)
	}
	return v, nil
}

// version is an argument that is a semantic version.
type version struct {
	written
	*semver.Version
}

// UnmarshalJSON reads the version.
func (v *version) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &v.written, &v.Version, parseVersion)
}

type versionIn struct {
	Version version `json:"version" jsonschema_description:"The version, such as 1.4.2"`
}

type versionsIn struct {
	Versions []version `json:"versions" jsonschema:"minItems=1" jsonschema_description:"The versions"`
}

// sorted gives the versions from the oldest to the newest.
func (in versionsIn) sorted() []version {
	slices.SortStableFunc(in.Versions, func(a, b version) int { return a.Compare(b.Version) })
	return in.Versions
}

// satisfies requires all conditions that blanks or commas separate, and any of those that || separates.
func (v version) satisfies(constraint string) (bool, error) {
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return false, fmt.Errorf("%q is not a constraint such as ^1.2.0 or >=1.0.0 <2.0.0", constraint)
	}
	c.IncludePrerelease = true
	return c.Check(v.Version), nil
}
