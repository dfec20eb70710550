// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// searchForPrograms returns the search by words that answers with signatures, for the programs of a model.
func searchForPrograms(name string) Tool {
	return Tool{Name: name, Text: "tool_search_code", Params: queryParams, Effect: FindAndLoad, Answer: answerSignatures}
}

func answerSignatures(ctx context.Context, s search.Searcher, args jsontext.Arguments) (string, error) {
	r, err := s.Find(ctx, queryOf(args), answerSpace(signatureSize))
	return signaturesAnswer(r.Hits, Hint(&r)), err
}

// signatureSize returns the bytes that a signature takes in an answer.
func signatureSize(t *catalog.Tool) int { return SignatureOf(t).Size() }

func signaturesAnswer(hits []search.Hit, hint string) string {
	tools := make([]Described, len(hits))
	for i, x := range hits {
		tools[i] = SignatureOf(x.Tool)
	}
	return JSON(toolsAnswer{tools, hint})
}
