// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

// Package blobbackend looks at a name and then renames onto it, so that two writers can both succeed,
// and what a crash leaves half synced it shows as whole.

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/einolean/einolean/store"
)

const fileScheme = "file"

// openDir opens a directory, if that is what a URL names; else it returns nil.
func openDir(text string) (*Backend, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != fileScheme {
		return nil, nil // of others the driver knows better what is wrong
	}
	if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" {
		return nil, fmt.Errorf("%q: the URL of a directory has neither a host nor options, as in file:///var/lib/agent", text)
	}
	path := u.Path
	if os.PathSeparator != '/' {
		path = strings.TrimPrefix(path, "/") // of /C:/agent
	}
	dir, err := store.NewDir(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	return &Backend{store: dir, close: dir.Close, way: breaker{now: time.Now}}, nil
}
