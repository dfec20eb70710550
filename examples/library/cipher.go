// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of ciphers and signal alphabets.

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

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
		var out []string
		for _, r := range strings.ToLower(in.Text) {
			switch {
			case r >= 'a' && r <= 'z':
				out = append(out, natoWords[r-'a'])
			case r >= '0' && r <= '9':
				out = append(out, capitalized(smallWords[r-'0']))
			case unicode.IsSpace(r):
				out = append(out, "(space)")
			default:
				out = append(out, string(r))
			}
		}
		return strings.Join(out, " "), nil
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
