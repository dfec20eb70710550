// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"html"
	"strings"
)

// Further formats for tuning.

// dashed is a text as a name.
func dashed(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }

// repeated is a text of some lines that are hardly different, with line ends.
func (w *writer) repeated(line string, least, most int) string {
	var b strings.Builder
	for n := range w.number(least, most) {
		fmt.Fprintf(&b, "%s %d/%d\n", line, n, most)
	}
	return b.String()
}

func tracesJSONL(w *writer) {
	for w.startRecord() {
		s := w.story(resources, actions, wheres)
		trace, tenant, rows := w.hex(32), fmt.Sprintf("tn_%s", w.hex(8)), w.number(10_000, 999_999)
		w.printf(`{"traceId":"%s","name":"%s %s","startTime":"%sT%sZ","status":{"code":"ERROR","message":%s},"spans":[`,
			trace, s.problem, s.subject, w.date(), w.clock(), quote(s.problem+" failed "+s.place))
		for n := range w.number(8, 30) {
			if n > 0 {
				w.printf(",")
			}
			w.printf(`{"spanId":"%s","parentSpanId":"%s","name":"%s","kind":3,"durationMs":%d,"attributes":{"db.system":"postgresql","net.peer.name":"%s"}}`,
				w.hex(16), w.hex(16), dashed(w.pick(flat(actions))+" "+w.pick(flat(resources))), w.number(1, 900), dashed(w.pick(places)))
		}
		w.printf(`],"resource":{"service.name":"%s","tenant.id":"%s","host.name":"%s"},"summary":{"rows":%d,"retries":%d}}`+"\n",
			dashed(s.subject), tenant, dashed(w.pick(places)), rows, w.number(0, 9))
		about := s.problemQ + " " + s.subjectQ + " " + s.placeQ
		w.addFact(w.question("trace id of the failed %s|traceId", about), trace)
		w.addFact(w.question("which tenant had the failed %s|tenant id", about), tenant)
		w.addFact(w.question("number of rows %s|summary rows", about), fmt.Sprintf(`"rows":%d`, rows))
		w.addFact(w.question("tenant of trace %s|%s tenant.id", trace), tenant)
	}
}

func buildsJSON(w *writer) {
	w.printf(`{"total_count":412,"builds":[`)
	for n := 9000; w.startRecord(); n += w.number(1, 5) {
		s := w.story(subjects, problems, wheres)
		who, cost, agent := w.login(w.person()), w.number(1000, 9999), "agent-"+w.hex(6)
		if w.count > 1 {
			w.printf(",")
		}
		log := w.repeated("Downloading layer", 4, 30) + "step: " + s.subject + " " + s.problem + "\n" + w.repeated("Retrying connection", 2, 12)
		w.printf(`{"number":%d,"branch":"fix/%s","author":{"login":"%s"},"created_at":"%sT%sZ","agent":{"name":"%s","os":"linux"},"log":%s,"minutes":%d,"artifacts":[{"name":"report.html","size":%d}]}`,
			n, dashed(s.subject), who, w.date(), w.clock(), agent, quote(log), cost, w.number(1, 90_000))
		w.addFact(w.question("who started the build in which %s|author of build", w.describe(s)), who)
		w.addFact(w.question("agent that ran the build %s|name of the agent", w.describe(s)), agent)
		w.addFact(w.question("minutes of build %s|how long did build %s take", fmt.Sprint(n)), fmt.Sprintf(`"minutes":%d`, cost))
	}
	w.printf("]}")
}

func pipelineLog(w *writer) {
	second := 0
	say := func(format string, args ...any) {
		second += w.number(0, 2)
		w.printf("%s %s\n", stamp(second), fmt.Sprintf(format, args...))
	}
	for w.startRecord() {
		s := w.story(subjects, problems, wheres)
		image, code := w.hex(12), w.number(100, 9999)
		say("##[group]Run %s", dashed(s.subject))
		for range w.number(5, 40) {
			say("  %s %s (%d ms)", w.pick([]string{"fetched", "compiled", "linked", "cached"}), dashed(w.pick(flat(resources))), w.number(1, 999))
		}
		say("##[endgroup]")
		say("image is %s", image)
		for range w.number(0, 4) {
			say("%s", w.filler(1))
		}
		say("##[error]%s %s: process completed with exit code %d", s.subject, s.problem, code)
		w.addFact(w.question("exit code of the step where %s|exit code", w.describe(s)), fmt.Sprintf("exit code %d", code))
		w.addFact(w.question("which image was used where %s|image", w.describe(s)), "image is "+image)
	}
}

