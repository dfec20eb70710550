// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of archives under the root.

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

var archiveServer = group{"archive", "Zip and tar archives in the working folder", []maker{
	defineAt("archive__zip_list", "Lists the files inside a zip archive with their sizes.", listing(readZip)),
	defineAt("archive__zip_create", "Packs files and folders into a new zip archive.", pack(writeZip)),
	defineAt("archive__zip_extract", "Unpacks a zip archive into a folder.", unpack(readZip)),
	defineAt("archive__zip_read", "Reads one text file inside a zip archive without unpacking it.", func(at place, in struct {
		archiveIn
		Path string `json:"path" jsonschema_description:"The file's path inside the archive"`
	}) (text string, err error) {
		found := false
		err = readZip(at, func(member string, _ int64, content io.Reader) error {
			if member != in.Path {
				return nil
			}
			data, err := io.ReadAll(io.LimitReader(content, maxAnswer))
			text, found = readable(data), true
			return err
		})
		if err == nil && !found {
			err = fmt.Errorf("the archive has no file %q", in.Path)
		}
		return text, err
	}),
	defineAt("archive__tar_list", "Lists the files inside a tar or tar.gz archive with their sizes.", listing(readTar)),
	defineAt("archive__tar_create", "Packs files and folders into a new tar archive; gzipped if its name ends in .gz or .tgz.", pack(writeTar)),
	defineAt("archive__tar_extract", "Unpacks a tar or tar.gz archive into a folder.", unpack(readTar)),
	defineAt("archive__gzip_file", "Compresses a file with gzip into a new file with .gz at the end.", func(at place, in fileIn) (string, error) {
		return at.become(at.name+".gz", compressors["gzip"])
	}),
	defineAt("archive__gunzip_file", "Decompresses a .gz file into a new file without .gz at the end.", func(at place, in fileIn) (string, error) {
		to, ok := strings.CutSuffix(at.name, ".gz")
		if !ok {
			return "", fmt.Errorf("the name %q does not end in .gz", at.name)
		}
		return at.become(to, func(data []byte) ([]byte, error) { return decompress("gzip", data, maxFile) })
	}),
}}

type archiveIn struct {
	Archive string `json:"archive" jsonschema_description:"The archive's path inside the working folder, such as backup.zip"`
}

func (in archiveIn) path() string { return in.Archive }

type packIn struct {
	archiveIn
	Paths []string `json:"paths" jsonschema:"minItems=1" jsonschema_description:"The paths of the files and folders to pack"`
}

type extractIn struct {
	archiveIn
	To string `json:"to_path" jsonschema_description:"The folder to unpack into; it is made if need be"`
}

// become writes a new file that is made of another one.
func (p place) become(name string, change func([]byte) ([]byte, error)) (string, error) {
	to := place{p.root, name}
	data, err := p.read(maxFile)
	if err != nil {
		return "", err
	}
	if err := to.free(); err != nil {
		return "", err
	}
	out, err := change(data)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %d bytes became %d", name, len(data), len(out)), to.write(out)
}

// member is a file of an archive.
type member struct {
	name string
	data []byte
}

// gather reads the files below some paths.
func gather(at place, paths []string) ([]member, error) {
	var out []member
	total := 0
	for _, p := range paths[:min(len(paths), 1000)] {
		err := at.to(p).files(func(file place, _ fs.DirEntry) error {
			data, err := file.read(maxFile)
			if total += len(data); total > maxFile || len(out) > maxFiles {
				return errors.New("the files are too large to pack together")
			}
			out = append(out, member{file.name, data})
			return err
		})
		if err != nil {
			return nil, inside(err, p)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there are no files to pack")
	}
	return out, nil
}

// pack writes a new archive.
func pack(write func(w io.Writer, name string, members []member) error) func(at place, in packIn) (string, error) {
	return func(at place, in packIn) (string, error) {
		if err := at.free(); err != nil {
			return "", err
		}
		members, err := gather(at, in.Paths)
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		if err := write(&out, strings.ToLower(at.name), members); err != nil {
			return "", err
		}
		return fmt.Sprintf("packed %s into %s (%s)", counted(len(members), "file"), at.name, counted(out.Len(), "byte")), at.write(out.Bytes())
	}
}

func writeZip(out io.Writer, _ string, members []member) error {
	w := zip.NewWriter(out)
	for _, m := range members {
		entry, err := w.Create(m.name)
		if err != nil {
			return err
		}
		if _, err := entry.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeTar(out io.Writer, name string, members []member) error {
	if strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".tgz") {
		zipped := gzip.NewWriter(out)
		defer zipped.Close()
		out = zipped
	}
	w := tar.NewWriter(out)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data))}); err != nil {
			return err
		}
		if _, err := w.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// reader shows each file of an archive to visit; fs.SkipAll ends it.
type reader func(at place, visit func(name string, size int64, content io.Reader) error) error

func readZip(at place, visit func(name string, size int64, content io.Reader) error) error {
	data, err := at.read(maxFile)
	if err != nil {
		return err
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%q is not a zip archive", at.name)
	}
	for _, entry := range r.File[:min(len(r.File), maxFiles)] {
		if entry.FileInfo().IsDir() {
			continue
		}
		content, err := entry.Open()
		if err != nil {
			return fmt.Errorf("%q cannot be read: %w", entry.Name, err)
		}
		err = visit(entry.Name, int64(entry.UncompressedSize64), content)
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func readTar(at place, visit func(name string, size int64, content io.Reader) error) error {
	data, err := at.read(maxFile)
	if err != nil {
		return err
	}
	var in io.Reader = bytes.NewReader(data)
	if zipped, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		in = io.LimitReader(zipped, 2*maxFile)
	}
	r := tar.NewReader(in)
	for range maxFiles {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%q is not a tar archive, or is damaged", at.name)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := visit(header.Name, header.Size, r); err != nil {
			return err
		}
	}
	return nil
}

// listing writes a line for each file of an archive.
func listing(read reader) func(at place, in archiveIn) (string, error) {
	return func(at place, _ archiveIn) (string, error) {
		var out []string
		err := read(at, func(name string, size int64, _ io.Reader) error {
			out = append(out, fmt.Sprintf("%s (%d bytes)", name, size))
			return nil
		})
		return listed(out, "the archive is empty"), err
	}
}

// unpack writes each file below a folder. A name that leads out of it is
// refused here, and would be by the root.
func unpack(read reader) func(at place, in extractIn) (string, error) {
	return func(at place, in extractIn) (string, error) {
		n, left := 0, int64(maxFile)
		err := read(at, func(member string, _ int64, content io.Reader) error {
			if !fs.ValidPath(member) {
				return fmt.Errorf("the archive holds %q, which leads out of the folder", member)
			}
			data, err := io.ReadAll(io.LimitReader(content, left+1))
			if err != nil {
				return fmt.Errorf("%q cannot be unpacked: %w", member, err)
			}
			if left -= int64(len(data)); left < 0 {
				return fmt.Errorf("the archive holds more than %d bytes", maxFile)
			}
			n++
			return place{at.root, path.Join(local(in.To), member)}.write(data)
		})
		return fmt.Sprintf("unpacked %s into %s", counted(n, "file"), local(in.To)), err
	}
}
