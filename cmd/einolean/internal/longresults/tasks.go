// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

// task is a question whose answer must contain some texts.
type task struct {
	name, question string
	wants          []string
}

func tasks() []task {
	return []task{
		{"jest", "Run the tests of the web package and list every failing test.", []string{
			"retries a payment 3 times", "rejects a coupon of 2019", "keeps the basket after 30 minutes", "shows 2 decimals for JPY",
		}},
		{"gradle", "Run the tests of the Android app. Which tests failed?", []string{
			"parsesDate2024", "syncsAfter3Retries", "decodesUtf16Header",
		}},
		{"access-log", "In today's access log, which request id belongs to the request to /checkout that was answered with status 502?", []string{"req-7f31c9"}},
		{"orders", "Who placed order SO-15688, and what is its total?", []string{"Ingrid Solheim", "418.35"}},
		{"only-one", "How many lines of the worker log mention ERR-7731?", []string{"3"}},
		{"issues", "Which of the open issues is about the export of invoices losing umlauts, and who is assigned?", []string{"4711", "mkowalski"}},
		{"html", "How long does the connector wait by default before it gives up on a handshake?", []string{"27 seconds"}},
		{"handbook", "How many days of vacation does somebody have who has been here for more than ten years?", []string{"33"}},
		{"exit-code", "Run the build. What was its exit code, and which file did the linker miss?", []string{"137", "libturbine.so.4"}},
		{"manifest", "What is the memory limit of the container billing-worker in the cluster's manifests?", []string{"768Mi"}},
		{"copy", "Save the last three lines of the migration script as a note, exactly as they are.", []string{
			"ALTER TABLE ledger_2024 ADD CONSTRAINT amount_positive CHECK (amount > 0);\n" +
				"-- checked by hand:  two  spaces stay\nCOMMIT;",
		}},
		{"zh-log", "查一下今天的订单日志：订单 10086 为什么失败？", []string{"库存不足"}},
		{"zh-handbook", "公司差旅规定里，一线城市住宿每晚最多报销多少？", []string{"620"}},
	}
}

func textArgument(args string) (string, bool) {
	var a struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal([]byte(args), &a) != nil || a.Text == nil {
		return "", false
	}
	return *a.Text, true
}

func sources() []tool.BaseTool {
	list := []source{
		{"run_web_tests", "Runs the tests of the web package.", jest()},
		{"run_android_tests", "Runs the tests of the Android app.", gradle()},
		{"fetch_access_log", "Fetches today's access log.", accessLog()},
		{"export_orders", "Exports all orders.", orders()},
		{"fetch_worker_log", "Fetches the log of the workers.", workerLog()},
		{"list_open_issues", "Lists the open issues.", issues()},
		{"fetch_connector_docs", "Fetches the documentation of the connector.", connectorDocs()},
		{"fetch_handbook", "Fetches the employee handbook.", handbook()},
		{"run_build", "Runs the build.", build()},
		{"dump_manifests", "Dumps the manifests of the cluster.", manifests()},
		{"fetch_migration", "Fetches the migration script.", migration()},
		{"fetch_order_log", "获取今天的订单日志。", orderLog()},
		{"fetch_travel_rules", "获取公司差旅规定。", travelRules()},
	}
	var tools []tool.BaseTool
	for _, s := range list {
		tools = append(tools, s)
	}
	return tools
}

// writer makes a text from a fixed seed.
type writer struct {
	strings.Builder
	g *rand.Rand
}

func newWriter(seed uint64) *writer { return &writer{g: rand.New(rand.NewPCG(seed, 7))} }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) pick(list string) string {
	words := strings.Split(list, ",")
	return words[w.g.IntN(len(words))]
}

const nouns = "basket,payment,coupon,invoice,address,refund,session,profile,search,shipment,voucher,discount"

func jest() string {
	w := newWriter(1)
	failing := map[int]string{
		17: "retries a payment 3 times", 61: "rejects a coupon of 2019", 62: "keeps the basket after 30 minutes", 118: "shows 2 decimals for JPY",
	}
	for suite := range 160 {
		status := "PASS"
		if failing[suite] != "" {
			status = "FAIL"
		}
		w.line("%s src/%s/%s.%d.test.ts (%d.%d s)", status, w.pick(nouns), w.pick(nouns), suite, 1+w.g.IntN(5), w.g.IntN(9))
		w.line("  %s", w.pick(nouns))
		for n := range 4 + w.g.IntN(6) {
			w.line("    ✓ %s %s number %d (%d ms)", w.pick("keeps,shows,stores,sends,checks"), w.pick(nouns), n, w.g.IntN(40))
		}
		if name := failing[suite]; name != "" {
			w.line("    ✕ %s (%d ms)\n\n  ● %s › %s\n\n    expect(received).toBe(expected) // Object.is equality\n", name, w.g.IntN(90), w.pick(nouns), name)
			w.line("    Expected: %d\n    Received: %d\n\n      at Object.<anonymous> (src/x.test.ts:%d:14)\n", w.g.IntN(9), w.g.IntN(9), w.g.IntN(200))
		}
	}
	w.line("\nTest Suites: 4 failed, 156 passed, 160 total\nTests:       4 failed, 1071 passed, 1075 total\nSnapshots:   0 total\nTime:        88.21 s")
	return w.String()
}