func expandedRows(w *writer) {
	for w.startRecord() {
		s := w.story(goods, materials, colors)
		who, phone, sku := w.person(), fmt.Sprintf("+31 6 %08d", w.number(10_000_000, 99_999_999)), strings.ToUpper(w.hex(3))+fmt.Sprintf("-%05d", w.number(1, 99_999))
		w.printf("-[ RECORD %d ]-+%s\nid            | %d\nsku           | %s\nproduct       | %s\nmaterial      | %s\ncolor         | %s\nsupplier      | %s\nphone         | %s\nnotes         | %s\nupdated_at    | %s %s\n",
			w.count, strings.Repeat("-", 40), 4000+w.count*3, sku, s.subject, s.problem, s.place, who, phone, w.filler(w.number(1, 3)), w.date(), w.clock())
		about := s.placeQ + " " + s.problemQ + " " + s.subjectQ
		w.addFact(w.question("sku of the %s|article number", about), sku)
		w.addFact(w.question("phone of the supplier of the %s|supplier's phone", about), phone)
	}
}

func guideRST(w *writer) {
	title := func(text, rule string) { w.printf("%s\n%s\n\n", text, strings.Repeat(rule, len(text))) }
	title("Administration guide", "=")
	for w.startRecord() {
		title(capital(w.pick(flat(topics))), "=")
		w.printf("%s\n\n", wrap(w.filler(w.number(2, 6))))
		for k := 0; k < 5 && w.startRecord(); k++ {
			s := w.story(subjects, problems, wheres)
			port, option := w.number(10_000, 60_000), dashed(s.subject)+"."+w.hex(4)
			title(capital(s.subject)+" "+s.problem, "-")
			w.printf("%s\n\n", wrap(w.filler(w.number(1, 8))))
			w.printf(".. code-block:: ini\n\n   %s = %d\n\n.. note::\n\n   %s\n\n", option, port, capital(s.place)+": "+w.filler(1))
			w.printf("%s\n\n", wrap(w.filler(w.number(1, 6))))
			w.addFact(w.question("what to set if %s|option for", w.describe(s)), fmt.Sprintf("%s = %d", option, port))
		}
	}
}

func surveyCSV(w *writer) {
	w.printf("respondent;date;team;question;answer;score;contact\n")
	for w.startRecord() {
		s := w.story(topics, wheres, resources)
		id, contact := fmt.Sprintf("R%06d", w.number(1, 999_999)), w.hex(5)+"@survey.example"
		answer := strings.ReplaceAll(w.filler(w.number(1, 4)), ". ", ".\n")
		w.printf("%s;%s;%s;%s;\"%s\n%s\";%d;%s\n", id, w.date(), w.pick(places), capital(s.subject), capital(s.problem)+", "+s.place+".", answer, w.number(1, 10), contact)
		about := s.subjectQ + " " + s.problemQ + " " + s.placeQ
		w.addFact(w.question("which respondent wrote about %s|respondent", about), id)
		w.addFact(w.question("contact of the answer about %s|mail address", about), contact)
	}
}

func podColumns(w *writer) {
	w.printf("%-58s%-8s%-20s%-10s%-18s%-24s\n", "NAME", "READY", "STATUS", "RESTARTS", "IP", "NODE")
	for w.startRecord() {
		s := w.story(subjects, resources, places2())
		name := dashed(s.subject+" "+s.problem) + "-" + w.hex(8)
		ip, node := fmt.Sprintf("10.%d.%d.%d", w.number(0, 255), w.number(0, 255), w.number(1, 255)), dashed(s.place)+"-"+w.hex(6)
		status := w.common([]string{"Running", "Completed", "CrashLoopBackOff", "ImagePullBackOff", "Pending"})
		w.printf("%-58s%-8s%-20s%-10d%-18s%-24s\n", name, "1/1", status, w.number(0, 99), ip, node)
		about := s.subjectQ + " " + s.problemQ
		w.addFact(w.question("node of the pod %s|on which node runs", about), node)
		w.addFact(w.question("IP of %s|address of the pod", about), ip)
	}
}

