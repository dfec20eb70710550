// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// request returns the operation of clauses.
func request(clauses ...string) Operation {
	return OfRequest(func(visit func(string)) {
		for _, text := range clauses {
			visit(text)
		}
	})
}

func TestOfRequest_FirstVerbDecides(t *testing.T) {
	for text, want := range map[string]Operation{
		"Show me the settings in the store": Read,
		"Can you please delete the draft":   Delete,
		"I want to rename a branch":         Update,
		"which keys are locked?":            Read,
		"Do I have any meetings":            Read,
		"How do I delete a branch?":         Delete,
		"linear create issue":               Create,
		"the update of the order":           Unknown,
		"list the rules that delete files":  Read,
		"weather in Berlin":                 Unknown,
		"restart the server":                Run,
		"":                                  Unknown,
		"查一下北京的天气":                          Read,
		"有哪些更新":                             Read,
		"帮我把这条评论删了":                         Delete,
		"能把这个标签删掉吗":                         Delete,
		"给这个 GitHub 仓库配个钩子, 新建一个 webhook": Create,
		"标题改成新的":          Update,
		"看板":              Unknown,
		"发票的设置":           Unknown,
		"发邮件给张三":          Create,
		"pod 为什么一直重启？":    Read,
		"Update":          Update,
		"\xff\xfe":        Unknown,
		"把 issue 42 关闭":   Update,
		"请列出 bucket 里的文件": Read,
	} {
		require.Equal(t, want, request(text), "%q", text)
	}
}

func TestOfRequest_ClausesThatDisagreeAreUnknown(t *testing.T) {
	require.Equal(t, Unknown, request("find the issue", " and close it"))
	require.Equal(t, Delete, request("Hi there", " remove the label", " thanks"))
	require.Equal(t, Read, request("list the pods", " and show their logs"))
}

func TestOfTool_HintsComeBeforeNames(t *testing.T) {
	require.Equal(t, Read, OfTool("delete_preview", "", keyword.Hints{ReadOnly: true}))
	require.Equal(t, Create, OfTool("sms", "", keyword.Hints{Additive: true}))
	require.Equal(t, Update, OfTool("set_key", "", keyword.Hints{Additive: true}))
}

func TestOfTool_NameComesBeforeDescription(t *testing.T) {
	for _, c := range []struct {
		name, description string
		want              Operation
	}{
		{"get_update_policy", "", Read},
		{"kv_secret_delete", "Gets rid of a secret.", Delete},
		{"slack_post_message", "", Create},
		{"createIssue", "", Create},
		{"issues", "Lists the issues.", Read},
		{"issues", "Modifies issues.", Update},
		{"issues", "A tool to remove issues.", Unknown},
		{"x1", "查询公交车的到站时间。", Read},
		{"删除文件", "", Delete},
		{"", "", Unknown},
	} {
		require.Equal(t, c.want, OfTool(c.name, c.description, keyword.Hints{}), "%s: %s", c.name, c.description)
	}
}

func FuzzOfRequest(f *testing.F) {
	f.Add("能不能帮我删掉 issue")
	f.Add("how do i \xff删")
	f.Fuzz(func(t *testing.T, text string) {
		require.Less(t, request(text), question)
		require.Less(t, OfTool(text, text, keyword.Hints{}), question)
	})
}
