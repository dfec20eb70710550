// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of characters and bytes: Unicode, encodings, digests and ciphers.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"html"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gosimple/unidecode"
)

var unicodeServer = group{"unicode", "Unicode characters", []maker{
	define("unicode__inspect", "Lists the characters of a text with code point, category, script and UTF-8 bytes.", func(in textIn) (string, error) {
		runes := []rune(in.Text)
		if len(runes) == 0 || len(runes) > 500 {
			return "", fmt.Errorf("the text has %d characters; from 1 to 500 can be inspected", len(runes))
		}
		return joined(runes, "\n", func(r rune) string {
			return fmt.Sprintf("%q U+%04X %s %s % x", r, r, categoryOf(r), scriptOf(r), string(r))
		}), nil
	}),
	define("unicode__escape", "Writes the characters of a text outside ASCII as \\u escapes.",
		func(in textIn) (string, error) {
			return strings.TrimSuffix(strings.TrimPrefix(strconv.QuoteToASCII(in.Text), `"`), `"`), nil
		}),
	define("unicode__unescape", "Turns \\u, \\x and \\n escapes in a text back into characters.", func(in encodedIn) (string, error) {
		var out strings.Builder
		for rest := in.Text; rest != ""; {
			if rest[0] != '\\' {
				next := strings.IndexByte(rest, '\\')
				if next < 0 {
					next = len(rest)
				}
				out.WriteString(rest[:next])
				rest = rest[next:]
				continue
			}
			quote := byte(0)
			if len(rest) > 1 && strings.ContainsRune(`"'`, rune(rest[1])) {
				quote = rest[1]
			}
			r, multibyte, tail, err := strconv.UnquoteChar(rest, quote)
			if err != nil {
				return "", fmt.Errorf("%.20q is not an escape", rest)
			}
			if multibyte || r < utf8.RuneSelf {
				out.WriteRune(r)
			} else {
				out.WriteByte(byte(r))
			}
			rest = tail
		}
		return readable([]byte(out.String())), nil
	}),
	define("unicode__code_points", "Lists the code points of a text as numbers.", func(in textIn) (string, error) {
		return joined([]rune(in.Text), " ", func(r rune) string { return fmt.Sprintf("U+%04X (%d)", r, r) }), nil
	}),
	define("unicode__from_code_points", "Makes a text from code points such as U+4F60 or 20320.", func(in struct {
		CodePoints []string `json:"code_points" jsonschema:"minItems=1" jsonschema_description:"The code points, each as U+4F60 or in decimal"`
	}) (string, error) {
		var out strings.Builder
		for _, text := range in.CodePoints {
			digits, base := strings.ToUpper(strings.TrimSpace(text)), 10
			for _, prefix := range []string{"U+", "0X", `\U`} {
				if rest, ok := strings.CutPrefix(digits, prefix); ok {
					digits, base = rest, 16
				}
			}
			n, err := strconv.ParseUint(digits, base, 21)
			if err != nil || !utf8.ValidRune(rune(n)) {
				return "", fmt.Errorf("%q is not a code point", text)
			}
			out.WriteRune(rune(n))
		}
		return out.String(), nil
	}),
	define("unicode__scripts", "Counts the characters of a text by script, such as Latin, Han and Cyrillic.", func(in textIn) (string, error) {
		counts := map[string]int{}
		for r, n := range tally([]rune(in.Text)) {
			counts[scriptOf(r)] += n
		}
		return either(len(counts) == 0, "the text is empty", ranked(counts, len(counts))), nil
	}),
	define("unicode__find_invisible", "Finds invisible and confusing characters in a text, such as zero-width and direction marks.",
		func(in textIn) (string, error) {
			var out []string
			at := 0
			for _, r := range in.Text {
				at++
				invisible := unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || (unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r)) ||
					(unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u3000') || r == utf8.RuneError
				if invisible {
					out = append(out, fmt.Sprintf("character %d: U+%04X %s", at, r, categoryOf(r)))
				}
				if len(out) == maxMatches {
					break
				}
			}
			return listed(out, "no invisible characters"), nil
		}),
	define("unicode__sizes", "Computes how long a text is in UTF-8, UTF-16 and UTF-32.", func(in textIn) (string, error) {
		runes := []rune(in.Text)
		units := len(utf16.Encode(runes))
		return fmt.Sprintf("%s: UTF-8 %d bytes, UTF-16 %d bytes (%d units), UTF-32 %d bytes", counted(len(runes), "character"), len(in.Text), 2*units, units, 4*len(runes)), nil
	}),
	// Scripts other than Latin stay as they are.
	define("unicode__remove_accents", "Replaces accented Latin letters by plain ones, such as é by e.", func(in textIn) (string, error) {
		var out strings.Builder
		for _, r := range in.Text {
			switch {
			case unicode.Is(unicode.Mn, r):
			case unicode.Is(unicode.Latin, r):
				out.WriteString(unidecode.Unidecode(string(r)))
			default:
				out.WriteRune(r)
			}
		}
		return out.String(), nil
	}),
}}