func gradle() string {
	w := newWriter(2)
	failing := map[int]string{40: "parsesDate2024", 333: "syncsAfter3Retries", 700: "decodesUtf16Header"}
	w.line("> Task :app:compileDebugKotlin UP-TO-DATE\n> Task :app:testDebugUnitTest\n")
	for n := range 1100 {
		class := fmt.Sprintf("com.example.app.%s.%sTest", w.pick(nouns), w.pick("Sync,Parser,Codec,Store"))
		if name := failing[n]; name != "" {
			w.line("%s > %s FAILED\n    java.lang.AssertionError at %sTest.kt:%d\n", class, name, w.pick("Sync,Parser"), w.g.IntN(300))
			continue
		}
		w.line("%s > %s%dIs%s PASSED\n", class, w.pick(nouns), n, w.pick("Kept,Sent,Stored"))
	}
	w.line("1100 tests completed, 3 failed\n\n> Task :app:testDebugUnitTest FAILED\n\nBUILD FAILED in 2m 11s\n27 actionable tasks: 1 executed, 26 up-to-date")
	return w.String()
}

func accessLog() string {
	w := newWriter(3)
	for n := range 4000 {
		id, path, status := fmt.Sprintf("req-%06x", w.g.IntN(1<<24)), "/"+w.pick("search,item,basket,checkout,login,static"), w.pick("200,200,200,304,404,500,502")
		if path == "/checkout" && status == "502" {
			status = "200"
		}
		if n == 2741 {
			id, path, status = "req-7f31c9", "/checkout", "502"
		}
		w.line(`10.3.%d.%d - - [12/May/2026:%02d:%02d:%02d +0000] "POST %s HTTP/1.1" %s %d "%s" %dms`,
			w.g.IntN(255), w.g.IntN(255), n/200, n%60, w.g.IntN(60), path, status, w.g.IntN(9000), id, w.g.IntN(900))
	}
	return w.String()
}

func orders() string {
	w := newWriter(4)
	w.line("order_id,date,customer,country,items,total,currency")
	for n := range 3000 {
		id, customer, total := fmt.Sprintf("SO-%d", 13000+n), w.pick("Ana Reyes,Tom Becker,Li Wei,Sara Okafor,Jan Novak,Mia Rossi"), fmt.Sprintf("%d.%02d", w.g.IntN(900), w.g.IntN(100))
		if id == "SO-15688" {
			customer, total = "Ingrid Solheim", "418.35"
		}
		w.line("%s,2026-%02d-%02d,%s,%s,%d,%s,EUR", id, 1+n/300, 1+n%28, customer, w.pick("DE,NO,FR,US,CN"), 1+w.g.IntN(9), total)
	}
	return w.String()
}

func workerLog() string {
	w := newWriter(5)
	for n := range 2500 {
		if n == 300 || n == 1404 || n == 2222 {
			w.line("2026-05-12T%02d:00:%02dZ ERROR worker=%d job=%x ERR-7731 lease lost", n/110, n%60, w.g.IntN(8), w.g.Uint32())
			continue
		}
		w.line("2026-05-12T%02d:00:%02dZ %s worker=%d job=%x %s", n/110, n%60, w.pick("INFO,INFO,DEBUG,WARN"), w.g.IntN(8), w.g.Uint32(),
			w.pick("job taken,job done,ERR-7713 retried,lease renewed,queue empty"))
	}
	return w.String()
}