func lockTOML(w *writer) {
	w.printf("version = 4\n\n")
	for w.startRecord() {
		s := w.story(subjects, resources, actions)
		name, version, sum := dashed(s.subject+" "+s.problem), fmt.Sprintf("%d.%d.%d", w.number(0, 20), w.number(0, 90), w.number(10, 990)), w.hex(64)
		w.printf("[[package]]\nname = \"%s\"\nversion = \"%s\"\nsource = \"registry+https://index.example/crates\"\nchecksum = \"%s\"\ndependencies = [\n", name, version, sum)
		for range w.number(1, 9) {
			w.printf(" \"%s\",\n", dashed(w.pick(flat(subjects))+" "+w.pick(flat(actions))))
		}
		w.printf("]\n\n")
		about := dashed(s.subjectQ + " " + s.problemQ)
		w.addFact(w.question("which version of %s is locked|locked version", about), fmt.Sprintf("version = \"%s\"", version))
		w.addFact(w.question("checksum of the package %s|checksum", about), sum)
	}
}

func proxyConfig(w *writer) {
	w.printf("worker_processes 8;\nevents { worker_connections 4096; }\nhttp {\n")
	for w.startRecord() {
		s := w.story(subjects, places2(), wheres)
		host, port, zone := dashed(s.subject+"."+s.problem)+".example.com", w.number(10_000, 60_000), "zone_"+w.hex(5)
		w.printf("    # %s, %s\n    server {\n        listen 443 ssl;\n        server_name %s;\n        ssl_certificate /etc/tls/%s.pem;\n", s.subject, s.place, host, w.hex(8))
		for range w.number(1, 6) {
			path := dashed(w.pick(flat(resources)) + "/" + w.pick(flat(actions)))
			w.printf("        location /%s {\n            proxy_set_header Host $host;\n            proxy_read_timeout %ds;\n            proxy_pass http://10.0.%d.%d:8080;\n        }\n", path, w.number(1, 300), w.number(0, 255), w.number(1, 255))
		}
		w.printf("        location / {\n            limit_req zone=%s burst=%d;\n            proxy_pass http://127.0.0.1:%d;\n        }\n    }\n", zone, w.number(1, 99), port)
		about := s.subjectQ + " in " + s.problem
		w.addFact(w.question("upstream port for %s|port behind /", about), fmt.Sprintf("127.0.0.1:%d", port))
		w.addFact(w.question("limit_req zone of %s|rate limit zone", about), zone)
	}
	w.printf("}\n")
}

func pythonSource(w *writer) {
	w.printf("\"\"\"Helpers of the back office.\"\"\"\n\nimport logging\n\nlog = logging.getLogger(__name__)\n\n\n")
	for w.startRecord() {
		w.printf("class %s:\n    \"\"\"%s\"\"\"\n\n", camel(w.pick(flat(topics)), w.hex(2)), w.filler(1))
		for k := 0; k < 5 && w.startRecord(); k++ {
			s := w.story(resources, actions, wheres)
			limit, table := w.number(1000, 99_999), "tbl_"+w.hex(6)
			name := strings.ReplaceAll(s.problem+"_"+s.subject, " ", "_")
			w.printf("    def %s(self, session, ids):\n        \"\"\"%s one %s %s.\n\n        %s\n        \"\"\"\n", name, capital(s.problem), s.subject, s.place, w.filler(w.number(1, 3)))
			w.printf("        batch = ids[:%d]\n        for each in batch:\n            log.info(\"%%s\", each)\n            if not session.get(each):\n                continue\n", limit)
			for range w.number(0, 8) {
				w.printf("            self.%s(each, %d)\n", strings.ReplaceAll(w.pick(flat(actions)), " ", "_"), w.number(1, 99))
			}
			w.printf("        return session.run(\"select * from %s where id = any(%%s)\", batch)\n\n", table)
			about := s.problemQ + " " + s.subjectQ
			w.addFact(w.question("how many ids at most are used to %s|batch size", about), fmt.Sprintf("ids[:%d]", limit))
			w.addFact(w.question("which table is read to %s|table", about), table)
		}
	}
}

