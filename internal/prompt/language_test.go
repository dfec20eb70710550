// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package prompt_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/prompt"
)

func TestChinese_FollowsSetLanguage(t *testing.T) {
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	require.True(t, prompt.Chinese(), "Eino localises nothing publicly any more, or not where this package looks")
	require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
	require.False(t, prompt.Chinese())
}

func BenchmarkChinese(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		prompt.Chinese()
	}
}
