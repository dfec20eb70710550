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
	"os"
	"path"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func archiveServer(root string) Server {
	f := folder{root}
	return Server{Name: "archive", Title: "Zip and tar archives in the working folder", Tools: []tool.BaseTool{
		define("archive__zip_list", "Lists the files inside a zip archive with their sizes.", f.zipList),
		define("archive__zip_create", "Packs files and folders into a new zip archive.", f.zipCreate),
		define("archive__zip_extract", "Unpacks a zip archive into a folder.", f.zipExtract),
		define("archive__zip_read", "Reads one text file inside a zip archive without unpacking it.", f.zipRead),
		define("archive__tar_list", "Lists the files inside a tar or tar.gz archive with their sizes.", f.tarList),
		define("archive__tar_create", "Packs files and folders into a new tar archive; gzipped if its name ends in .gz or .tgz.", f.tarCreate),
		define("archive__tar_extract", "Unpacks a tar or tar.gz archive into a folder.", f.tarExtract),
		define("archive__gzip_file", "Compresses a file with gzip into a new file with .gz at the end.", f.gzipFile),
		define("archive__gunzip_file", "Decompresses a .gz file into a new file without .gz at the end.", f.gunzipFile),
	}}
}

type archiveIn struct {
	Archive string `json:"archive" jsonschema_description:"The archive's path inside the working folder, such as backup.zip"`
}

type packIn struct {
	archiveIn
	Paths []string `json:"paths" jsonschema:"minItems=1" jsonschema_description:"The paths of the files and folders to pack"`
}

type extractIn struct {
	archiveIn
	To string `json:"to_path" jsonschema_description:"The folder to unpack into; it is made if need be"`
}

// member is a file of an archive.
type member struct {
	name string
	data []byte
}

// gather reads the files below some paths.
func gather(root *os.Root, paths []string) ([]member, error) {
	var out []member
	total := 0
	for _, p := range paths[:min(len(paths), 1000)] {
		err := files(root, local(p), func(at string, _ fs.DirEntry) error {
			data, err := readFile(root, at, maxFile)
			if total += len(data); total > maxFile || len(out) > maxFiles {
				return errors.New("the files are too large to pack together")
			}
			out = append(out, member{at, data})
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
func (f folder) pack(in packIn, write func(w io.Writer, members []member) error) (string, error) {
	return f.with(in.Archive, func(root *os.Root, name string) (string, error) {
		if err := free(root, name); err != nil {
			return "", err
		}
		members, err := gather(root, in.Paths)
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		if err := write(&out, members); err != nil {
			return "", err
		}
		return fmt.Sprintf("packed %s into %s (%s)", counted(len(members), "file"), name, counted(out.Len(), "byte")), writeFile(root, name, out.Bytes())
	})
}

func (f folder) zipCreate(in packIn) (string, error) {
	return f.pack(in, func(out io.Writer, members []member) error {
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
	})
}

func (f folder) tarCreate(in packIn) (string, error) {
	return f.pack(in, func(out io.Writer, members []member) error {
		if name := strings.ToLower(in.Archive); strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".tgz") {
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
	})
}

// visitor is shown each file of an archive; errEnough ends the reading.
type visitor func(name string, size int64, content io.Reader) error

func readZip(root *os.Root, name string, visit visitor) error {
	data, err := readFile(root, name, maxFile)
	if err != nil {
		return err
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%q is not a zip archive", name)
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

func readTar(root *os.Root, name string, visit visitor) error {
	data, err := readFile(root, name, maxFile)
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
			return fmt.Errorf("%q is not a tar archive, or is damaged", name)
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

// listing runs a reader and writes a line for each file.
func (f folder) listing(archive string, read func(*os.Root, string, visitor) error) (string, error) {
	return f.with(archive, func(root *os.Root, name string) (string, error) {
		var out []string
		err := read(root, name, func(name string, size int64, _ io.Reader) error {
			out = append(out, fmt.Sprintf("%s (%d bytes)", name, size))
			return nil
		})
		return listed(out, "the archive is empty"), err
	})
}

func (f folder) zipList(in archiveIn) (string, error) { return f.listing(in.Archive, readZip) }

func (f folder) tarList(in archiveIn) (string, error) { return f.listing(in.Archive, readTar) }

// unpack writes each file below a folder. A name that leads out of it is
// refused here, and would be by the root.
func (f folder) unpack(in extractIn, read func(*os.Root, string, visitor) error) (string, error) {
	return f.with(in.Archive, func(root *os.Root, name string) (string, error) {
		n, left := 0, int64(maxFile)
		err := read(root, name, func(member string, _ int64, content io.Reader) error {
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
			return writeFile(root, path.Join(local(in.To), member), data)
		})
		return fmt.Sprintf("unpacked %s into %s", counted(n, "file"), local(in.To)), err
	})
}

func (f folder) zipExtract(in extractIn) (string, error) { return f.unpack(in, readZip) }

func (f folder) tarExtract(in extractIn) (string, error) { return f.unpack(in, readTar) }

type memberIn struct {
	archiveIn
	Path string `json:"path" jsonschema_description:"The file's path inside the archive"`
}

func (f folder) zipRead(in memberIn) (string, error) {
	return f.with(in.Archive, func(root *os.Root, name string) (string, error) {
		text, found := "", false
		err := readZip(root, name, func(member string, _ int64, content io.Reader) error {
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
	})
}

func (f folder) gzipFile(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		data, err := readFile(root, name, maxFile)
		if err != nil {
			return "", err
		}
		if err := free(root, name+".gz"); err != nil {
			return "", err
		}
		small, err := compressors["gzip"](data)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %d bytes became %d", name+".gz", len(data), len(small)), writeFile(root, name+".gz", small)
	})
}

func (f folder) gunzipFile(in fileIn) (string, error) {
	return f.with(in.Path, func(root *os.Root, name string) (string, error) {
		to, ok := strings.CutSuffix(name, ".gz")
		if !ok {
			return "", fmt.Errorf("the name %q does not end in .gz", name)
		}
		data, err := readFile(root, name, maxFile)
		if err != nil {
			return "", err
		}
		if err := free(root, to); err != nil {
			return "", err
		}
		large, err := decompress("gzip", data, maxFile)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s: %d bytes became %d", to, len(data), len(large)), writeFile(root, to, large)
	})
}