func schemaSQL(w *writer) {
	w.printf("SET client_encoding = 'UTF8';\n\n")
	for w.startRecord() {
		s := w.story(resources, actions, topics)
		name := strings.ReplaceAll(s.subject+"_"+s.problem, " ", "_")
		length, index := w.number(1000, 9999), "ix_"+w.hex(7)
		w.printf("--\n-- Name: %s; Type: TABLE; Schema: public\n--\n\nCREATE TABLE public.%s (\n    id bigint NOT NULL,\n", name, name)
		for range w.number(3, 16) {
			w.printf("    %s %s,\n", strings.ReplaceAll(w.pick(flat(subjects)), " ", "_"), w.pick([]string{"integer", "text", "timestamp with time zone", "boolean DEFAULT false"}))
		}
		w.printf("    comment character varying(%d)\n);\n\nCOMMENT ON TABLE public.%s IS '%s';\n\n", length, name, capital(s.place))
		w.printf("CREATE UNIQUE INDEX %s ON public.%s USING btree (id);\n\n", index, name)
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("length of the comment in the table to %s|maximum length of comment", about), fmt.Sprintf("varying(%d)", length))
		w.addFact(w.question("unique index of the table to %s|name of the index", about), index)
		w.addFact(w.question("index of table %s|unique index %s", name), index)
	}
}

func pricesHTML(w *writer) {
	w.printf(`<!doctype html><html><head><meta charset="utf-8"><title>Prices</title></head><body><header><a href="/">Home</a></header><main>`)
	for w.startRecord() {
		w.printf(`<section class="c-%s"><h2>%s</h2><p>%s</p><table><thead><tr><th>Product</th><th>Material</th><th>Color</th><th>Price</th><th>Stock</th></tr></thead><tbody>`,
			w.hex(5), capital(w.pick(flat(topics))), html.EscapeString(w.filler(w.number(1, 4))))
		for k := 0; k < 12 && w.startRecord(); k++ {
			s := w.story(goods, materials, colors)
			price, stock := fmt.Sprintf("%d.%02d EUR", w.number(10, 9999), w.number(0, 100)), w.number(1000, 99_999)
			w.printf(`<tr><td><a href="/p/%s" class="x-%s">%s</a></td><td>%s</td><td>%s</td><td class="n">%s</td><td class="n">%d pcs</td></tr>`,
				w.hex(10), w.hex(4), s.subject, s.problem, s.place, price, stock)
			about := s.placeQ + " " + s.problemQ + " " + s.subjectQ
			w.addFact(w.question("price of the %s|how much is the", about), price)
			w.addFact(w.question("how many %s are in stock|stock of", about), fmt.Sprintf("%d pcs", stock))
		}
		w.printf("</tbody></table></section>")
	}
	w.printf("</main></body></html>")
}

func interview(w *writer) {
	host := "INTERVIEWER"
	for w.startRecord() {
		s := w.story(topics, subjects, wheres)
		guest, sum := strings.ToUpper(w.pick(familyNames)), w.number(10_000, 999_999)
		w.printf("[%s] %s: %s What about the %s?\n\n", w.clock(), host, w.filler(w.number(0, 3)), s.subject)
		w.printf("[%s] %s: %s The %s was the hard part %s. %s\n\n", w.clock(), guest, w.filler(w.number(1, 5)), s.problem, s.place, w.filler(w.number(1, 5)))
		w.printf("[%s] %s: And what did it cost?\n\n[%s] %s: In the end %d crowns. %s\n\n", w.clock(), host, w.clock(), guest, sum, w.filler(w.number(0, 4)))
		w.addFact(w.question("what did the %s cost|cost in crowns", s.subjectQ+" with the "+s.problemQ), fmt.Sprintf("%d crowns", sum))
	}
}

