// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of archives under the root and of compression of texts.

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/lzw"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
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

var compressServer = group{"compress", "Compression of texts", []maker{
	define("compress__gzip", "Compresses a text with gzip and gives it in Base64.", compressWith("gzip")),
	define("compress__gunzip", "Decompresses gzip data given in Base64 to a text.", decompressWith("gzip")),
	define("compress__zlib", "Compresses a text with zlib and gives it in Base64.", compressWith("zlib")),
	define("compress__unzlib", "Decompresses zlib data given in Base64 to a text.", decompressWith("zlib")),
	define("compress__deflate", "Compresses a text with raw deflate and gives it in Base64.", compressWith("deflate")),
	define("compress__inflate", "Decompresses raw deflate data given in Base64 to a text.", decompressWith("deflate")),
	define("compress__lzw", "Compresses a text with LZW as in GIF and gives it in Base64.", compressWith("lzw")),
	define("compress__unlzw", "Decompresses LZW data given in Base64 to a text.", decompressWith("lzw")),
	define("compress__bunzip2", "Decompresses bzip2 data given in Base64 to a text.", decompressWith("bzip2")),
	define("compress__ratio", "Compares how small gzip, zlib, deflate and LZW make a text.", func(in textIn) (string, error) {
		if in.Text == "" {
			return "", errors.New("the text is empty")
		}
		out := []string{counted(len(in.Text), "byte")}
		for _, name := range []string{"gzip", "zlib", "deflate", "lzw"} {
			small, err := compressors[name]([]byte(in.Text))
			if err != nil {
				return "", err
			}
			out = append(out, fmt.Sprintf("%s: %d (%.0f%%)", name, len(small), 100*float64(len(small))/float64(len(in.Text))))
		}
		return strings.Join(out, "\n"), nil
	}),
	define("compress__run_length", "Encodes a text by its runs of equal characters, such as 3a2b for aaabb.", func(in textIn) (string, error) {
		var out strings.Builder
		runes := []rune(in.Text)
		for i := 0; i < len(runes); {
			j := i
			for j < len(runes) && runes[j] == runes[i] {
				j++
			}
			fmt.Fprintf(&out, "%d%c", j-i, runes[i])
			i = j
		}
		return out.String(), nil
	}),
	define("compress__entropy", "Computes the Shannon entropy of a text in bits per byte, the bound of its compression.", func(in textIn) (string, error) {
		var counts [256]float64
		for i := range len(in.Text) {
			counts[in.Text[i]]++
		}
		bits := 0.0
		for _, c := range counts {
			if c > 0 {
				p := c / float64(len(in.Text))
				bits -= p * math.Log2(p)
			}
		}
		return plain(bits) + " bits per byte", nil
	}),
}}

func compressor(open func(io.Writer) io.WriteCloser) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		var out bytes.Buffer
		w := open(&out)
		_, err := w.Write(data)
		err = errors.Join(err, w.Close())
		return out.Bytes(), err
	}
}

var compressors = map[string]func([]byte) ([]byte, error){
	"gzip": compressor(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
	"zlib": compressor(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
	"lzw":  compressor(func(w io.Writer) io.WriteCloser { return lzw.NewWriter(w, lzw.LSB, 8) }),
	"deflate": compressor(func(w io.Writer) io.WriteCloser {
		out, _ := flate.NewWriter(w, flate.DefaultCompression) // fails for an unknown level only
		return out
	}),
}

var decompressors = map[string]func(io.Reader) (io.Reader, error){
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"zlib":    func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	"deflate": func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil },
	"lzw":     func(r io.Reader) (io.Reader, error) { return lzw.NewReader(r, lzw.LSB, 8), nil },
	"bzip2":   func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
}

// decompress reads at most some bytes, since small data can unpack to very large data.
func decompress(name string, data []byte, most int64) ([]byte, error) {
	r, err := decompressors[name](bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the data is not %s: %w", name, err)
	}
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("the data is not %s, or is damaged", name)
	}
	if int64(len(out)) > most {
		return nil, fmt.Errorf("the data holds more than %d bytes", most)
	}
	return out, nil
}

func compressWith(name string) func(textIn) (string, error) {
	return func(in textIn) (string, error) {
		out, err := compressors[name]([]byte(in.Text))
		return base64.StdEncoding.EncodeToString(out), err
	}
}

type dataIn struct {
	Data string `json:"data" jsonschema_description:"The compressed data in Base64"`
}

func decompressWith(name string) func(dataIn) (string, error) {
	return func(in dataIn) (string, error) {
		data, err := fromBase64(in.Data)
		if err != nil {
			return "", err
		}
		out, err := decompress(name, data, maxAnswer)
		return readable(out), err
	}
}