func scriptOf(r rune) string {
	if !unicode.In(r, unicode.Common, unicode.Inherited) {
		for name, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				return name
			}
		}
	}
	return "Common"
}

// categoryOf gives the two-letter general category.
func categoryOf(r rune) string {
	found := "Cn"
	for name, table := range unicode.Categories {
		if len(name) == 2 && name != "LC" && unicode.Is(table, r) {
			found = name
		}
	}
	return found
}

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
	define("encoding__url_encode", "Percent-encodes a text so that it is safe in a URL query.", rewritten(url.QueryEscape)),
	define("encoding__url_decode", "Decodes a percent-encoded text from a URL.", func(in encodedIn) (string, error) {
		text, err := url.QueryUnescape(in.Text)
		return decoded([]byte(text), err, "percent-encoding")
	}),
	define("encoding__html_escape", "Escapes the characters < > & and quotes as HTML entities.", rewritten(html.EscapeString)),
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

var hashServer = group{"hash", "Checksums, digests and keyed hashes", []maker{
	define("hash__md5", "Computes the MD5 digest of a text in hexadecimal.", hashOf("md5")),
	define("hash__sha1", "Computes the SHA-1 digest of a text in hexadecimal.", hashOf("sha1")),
	define("hash__sha256", "Computes the SHA-256 digest of a text in hexadecimal.", hashOf("sha256")),
	define("hash__sha512", "Computes the SHA-512 digest of a text in hexadecimal.", hashOf("sha512")),
	define("hash__sha3_256", "Computes the SHA3-256 digest of a text in hexadecimal.", hashOf("sha3_256")),
	define("hash__crc32", "Computes the CRC-32 checksum (IEEE, as in zip and PNG) of a text.", hashOf("crc32")),
	define("hash__crc64", "Computes the CRC-64 checksum (ISO polynomial) of a text.", hashOf("crc64")),
	define("hash__adler32", "Computes the Adler-32 checksum (as in zlib) of a text.", hashOf("adler32")),
	define("hash__fnv1a", "Computes the 64-bit FNV-1a hash of a text.", hashOf("fnv1a")),
	define("hash__hmac", "Computes a keyed hash (HMAC) of a text with a secret key.", func(in struct {
		textIn
		Key       string `json:"key" jsonschema_description:"The secret key, as text"`
		Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=sha256,enum=sha512,enum=sha1,enum=md5,default=sha256" jsonschema_description:"The hash below the HMAC"`
	}) (string, error) {
		mac := hmac.New(hashes[in.Algorithm], []byte(in.Key))
		mac.Write([]byte(in.Text))
		return hex.EncodeToString(mac.Sum(nil)), nil
	}),
	define("hash__verify", "Checks a text against a digest and says whether they match.", func(in struct {
		textIn
		Digest    string `json:"digest" jsonschema_description:"The expected digest in hexadecimal"`
		Algorithm string `json:"algorithm,omitempty" jsonschema:"enum=md5,enum=sha1,enum=sha256,enum=sha512,enum=sha3_256,enum=crc32,default=sha256" jsonschema_description:"The algorithm of the digest"`
	}) (string, error) {
		got, want := digest(in.Algorithm, in.Text), strings.ToLower(strings.TrimSpace(in.Digest))
		match := subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
		return either(match, "match: this is the "+in.Algorithm+" digest of the text", "no match: the "+in.Algorithm+" digest of the text is "+got), nil
	}),
	define("hash__identify", "Guesses from its length and digits which algorithm a digest was made with.", func(in struct {
		Digest string `json:"digest" jsonschema_description:"The digest in hexadecimal"`
	}) (string, error) {
		data, err := hex.DecodeString(strings.TrimSpace(in.Digest))
		if err != nil {
			return "", fmt.Errorf("%q is not hexadecimal", in.Digest)
		}
		names := map[int]string{4: "CRC-32 or Adler-32", 8: "CRC-64 or FNV-1a (64 bits)", 16: "MD5", 20: "SHA-1",
			28: "SHA-224 or SHA3-224", 32: "SHA-256 or SHA3-256", 48: "SHA-384 or SHA3-384", 64: "SHA-512 or SHA3-512"}
		if name, ok := names[len(data)]; ok {
			return fmt.Sprintf("%s (%d bits)", name, len(data)*8), nil
		}
		return fmt.Sprintf("no common algorithm gives %d bits", len(data)*8), nil
	}),
	define("hash__all", "Computes every common digest and checksum of a text at once.", func(in textIn) (string, error) {
		return joined(hashNames, "\n", func(name string) string { return name + " " + digest(name, in.Text) }), nil
	}),
}}