func schemaGraphQL(w *writer) {
	for w.startRecord() {
		s := w.story(resources, topics, wheres)
		name, most := camel(s.subject, s.problem), w.number(1000, 99_999)
		scope := "scope:" + w.hex(6)
		w.printf("\"\"\"\n%s of the %s %s.\n%s\n\"\"\"\ntype %s implements Node {\n  id: ID!\n", capital(s.subject), s.problem, s.place, w.filler(w.number(1, 3)), name)
		for range w.number(3, 14) {
			field := camel(w.pick(flat(actions)), w.pick(flat(resources)))
			w.printf("  \"%s\"\n  %s: %s\n", w.filler(1), strings.ToLower(field[:1])+field[1:], w.pick([]string{"String", "Int!", "[ID!]!", "DateTime"}))
		}
		w.printf("  items(first: Int = %d): [Item!]! @auth(requires: \"%s\")\n}\n\n", most, scope)
		about := s.subjectQ + " of the " + s.problemQ
		w.addFact(w.question("default number of items in the type %s|default of first", about), fmt.Sprintf("Int = %d", most))
		w.addFact(w.question("which scope do items of %s need|scope for items", about), scope)
	}
}

func regulationsChinese(w *writer) {
	w.printf("信息系统管理办法\n\n")
	for w.startRecord() {
		w.printf("第%d章 %s\n\n", w.count, w.pick(flat(zhSubjects)))
		for k := 0; k < 6 && w.startRecord(); k++ {
			s := w.story(zhSubjects, zhProblems, zhWheres)
			amount, code := w.number(10_000, 999_999), fmt.Sprintf("BZ-%04d-%s", w.number(1000, 9999), w.hex(2))
			var text []string
			for range w.number(1, 8) {
				text = append(text, w.pick(zhFiller))
			}
			w.printf("第%d条 %s%s%s的，%s罚款上限为%d元，按%s执行。%s\n\n", w.count, s.place, s.subject, s.problem, strings.Join(text, ""), amount, code, w.pick(zhFiller))
			w.addFact(w.question("%s最多罚款多少|%s 罚款 上限", s.subjectQ+s.problemQ), fmt.Sprintf("%d元", amount))
			w.addFact(w.question("%s按哪个标准执行|标准编号 %s", s.subjectQ+s.problemQ), code)
		}
	}
}

func essay(w *writer) {
	for w.startRecord() {
		w.printf("CHAPTER %d\n\n%s\n\n", w.count, strings.ToUpper(w.pick(flat(topics))))
		for k := 0; k < 6 && w.startRecord(); k++ {
			s := w.story(subjects, problems, wheres)
			days, who := w.number(1000, 99_999), w.person()
			w.printf("%s\n\n", wrap(w.filler(w.number(2, 9))))
			w.printf("%s\n\n", wrap(w.filler(w.number(0, 4))+" It was then that the "+s.subject+" "+s.problem+" "+s.place+". "+w.filler(w.number(0, 3))+
				fmt.Sprintf(" It took %d hours until %s understood why. ", days, who)+w.filler(w.number(0, 4))))
			w.addFact(w.question("how many hours did it take to understand why %s|hours until it was understood", w.describe(s)), fmt.Sprintf("took %d", days))
		}
	}
	w.text = w.String()
}

func envelopeJSON(w *writer) {
	var inner writer
	inner.r, inner.size = w.r, w.size*5/6
	inner.printf("[\n")
	for inner.startRecord() {
		s := inner.story(resources, actions, wheres)
		owner, amount := inner.person(), fmt.Sprintf("%d.%02d", inner.number(1000, 99_999), inner.number(0, 100))
		if inner.count > 1 {
			inner.printf(",\n")
		}
		inner.printf("  {\n    \"id\": \"%s\",\n    \"kind\": \"%s\",\n    \"action\": \"%s\",\n    \"note\": %s,\n    \"owner\": {\"name\": \"%s\", \"mail\": \"%s@corp.example\"},\n    \"amount\": %s,\n    \"approved\": %v\n  }",
			inner.hex(10), s.subject, s.problem, quote(s.place+". "+inner.filler(inner.number(1, 5))), owner, inner.login(owner), amount, inner.chance(.5))
		about := s.problemQ + " " + s.subjectQ + " " + s.placeQ
		w.count = inner.count
		w.addFact(w.question("amount of %s|how much", about), amount)
		w.addFact(w.question("amount of %s|how much", about+" "+owner), amount)
	}
	inner.printf("\n]")
	w.printf(`{"content":[{"type":"text","text":%s}],"isError":false}`, quote(inner.String()))
}

