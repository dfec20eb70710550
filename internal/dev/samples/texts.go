// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package samples

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

func appLog(r *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		at := x.time.Format("2006-01-02T15:04:05.000Z")
		out := fmt.Sprintf("%s INFO  [%s] request %s accepted from %s for %s\n", at, x.area, x.code, x.mail, x.person)
		for _, s := range x.body {
			out += fmt.Sprintf("%s DEBUG [%s] %s: %s\n", at, x.area, x.code, s)
		}
		if r.IntN(4) == 0 {
			out += fmt.Sprintf("%s ERROR [%s] %s failed: %s\n\tat handle (%s:%d)\n\tat main (main.go:12)\n", at, x.area, x.code, x.title, x.place, x.n%300)
		}
		return out + fmt.Sprintf("%s INFO  [%s] %s done: %s, release %s, total %s, build %s, number %d\n", at, x.area, x.code, x.title, x.version, x.amount, x.hash, x.n)
	})
}

func accessLog(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("10.%d.%d.%d - %s [%s] \"GET /%s/%s?total=%s HTTP/1.1\" 200 %d \"agent/%s\"\n", x.n%200, x.n%90, x.n%250, x.mail, x.time.Format("02/Jan/2006:15:04:05 +0000"), x.place, x.code, x.amount, x.n*13, x.version)
	})
}

func issueList(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("#%d %s [%s]\n  opened by %s <%s> on %s, head %s\n  labels: %s, milestone %s, bounty %s, reference %s\n  %s\n  see %s\n\n", x.n, x.title, x.state, x.person, x.mail, x.time.Format("2006-01-02"), x.hash, x.area, x.version, x.amount, x.code, x.text(), x.place)
	})
}

func htmlPage(_ *rand.Rand, items []item) string {
	return "<!DOCTYPE html>\n<html><head><title>Incidents</title><style>p{margin:0}</style></head>\n<body>\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("<div class=\"card\" data-n=\"%d\">\n  <h2>%s</h2>\n  <p class=\"by\">%s <a href=\"mailto:%s\">%s</a>, %s</p>\n  <ul><li>%s</li><li>release %s</li><li>%s</li><li>%s</li></ul>\n  <p>%s</p>\n  <code>%s</code>\n</div>\n",
			x.n, html.EscapeString(x.title), x.person, x.mail, x.mail, x.city, x.code, x.version, x.amount, x.place, html.EscapeString(x.text()), x.hash)
	}) + "</body></html>\n"
}

func htmlTable(_ *rand.Rand, items []item) string {
	return "<html><body><h1>Orders</h1><table><thead><tr><th>" + strings.Join(header, "</th><th>") + "</th></tr></thead><tbody>" +
		joinItems(items, func(x item) string { return "<tr><td>" + strings.Join(row(x), "</td><td>") + "</td></tr>" }) + "</tbody></table></body></html>"
}

func page(_ *rand.Rand, items []item) string {
	return "- document [ref=e1]:\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("  - row \"%s %s\" [ref=e%d]:\n    - cell \"%s\" [ref=e%d1]\n    - link \"%s\" [ref=e%d2]:\n      - /url: /orders/%d\n    - cell \"%s\" [ref=e%d3]: %s\n    - cell \"%s %s\" [ref=e%d4]\n",
			x.code, x.title, x.n, x.person, x.n, x.title, x.n, x.n, x.mail, x.n, x.mail, x.version, x.amount, x.n)
	})
}

func yaml(_ *rand.Rand, items []item) string {
	return "apiVersion: v1\nkind: List\nitems:\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("- kind: Job\n  metadata:\n    name: %s\n    number: %d\n    labels:\n      area: %s\n      commit: %s\n    annotations:\n      owner: %s\n      contact: %s\n      title: \"%s\"\n  spec:\n    image: registry.example/%s:%s\n    budget: \"%s\"\n    source: %s\n    note: |\n      %s\n  status: %s\n",
			x.code, x.n, x.area, x.hash, x.person, x.mail, x.title, x.area, x.version, x.amount, x.place, strings.Join(x.body, "\n      "), x.state)
	})
}

func toml(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("[jobs.%s]\nnumber = %d\ntitle = %q\nowner = %q\nemail = %q\ncommit = %q\nversion = %q\nbudget = %q\nfile = %q\nnote = %q\n\n", x.code, x.n, x.title, x.person, x.mail, x.hash, x.version, x.amount, x.place, x.text())
	})
}

func xml(_ *rand.Rand, items []item) string {
	return "<?xml version=\"1.0\"?>\n<orders>\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("  <order id=\"%d\" code=\"%s\">\n    <title>%s</title>\n    <author mail=\"%s\">%s</author>\n    <commit>%s</commit>\n    <version>%s</version>\n    <amount>%s</amount>\n    <file>%s</file>\n    <note>%s</note>\n  </order>\n", x.n, x.code, x.title, x.mail, x.person, x.hash, x.version, x.amount, x.place, x.text())
	}) + "</orders>\n"
}