// hashNames is in the order of hash__all.
var hashNames = []string{"md5", "sha1", "sha256", "sha512", "sha3_256", "crc32", "crc64", "adler32", "fnv1a"}

var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
	"sha3_256": func() hash.Hash { return sha3.New256() },
	"crc32":    func() hash.Hash { return crc32.NewIEEE() },
	"crc64":    func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ISO)) },
	"adler32":  func() hash.Hash { return adler32.New() },
	"fnv1a":    func() hash.Hash { return fnv.New64a() },
}

func digest(name, text string) string {
	h := hashes[name]()
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

func hashOf(name string) func(textIn) (string, error) {
	return func(in textIn) (string, error) { return digest(name, in.Text), nil }
}

var cipherServer = group{"cipher", "Ciphers and signal alphabets", []maker{
	define("cipher__rot13", "Shifts the letters of a text by thirteen places (ROT13); twice gives the text again.",
		func(in textIn) (string, error) { return shifted(in.Text, 13), nil }),
	define("cipher__caesar", "Shifts the letters of a text by some places in the alphabet (Caesar cipher).", func(in struct {
		textIn
		Shift int `json:"shift" jsonschema:"minimum=-1000000,maximum=1000000" jsonschema_description:"Places to shift by; negative to decrypt"`
	}) (string, error) {
		return shifted(in.Text, in.Shift), nil
	}),
	define("cipher__caesar_break", "Lists all 25 shifts of a text to break a Caesar cipher by eye.", func(in textIn) (string, error) {
		short := []rune(in.Text)
		shift := func(i int) string {
			return fmt.Sprintf("%2d: %s", i+1, shifted(string(short[:min(len(short), 200)]), -i-1))
		}
		return strings.Join(times(25, shift), "\n"), nil
	}),
	define("cipher__atbash", "Mirrors the alphabet: A becomes Z, B becomes Y (Atbash).", func(in textIn) (string, error) {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return 'a' + 'z' - r
			case r >= 'A' && r <= 'Z':
				return 'A' + 'Z' - r
			}
			return r
		}, in.Text), nil
	}),
	define("cipher__vigenere_encrypt", "Encrypts a text with a keyword (Vigenère cipher).", vigenere(1)),
	define("cipher__vigenere_decrypt", "Decrypts a text that was encrypted with a keyword (Vigenère cipher).", vigenere(-1)),
	define("cipher__morse_encode", "Writes a text in Morse code, a slash between words.", func(in textIn) (string, error) {
		var out []string
		for _, word := range strings.Fields(strings.ToLower(in.Text)) {
			var signs []string
			for _, r := range word {
				sign, ok := morse[string(r)]
				if !ok {
					return "", fmt.Errorf("there is no Morse sign for %q", r)
				}
				signs = append(signs, sign)
			}
			out = append(out, strings.Join(signs, " "))
		}
		return strings.Join(out, " / "), nil
	}),
	define("cipher__morse_decode", "Reads Morse code written with dots, dashes and slashes.", func(in struct {
		Morse string `json:"morse" jsonschema_description:"The Morse code: dots and dashes, a blank between letters, a slash between words"`
	}) (string, error) {
		letters := map[string]string{}
		for letter, sign := range morse {
			letters[sign] = letter
		}
		text := strings.NewReplacer("·", ".", "•", ".", "−", "-", "–", "-", "—", "-", "_", "-", "|", "/").Replace(in.Morse)
		var out []string
		for _, word := range strings.Split(text, "/") {
			decoded := ""
			for _, sign := range strings.Fields(word) {
				letter, ok := letters[sign]
				if !ok {
					return "", fmt.Errorf("%.20q is not a Morse sign", sign)
				}
				decoded += letter
			}
			out = append(out, decoded)
		}
		return strings.ToUpper(strings.Join(out, " ")), nil
	}),
	define("cipher__spelling_alphabet", "Spells a text with the NATO alphabet: Alfa, Bravo, Charlie.", func(in textIn) (string, error) {
		return joined([]rune(strings.ToLower(in.Text)), " ", func(r rune) string {
			switch {
			case r >= 'a' && r <= 'z':
				return natoWords[r-'a']
			case r >= '0' && r <= '9':
				return capitalized(smallWords[r-'0'])
			case unicode.IsSpace(r):
				return "(space)"
			}
			return string(r)
		}), nil
	}),
	define("cipher__aes_encrypt", "Encrypts a text with a passphrase (AES-256-GCM, key by PBKDF2) and gives it in Base64.", func(in aesIn) (string, error) {
		salt := make([]byte, saltSize)
		_, _ = rand.Read(salt) // never fails
		box, err := seal(in.Passphrase, salt)
		if err != nil {
			return "", err
		}
		return base64.StdEncoding.EncodeToString(box.Seal(salt, nil, []byte(in.Text), nil)), nil
	}),
	define("cipher__aes_decrypt", "Decrypts what cipher__aes_encrypt made, with the same passphrase.", func(in aesIn) (string, error) {
		data, err := fromBase64(in.Text)
		if err != nil || len(data) < saltSize {
			return "", errors.New("the text is not what cipher__aes_encrypt makes")
		}
		box, err := seal(in.Passphrase, data[:saltSize])
		if err != nil {
			return "", err
		}
		text, err := box.Open(nil, nil, data[saltSize:], nil)
		if err != nil {
			return "", errors.New("the passphrase is wrong, or the text was changed")
		}
		return readable(text), nil
	}),
}}

