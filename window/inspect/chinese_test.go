// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// inChinese sets Eino's language for a test.
func inChinese(t *testing.T) {
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	t.Cleanup(func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) })
}

// The texts are Chinese, and the columns stay aligned.
func TestWriteText_PrintsChinese(t *testing.T) {
	inChinese(t)
	for _, columns := range []int{60, 100, 140} {
		var b strings.Builder
		require.NoError(t, inspect.WriteText(&b, plain(9), inspect.TextOptions{Width: columns}))
		require.NoError(t, inspect.WriteCall(&b, plain(9), 3, inspect.TextOptions{Width: columns}))
		for _, want := range []string{"发送了 ", "没有 einolean", "发生了什么", "花了多少，省了多少", "第 3 次调用（共 9 次）"} {
			require.Contains(t, b.String(), want)
		}
		for _, text := range []string{"without", "tokens", "what it cost", "question", "MISSING", "EXTRA"} {
			require.NotContains(t, b.String(), text)
		}
	}
}

// The list follows Accept-Language. The page itself asks the browser.
func TestHandler_ListUsesLanguageOfBrowser(t *testing.T) {
	handler := inspect.Handler(window.New(window.Config{}))
	for accept, want := range map[string]string{"zh-CN,zh;q=0.9,en;q=0.8": `lang="zh-CN"`, "en-US,zh;q=0.5": `lang="en"`, "": `lang="en"`} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
		r.Header.Set("Accept-Language", accept)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.Contains(t, w.Body.String(), want, accept)
		require.Equal(t, strings.Contains(want, "zh"), strings.Contains(w.Body.String(), "还没有智能体运行过"), accept)
	}
}

// Every visible text of ours is Chinese, and in its place.
func TestPage_ShowsChinese(t *testing.T) {
	b := launch(t)
	inChinese(t)
	file := written(t, plain(9))
	for _, v := range []view{light, phone} {
		b.open(v, file)
		var text, lang string
		b.eval(`document.querySelector("main").innerText`, &text)
		b.eval(`document.documentElement.lang`, &lang)
		require.Equal(t, "zh-CN", lang)
		for _, want := range []string{"这个智能体发送了", "账单（有提示缓存时）", "每次调用的窗口", "花了多少，省了多少", "所有调用的表格"} {
			require.Contains(t, text, want, v.name)
		}
		for _, ours := range []string{"Sent", "Without", "Call ", "tokens", "cheaper", "as before"} {
			require.NotContains(t, text, ours, v.name)
		}
	}
}