func markdown(_ *rand.Rand, items []item) string {
	return "# Handbook\n\n" + joinItems(items, func(x item) string {
		return fmt.Sprintf("## %s\n\n%s\n\n- owner: %s (%s)\n- reference: %s, number %d, commit %s\n- since version %s, costs %s\n- source: `%s`\n\n", x.title, x.text(), x.person, x.mail, x.code, x.n, x.hash, x.version, x.amount, x.place)
	})
}

func prose(r *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		out := "The " + x.title + ". " + x.text()
		if r.IntN(2) == 0 {
			return out + " "
		}
		return out + "\n\n"
	})
}

func mails(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		return fmt.Sprintf("From: %s <%s>\nTo: team@office.example\nDate: %s\nSubject: %s\nMessage-ID: <%s@office.example>\n\nHello,\n\n%s\nThe order %s (number %d) costs %s, see %s of version %s.\n\nRegards,\n%s\n\n", x.person, x.mail, x.time.Format("Mon, 02 Jan 2006 15:04:05 +0000"), x.title, x.hash, x.text(), x.code, x.n, x.amount, x.place, x.version, firstWords(x.person, 1))
	})
}

func code(_ *rand.Rand, items []item) string {
	return "package orders\n\n" + joinItems(items, func(x item) string {
		name := strings.ReplaceAll(x.title, " the ", " ")
		name = strings.ReplaceAll(name, " ", "_")
		return fmt.Sprintf("// %s says that %s. %s\nfunc %s_%d(in int) (string, error) {\n\tif in < %d {\n\t\treturn \"\", errors.New(%q)\n\t}\n\treturn check(in, %q, %s)\n}\n\n", name, x.title, x.text(), name, x.n, x.n%90, "order "+x.code, x.state, x.amount)
	})
}

func hits(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string { return fmt.Sprintf("%s:%d:\t// %s, see %s\n", x.place, x.n%700, x.title, x.code) })
}

var (
	chineseNouns = list("网关 账本 发票 队列 缓存 索引 会话 令牌 报表 港口 水泵 阀门 涡轮 果园 货船 关税 桥梁 隧道 信号 电池 熔炉 档案 图书馆 花园 采石场 织机 路由器 天线 灯塔 渡轮 车队 仓库 货箱 托盘 起重机 船锚 罗盘 灯笼 棱镜 引擎 锅炉 仪表 滤网 传感器 继电器")
	chineseVerbs = list("拒绝 延迟 轮换 排空 补充 合并 拆分 忽略 重复 跳过 截断 校验 重试 关闭 测量 检查 更换 修理 冷却 加热 校准 记录 发布 撤回")
	chineseNames = list("王伟 李娜 张敏 刘洋 陈静 杨磊 赵倩 黄强 周婷 吴昊 徐丽 孙鹏 朱琳 高飞 林涛 何雪 郭亮 马超 罗兰 梁宇")
)

// chinese is an item in Chinese words that follow from its numbers.
func chinese(x item, k int) (a, b, verb, who, detail string) {
	a, b = chineseNouns[(x.n*7+k)%len(chineseNouns)], chineseNouns[(x.n/3+k*5)%len(chineseNouns)]
	verb, who = chineseVerbs[(x.n/2+k)%len(chineseVerbs)], chineseNames[(x.n*3+k)%len(chineseNames)]
	return a, b, verb, who, fmt.Sprintf("%s旁边的%s每%d秒需要%s升水", a, b, x.n%977+20, x.amount)
}

func chineseFields(x item) map[string]string {
	a, b, verb, who, detail := chinese(x, 0)
	return map[string]string{"code": x.code, "title": a + verb + b, "who": who, "detail": detail, "mail": x.mail, "subject": a + "旁边的" + b, "amount": x.amount}
}

func chineseRecord(x item) object {
	a, b, verb, who, detail := chinese(x, 0)
	return object{"编号", x.code, "标题", a + verb + b, "负责人", who, "邮箱", x.mail, "金额", x.amount, "状态", x.state, "说明", detail + "。" + chineseText(x, 2)}
}

func chineseText(x item, n int) string {
	var b strings.Builder
	for k := range n {
		a, c, verb, who, _ := chinese(x, k+1)
		fmt.Fprintf(&b, "%s认为%s%s%s，因此需要%s%s。", who, a, verb, c, chineseVerbs[(x.n+k)%len(chineseVerbs)], chineseNouns[(x.n*5+k)%len(chineseNouns)])
	}
	return b.String()
}

func chineseProse(_ *rand.Rand, items []item) string {
	return joinItems(items, func(x item) string {
		a, b, verb, who, detail := chinese(x, 0)
		return fmt.Sprintf("%s%s%s。%s%s。负责人是%s（%s），编号%s，费用%s元。%s\n\n", a, verb, b, chineseText(x, 2), detail, who, x.mail, x.code, x.amount, chineseText(x, 1))
	})
}

func chineseTable(_ *rand.Rand, items []item) string {
	return "| 编号 | 标题 | 负责人 | 邮箱 | 金额 | 说明 |\n|---|---|---|---|---|---|\n" + joinItems(items, func(x item) string {
		a, b, verb, who, detail := chinese(x, 0)
		return fmt.Sprintf("| %s | %s%s%s | %s | %s | %s | %s |\n", x.code, a, verb, b, who, x.mail, x.amount, detail)
	})
}