func shiftRune(r rune, by int) rune {
	by = ((by % 26) + 26) % 26
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+rune(by))%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+rune(by))%26
	}
	return r
}

func shifted(text string, by int) string {
	return strings.Map(func(r rune) rune { return shiftRune(r, by) }, text)
}

type keywordIn struct {
	textIn
	Keyword string `json:"keyword" jsonschema_description:"The keyword, of Latin letters"`
}

func vigenere(direction int) func(keywordIn) (string, error) {
	return func(in keywordIn) (string, error) {
		key := strings.ToLower(in.Keyword)
		if key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" {
			return "", fmt.Errorf("the keyword %q must be of Latin letters only", in.Keyword)
		}
		at := 0
		return strings.Map(func(r rune) rune {
			out := shiftRune(r, direction*int(key[at%len(key)]-'a'))
			if unicode.IsLetter(r) && r < unicode.MaxASCII {
				at++
			}
			return out
		}, in.Text), nil
	}
}

var morse = pairs(`a=.- b=-... c=-.-. d=-.. e=. f=..-. g=--. h=.... i=.. j=.--- k=-.- l=.-.. m=-- n=-. o=--- p=.--. q=--.- r=.-. s=... t=- u=..- v=...- w=.-- x=-..- y=-.-- z=--..
0=----- 1=.---- 2=..--- 3=...-- 4=....- 5=..... 6=-.... 7=--... 8=---.. 9=----. .=.-.-.- ,=--..-- ?=..--.. !=-.-.-- /=-..-. @=.--.-. -=-....- :=---... '=.----. (=-.--. )=-.--.-`)

var natoWords = strings.Fields("Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu")

type aesIn struct {
	textIn
	Passphrase string `json:"passphrase" jsonschema_description:"The passphrase"`
}

const saltSize, keyRounds = 16, 20_000

// seal derives the key from passphrase and salt.
func seal(passphrase string, salt []byte) (cipher.AEAD, error) {
	if passphrase == "" {
		return nil, errors.New("the passphrase is empty")
	}
	key, err := pbkdf2.Key(sha256.New, passphrase, salt, keyRounds, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
