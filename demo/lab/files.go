// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

// A conversation about files, and these files. The true answers are worked out with the
// standard library.

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	howManyRequests = 6_000
	howManyParts    = 600
)

func request(n int) string {
	return fmt.Sprintf("req-%06d %s %d ms", n, []string{"GET /", "GET /cart", "POST /order", "GET /search"}[n*7%4], 2+n*31%400)
}

func part(n int) string { return fmt.Sprintf("part-%04d: %d left", n, n*37%500) }

// Files are the files that [FileQuestions] are about, of up to 176 KB, by name.
func Files() map[string]string {
	var access, stock strings.Builder
	for n := range howManyRequests {
		fmt.Fprintln(&access, request(n))
	}
	for n := range howManyParts {
		fmt.Fprintln(&stock, part(n))
	}
	return map[string]string{"access.log": access.String(), "stock.txt": stock.String(), "notes.txt": "buy eggs, milk and bread\n"}
}

// WriteFiles writes the files into a folder.
func WriteFiles(dir string) error {
	for name, text := range Files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// FileQuestions are one conversation, in which earlier results are needed again: each
// question is a run that continues the ones before.
var FileQuestions = []Question{
	{Text: `Read the file access.log. On which line is "req-003210"?`, Truth: Is(fmt.Sprintf("%d:%s", 3211, request(3210)))},
	{Text: `Read the file stock.txt. On which line is "part-0417"?`, Truth: Is(fmt.Sprintf("%d:%s", 418, part(417)))},
	{Text: `What is the SHA-256 of "lean"?`, Truth: Is(fmt.Sprintf("%x", sha256.Sum256([]byte("lean"))))},
	{Text: `Convert 26.2 miles to kilometres.`, Truth: Is(fmt.Sprintf("%.4f", 26.2*1.609344))},
	{Text: `Count the words in the file notes.txt.`, Truth: Is(fmt.Sprintf("%d words", len(strings.Fields(Files()["notes.txt"]))))},
	{Text: `In the file stock.txt, how many are left of "part-0123"?`, Truth: Is(part(123))},
	{Text: `Compute the MD5 of "context".`, Truth: Is(fmt.Sprintf("%x", md5.Sum([]byte("context"))))},
	{Text: `In the file access.log, what does line 4711 say?`, Truth: Is(request(4710))},
	{Text: `Convert 13.1 miles to kilometres.`, Truth: Is(fmt.Sprintf("%.4f", 13.1*1.609344))},
	{Text: `Read the file notes.txt.`, Truth: Is("buy eggs, milk and bread")},
	{Text: `In the file access.log, what are the last two lines?`, Truth: Is(request(howManyRequests-2) + "\n" + request(howManyRequests-1))},
}
