// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package language_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/language"
)

func TestFollowsSetLanguageBothWays(t *testing.T) {
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	require.True(t, language.Chinese(), "Eino localises nothing publicly any more, or not where this package looks")
	require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
	require.False(t, language.Chinese())
}

func BenchmarkChinese(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		language.Chinese()
	}
}
