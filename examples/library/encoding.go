// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of encodings that write bytes as text.

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

var encodingServer = group{"encoding", "Encodings of bytes as text", []maker{
	define("encoding__base64_encode", "Encodes a text as Base64, standard or URL-safe.", func(in struct {
		textIn
		URLSafe bool `json:"url_safe,omitempty" jsonschema_description:"Whether to use - and _ and no padding, for URLs and file names"`
	}) (string, error) {
		return either(in.URLSafe, base64.RawURLEncoding.EncodeToString([]byte(in.Text)), base64.StdEncoding.EncodeToString([]byte(in.Text))), nil
	}),
	define("encoding__base64_decode", "Decodes Base64, standard or URL-safe, with or without padding, to a text.", func(in encodedIn) (string, error) {
		data, err := fromBase64(in.Text)
		return decoded(data, err, "Base64")
	}),
	define("encoding__base32_encode", "Encodes a text as Base32.",
		func(in textIn) (string, error) { return base32.StdEncoding.EncodeToString([]byte(in.Text)), nil }),
	define("encoding__base32_decode", "Decodes Base32 to a text.", func(in encodedIn) (string, error) {
		text := strings.TrimRight(strings.ToUpper(strings.Join(strings.Fields(in.Text), "")), "=")
		data, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
		return decoded(data, err, "Base32")
	}),
	define("encoding__base85_encode", "Encodes a text as Base85 (Ascii85).", func(in textIn) (string, error) {
		out := make([]byte, ascii85.MaxEncodedLen(len(in.Text)))
		return string(out[:ascii85.Encode(out, []byte(in.Text))]), nil
	}),
	define("encoding__base85_decode", "Decodes Base85 (Ascii85) to a text.", func(in encodedIn) (string, error) {
		text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(in.Text), "<~"), "~>")
		data, err := io.ReadAll(ascii85.NewDecoder(strings.NewReader(text)))
		return decoded(data, err, "Base85")
	}),
	define("encoding__hex_encode", "Encodes a text as hexadecimal digits.",
		func(in textIn) (string, error) { return hex.EncodeToString([]byte(in.Text)), nil }),
	define("encoding__hex_decode", "Decodes hexadecimal digits to a text.", func(in encodedIn) (string, error) {
		text := strings.NewReplacer(" ", "", "\n", "", ":", "", "0x", "").Replace(in.Text)
		data, err := hex.DecodeString(text)
		return decoded(data, err, "hexadecimal")
	}),
	define("encoding__binary_encode", "Writes the bytes of a text as groups of eight binary digits.", func(in textIn) (string, error) {
		return joined([]byte(in.Text), " ", func(b byte) string { return fmt.Sprintf("%08b", b) }), nil
	}),
	define("encoding__binary_decode", "Reads groups of eight binary digits as a text.", func(in encodedIn) (string, error) {
		digits := strings.Join(strings.FieldsFunc(in.Text, unicode.IsSpace), "")
		if len(digits)%8 != 0 {
			return "", fmt.Errorf("there are %d binary digits; a multiple of eight is needed", len(digits))
		}
		var data []byte
		for ; digits != ""; digits = digits[8:] {
			b, err := strconv.ParseUint(digits[:8], 2, 8)
			if err != nil {
				return "", fmt.Errorf("%q is not made of binary digits", digits[:8])
			}
			data = append(data, byte(b))
		}
		return readable(data), nil
	}),
	define("encoding__url_encode", "Percent-encodes a text so that it is safe in a URL query.",
		func(in textIn) (string, error) { return url.QueryEscape(in.Text), nil }),
	define("encoding__url_decode", "Decodes a percent-encoded text from a URL.", func(in encodedIn) (string, error) {
		text, err := url.QueryUnescape(in.Text)
		return decoded([]byte(text), err, "percent-encoding")
	}),
	define("encoding__html_escape", "Escapes the characters < > & and quotes as HTML entities.",
		func(in textIn) (string, error) { return html.EscapeString(in.Text), nil }),
	define("encoding__html_unescape", "Turns HTML entities such as &amp; and &eacute; back into characters.",
		func(in encodedIn) (string, error) { return html.UnescapeString(in.Text), nil }),
	define("encoding__quoted_printable_encode", "Encodes a text as quoted-printable, as used in e-mail bodies.", func(in textIn) (string, error) {
		var out strings.Builder
		w := quotedprintable.NewWriter(&out)
		_, err := io.WriteString(w, in.Text)
		err = errors.Join(err, w.Close())
		return out.String(), err
	}),
	define("encoding__quoted_printable_decode", "Decodes a quoted-printable text from an e-mail body.", func(in encodedIn) (string, error) {
		data, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(in.Text)))
		return decoded(data, err, "quoted-printable")
	}),
	define("encoding__mime_header_encode", "Encodes a text with special characters for an e-mail header such as the subject (RFC 2047).",
		func(in textIn) (string, error) { return mime.QEncoding.Encode("UTF-8", in.Text), nil }),
	define("encoding__mime_header_decode", "Decodes an e-mail header such as =?UTF-8?q?...?= (RFC 2047).", func(in encodedIn) (string, error) {
		text, err := new(mime.WordDecoder).DecodeHeader(in.Text)
		return decoded([]byte(text), err, "RFC 2047 header encoding")
	}),
}}

type encodedIn struct {
	Text string `json:"text" jsonschema_description:"The encoded text to decode"`
}

// decoded answers with bytes that were decoded: as text, or in hexadecimal if they are none.
func decoded(data []byte, err error, what string) (string, error) {
	if err != nil {
		return "", fmt.Errorf("the text is not valid %s", what)
	}
	return readable(data), nil
}

func readable(data []byte) string {
	text := string(data)
	if strings.ToValidUTF8(text, "") != text {
		return fmt.Sprintf("%s not text, in hexadecimal: %x", counted(len(data), "byte"), data)
	}
	return text
}

// fromBase64 reads every common variant.
func fromBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/", " ", "", "\n", "", "\r", "", "=", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the text is not valid Base64")
	}
	return data, nil
}