func packagesJSON(w *writer) {
	w.printf("{\n  \"lockfileVersion\": 3,\n  \"packages\": {\n")
	for w.startRecord() {
		s := w.story(subjects, resources, actions)
		name, version, license := dashed(s.subject+" "+s.problem), fmt.Sprintf("%d.%d.%d", w.number(0, 20), w.number(0, 90), w.number(10, 990)), "L-"+w.hex(6)
		if w.count > 1 {
			w.printf(",\n")
		}
		w.printf("    \"node_modules/%s\": {\n      \"version\": \"%s\",\n      \"resolved\": \"https://registry.example/%s.tgz\",\n      \"integrity\": \"sha512-%s\",\n      \"license\": \"%s\",\n      \"dependencies\": {", name, version, w.hex(12), w.hex(60), license)
		for n := range w.number(1, 9) {
			if n > 0 {
				w.printf(",")
			}
			w.printf("\n        \"%s\": \"^%d.%d.0\"", dashed(w.pick(flat(subjects))+" "+w.pick(flat(actions))), w.number(0, 20), w.number(0, 20))
		}
		w.printf("\n      }\n    }")
		about := dashed(s.subjectQ + " " + s.problemQ)
		w.addFact(w.question("version of %s|installed version", about), version)
		w.addFact(w.question("license of %s|under which license is", about), license)
	}
	w.printf("\n  }\n}\n")
}

func grepOutput(w *writer) {
	for w.startRecord() {
		s := w.story(subjects, actions, resources)
		file := "src/" + dashed(s.subject) + "/" + dashed(s.place) + w.hex(2) + ".ts"
		value := w.number(10_000, 99_999)
		for k := range w.number(2, 14) {
			w.printf("%s:%d:  const %s%d = config.get(\"%s\", %d)\n", file, 10+k*7, strings.ToLower(camel(w.pick(flat(actions)))), k, dashed(w.pick(flat(resources))), w.number(1, 999))
		}
		w.printf("%s:%d:  // %s: %s at most\n%s:%d:  const limit = %d\n", file, 300, s.subject, s.problem, file, 301, value)
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("limit to %s|constant limit", about), fmt.Sprintf("limit = %d", value))
	}
}

func commitStats(w *writer) {
	for w.startRecord() {
		s := w.story(subjects, problems, wheres)
		hash, who, ref := w.hex(40), w.person(), fmt.Sprintf("PROJ-%d", w.number(1000, 99_999))
		w.printf("commit %s\nAuthor: %s <%s@corp.example>\nDate:   Tue May %d %s 2026 +0200\n\n    Fix: %s %s\n\n", hash, who, w.login(who), w.number(1, 29), w.clock(), s.subject, s.problem)
		for range w.number(0, 4) {
			w.printf("    %s\n", w.filler(1))
		}
		w.printf("    %s.\n    Refs: %s\n\n", capital(s.place), ref)
		for range w.number(1, 12) {
			w.printf(" src/%s/%-30s | %3d %s\n", dashed(w.pick(flat(subjects))), dashed(w.pick(flat(resources)))+".go", w.number(1, 400), strings.Repeat("+", w.number(1, 20)))
		}
		w.printf(" %d files changed, %d insertions(+)\n\n", w.number(1, 13), w.number(1, 900))
		w.addFact(w.question("hash of the commit that fixed %s|commit hash", w.describe(s)), hash)
		w.addFact(w.question("ticket of the fix for %s|reference of the fix", w.describe(s)), ref)
		w.addFact(w.question("ticket of commit %s|which ticket has %s", hash[:9]), ref)
	}
}
