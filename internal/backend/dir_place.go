// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
)

// tempPrefix starts the names of files that are not complete yet. On disk, no other
// element starts with it: see [onDisk].
const tempPrefix = ".einolean-"

// errNotPlain says that something in the store's directory is neither a plain
// file nor a plain directory: a symbolic link, a device, or one for the other.
var errNotPlain = errors.New("not a plain file or directory")

// place is where a name is on disk: its directory, open, and its last element.
type place struct {
	dir     *os.Root
	base    string
	ownsDir bool // dir is to be closed
}

func (p place) close() {
	if p.ownsDir {
		p.dir.Close()
	}
}

// locate opens the directory of name, element by element, and makes missing ones if
// asked to. An empty name is a place in the store's directory with an empty base.
func (d *Dir) locate(name string, create bool) (place, error) {
	at := place{dir: d.top()}
	parent, base := path.Split(name)
	for element := range strings.SplitSeq(strings.TrimSuffix(parent, "/"), "/") {
		if element == "" {
			continue
		}
		next, err := enter(at.dir, element, create)
		at.close()
		if err != nil {
			return place{}, err
		}
		at = place{dir: next, ownsDir: true}
	}
	at.base = base
	return at, nil
}

func enter(dir *os.Root, element string, create bool) (*os.Root, error) {
	aFile := fs.ErrNotExist // which holds no files
	if create {
		if err := dir.Mkdir(element, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		aFile = errNotPlain
	}
	next, _, err := openSeen(place{dir: dir, base: element}, fs.FileMode.IsDir, aFile, dir.OpenRoot, func(d *os.Root) (fs.FileInfo, error) { return d.Stat(".") })
	return next, err
}

// maxTries is how often something is opened again that was replaced while it was being
// opened. A writer has to sync between two replacements, so the second try is the last one
// in practice.
const maxTries = 100

// openSeen opens what has a name, a plain file or a directory as is says; other is the error for the
// other one of these. os.Root would follow a symbolic link that stays inside; what was opened must
// therefore be the very thing that was looked at. Another one of its kind may take its place in
// between, which is no reason to refuse it.
func openSeen[F io.Closer](at place, is func(fs.FileMode) bool, other error, open func(string) (F, error), stat func(F) (fs.FileInfo, error)) (F, fs.FileInfo, error) {
	var none F
	lost := errNotPlain
	for range maxTries {
		seen, err := at.dir.Lstat(at.base)
		switch {
		case err != nil:
			return none, nil, err
		case is(seen.Mode()):
		case seen.IsDir() || seen.Mode().IsRegular():
			return none, nil, other
		default:
			return none, nil, errNotPlain
		}
		f, err := open(at.base)
		if err != nil {
			return none, nil, err
		}
		info, err := stat(f)
		if err == nil && os.SameFile(seen, info) {
			return f, info, nil
		}
		f.Close()
		lost = errors.Join(errNotPlain, err)
		if now, again := at.dir.Lstat(at.base); err != nil || again != nil || !is(now.Mode()) {
			break
		}
	}
	return none, nil, lost
}

// checkFree returns fs.ErrExist if anything has the name.
func checkFree(at place) error {
	_, err := at.dir.Lstat(at.base)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// syncDir makes a new name durable where a directory can be synced. Where it cannot,
// the file is complete all the same, so an error means nothing.
func syncDir(dir *os.Root) {
	if f, err := dir.Open("."); err == nil {
		_ = f.Sync()
		f.Close()
	}
}

// diskName is Name as it is written on this machine's disk.
func diskName(ctx context.Context, filePath string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	name, err := Name(filePath)
	if err != nil {
		return "", err
	}
	return onDisk(runtime.GOOS, name), nil
}

// onDisk is a name as a machine's disk can keep it.
func onDisk(goos, name string) string {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		if goos == "windows" {
			element = windowsElement(element)
		}
		elements[i] = unlikeTemp(element)
	}
	return strings.Join(elements, "/")
}

// unlikeTemp escapes the dot of an element that looks like a temporary file's, and
// the escape of one that looks like what comes out of that, so that no two elements
// become one.
func unlikeTemp(element string) string {
	lower := strings.ToLower(element)
	if strings.HasPrefix(lower, tempPrefix) {
		return "=2e" + element[1:]
	}
	rest, escapes := strings.CutPrefix(lower, "=")
	for escapes {
		if strings.HasPrefix(rest, "2e"+tempPrefix[1:]) {
			return "=3d" + element[1:]
		}
		rest, escapes = strings.CutPrefix(rest, "3d")
	}
	return element
}

// windowsElement escapes, as [Component] does, what Windows forbids in a name or
// reads a meaning into: reserved characters, a dot or space at the end, device
// names. The escape itself is escaped too, so no two elements become one.
func windowsElement(element string) string {
	const reserved = `<>:"\|?*` + string(escape)
	device := isDevice(element)
	var b strings.Builder
	for i := range len(element) {
		c := element[i]
		last := i == len(element)-1 && (c == '.' || c == ' ')
		if c < ' ' || strings.IndexByte(reserved, c) >= 0 || last || device && i == 0 {
			fmt.Fprintf(&b, "%c%02x", escape, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isDevice reports whether Windows takes a name, whatever its extension, for a
// device.
func isDevice(element string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(element), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	const ports = "0123456789¹²³"
	number, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		number, isPort = strings.CutPrefix(stem, "LPT")
	}
	return isPort && number != "" && strings.Trim(number, ports) == ""
}
