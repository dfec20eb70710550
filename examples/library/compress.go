// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of compression of texts.

import (
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
	"math"
	"strings"
)

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
