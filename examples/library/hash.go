// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of checksums, digests and keyed hashes.

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"strings"
)

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