func issues() string {
	w := newWriter(6)
	var list []map[string]any
	for n := range 220 {
		list = append(list, map[string]any{
			"number": 4500 + n, "state": "open", "title": fmt.Sprintf("%s %s in the %s page", w.pick("Wrong,Slow,Missing,Broken"), w.pick(nouns), w.pick(nouns)),
			"labels": []string{w.pick("bug,question,docs")}, "assignee": map[string]any{"login": w.pick("achen,bsmith,cgarcia,dnguyen"), "id": w.g.IntN(90000)},
			"body": strings.Repeat("Steps to reproduce are in the attachment. ", 3+w.g.IntN(5)), "url": fmt.Sprintf("https://tracker.example/issues/%d", 4500+n),
		})
	}
	list[211]["title"], list[211]["assignee"] = "Accented characters vanish when bills are saved as PDF", map[string]any{"login": "mkowalski", "id": 77}
	list[211]["body"] = "Exporting an invoice for Müller prints M ller: ä, ö and ü are lost. " + strings.Repeat("Seen on every machine. ", 9)
	data, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func connectorDocs() string {
	w := newWriter(7)
	w.line("<!DOCTYPE html><html><head><title>Connector reference</title><style>.a{color:red}</style></head><body><nav><ul>")
	for n := range 80 {
		w.line(`<li><a href="#s%d">Section %d</a></li>`, n, n)
	}
	w.line("</ul></nav>")
	for n := range 80 {
		w.line(`<h2 id="s%d">%s %s</h2>`, n, w.pick("Configuring,Understanding,Monitoring,Securing"), w.pick(nouns))
		for range 6 {
			w.line("<p>The %s of the %s is set by the operator. Restart the service after changing the %s.</p>", w.pick(nouns), w.pick(nouns), w.pick(nouns))
		}
		if n == 53 {
			w.line("<h3>Timeouts</h3><table><tr><th>Setting</th><th>Default</th></tr><tr><td>read</td><td>90 seconds</td></tr>" +
				"<tr><td>TLS negotiation</td><td>27 seconds</td></tr><tr><td>idle</td><td>10 minutes</td></tr></table>")
		}
	}
	w.line("</body></html>")
	return w.String()
}

func handbook() string {
	w := newWriter(8)
	w.line("# Employee handbook\n")
	for n := range 70 {
		w.line("## %d. %s\n", n+1, w.pick("Working hours,Equipment,Security,Training,Health,Expenses,Remote work,Parking"))
		for range 5 {
			w.line("Ask your manager before you change the %s. The %s team answers within %d days. Forms are on the intranet.\n", w.pick(nouns), w.pick("people,office,finance"), 2+w.g.IntN(5))
		}
		if n == 48 {
			w.line("### Time off\n\nEverybody has 26 paid days off a year. After five years of service it is 29, after ten years 33. Unused days expire in March.\n")
		}
	}
	return w.String()
}

func build() string {
	w := newWriter(9)
	for n := range 900 {
		w.line("[%d/900] Building CXX object src/%s/%s_%d.cc.o", n+1, w.pick(nouns), w.pick(nouns), n)
	}
	stdout := w.String()
	e := newWriter(10)
	for n := range 500 {
		if n == 350 {
			e.line("/usr/bin/ld: cannot find libturbine.so.4: No such file or directory")
		}
		e.line("src/%s.cc:%d:%d: warning: unused variable '%s' [-Wunused-variable]", e.pick(nouns), e.g.IntN(900), e.g.IntN(80), e.pick(nouns))
	}
	data, err := json.Marshal(map[string]any{"command": "ninja all", "stdout": stdout, "stderr": e.String(), "exit_code": 137, "duration_ms": 48211})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func manifests() string {
	w := newWriter(11)
	names := strings.Split(nouns, ",")
	for n := range 130 {
		name, limit := fmt.Sprintf("%s-%s", names[n%len(names)], w.pick("api,worker,cron")), fmt.Sprintf("%dMi", 128*(1+w.g.IntN(4)))
		if name == "billing-worker" || limit == "768Mi" {
			limit = "512Mi"
		}
		if n == 97 {
			name, limit = "billing-worker", "768Mi"
		}
		w.line("---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  namespace: shop-%d\nspec:\n  replicas: %d", name, n%7, 1+w.g.IntN(5))
		w.line("  template:\n    spec:\n      containers:\n        - name: %s\n          image: registry.example/%s:%d.%d", name, name, w.g.IntN(9), w.g.IntN(30))
		w.line("          resources:\n            requests:\n              memory: 64Mi\n              cpu: 50m\n            limits:\n              memory: %s\n              cpu: 500m", limit)
	}
	return w.String()
}

func migration() string {
	w := newWriter(12)
	w.line("BEGIN;")
	for n := range 900 {
		w.line("INSERT INTO ledger_2024 (id, account, amount) VALUES (%d, '%s', %d.%02d);", n, w.pick(nouns), w.g.IntN(5000), w.g.IntN(100))
	}
	w.line("ALTER TABLE ledger_2024 ADD CONSTRAINT amount_positive CHECK (amount > 0);\n-- checked by hand:  two  spaces stay\nCOMMIT;")
	return w.String()
}

func orderLog() string {
	w := newWriter(13)
	for n := range 2200 {
		id, result := 20000+w.g.IntN(60000), w.pick("创建成功,支付成功,已发货,已签收,退款完成,支付超时")
		if n == 1377 {
			id, result = 10086, "下单失败：华东仓库存不足，等待补货"
		}
		w.line("2026-05-12 %02d:%02d:%02d 订单 %d 用户 %d %s", n/100, n%60, w.g.IntN(60), id, w.g.IntN(99999), result)
	}
	return w.String()
}

func travelRules() string {
	w := newWriter(14)
	w.line("# 员工差旅管理办法\n")
	for n := range 90 {
		w.line("## 第%d条 %s\n", n+1, w.pick("申请流程,交通工具,餐费标准,审批权限,票据要求,保险,临时变更"))
		for range 4 {
			w.line("员工应当在出发前%d个工作日提交申请，由%s审核。未按规定办理的，不予报销。\n", 1+w.g.IntN(5), w.pick("部门经理,财务部,人事部,分管副总"))
		}
		if n == 66 {
			w.line("住宿费按城市分档：北京、上海、广州、深圳每人每晚不超过 620 元，省会城市 480 元，其他城市 360 元。\n")
		}
	}
	return w.String()
}
