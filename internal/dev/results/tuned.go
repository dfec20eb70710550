// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// The formats for tuning.

// quote is a JSON string.
func quote(text string) string {
	b, _ := json.Marshal(text) // a string is always valid
	return string(b)
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func issuesJSON(w *writer) {
	w.f("[")
	for n := 48000; w.hasRoom(); n -= w.num(1, 9) {
		s := w.story(subjects, problems, wheres)
		reporter, assignee := w.login(w.person()), w.login(w.person())
		closed, version := w.date()+"T"+w.clock()+"Z", fmt.Sprintf("v%d.%d.%d", w.num(1, 9), w.num(0, 60), w.num(0, 99))
		limit := w.num(1000, 99_999)
		body := fmt.Sprintf("### What happened\n\n%s\n\n### Steps\n\n%s\n\n### Workaround\n\nSetting `client.max_parts` to %d avoids it. %s", w.filler(w.num(1, 9)), w.filler(w.num(1, 6)), limit, w.filler(w.num(0, 5)))
		if w.chance(.3) {
			body += "\n\n" + w.filler(w.num(8, 30))
		}
		if w.count > 1 {
			w.f(",")
		}
		w.f(`{"url":"https://api.tracker.example/repos/acme/app/issues/%d","id":%d,"node_id":"I_kw%s","number":%d,"title":%s,"user":{"login":"%s","id":%d,"type":"User","site_admin":false},"labels":[{"name":"%s"},{"name":"%s"}],"state":"closed","locked":false,"assignee":{"login":"%s"},"comments":%d,"created_at":"%sT%sZ","closed_at":"%s","milestone":{"title":"%s"},"body":%s}`,
			n, w.num(1e8, 9e8), w.hex(12), n, quote(capital(s.subject)+" "+s.problem+" "+s.where), reporter, w.num(1000, 99_999), w.common([]string{"bug", "regression", "performance", "security", "ux"}), w.pick(places),
			assignee, w.num(0, 40), w.date(), w.clock(), closed, version, quote(body))
		w.addFact(w.question("who reported %s|reporter|login of the author of the issue about %s", w.describe(s)), reporter)
		w.addFact(w.question("who works on %s|assigned developer", w.describe(s)), assignee)
		w.addFact(w.question("when was it closed|closing date of the issue %s", w.describe(s)), closed)
		w.addFact(w.question("workaround setting for %s|max_parts value workaround", w.describe(s)), fmt.Sprintf("max_parts` to %d", limit))
		w.addFact(w.question("who reported issue %s|author of #%s", fmt.Sprint(n)), reporter)
	}
	w.f("]")
}

func ordersCSV(w *writer) {
	w.f("order_no,placed_at,customer,city,product,material,color,qty,unit_price,carrier,tracking\n")
	for n := 700_001; w.hasRoom(); n += w.num(1, 30) {
		s := w.story(goods, materials, colors)
		who, city := w.person(), w.pick(places)
		price, tracking := fmt.Sprintf("%d.%02d", w.num(5, 900), w.num(0, 100)), fmt.Sprintf("%c%c%09d", 'A'+w.r.IntN(26), 'A'+w.r.IntN(26), w.num(1, 999_999_999))
		w.f("%d,%sT%s,%s,%s,%s,%s,%s,%d,%s,%s,%s\n", n, w.date(), w.clock(), who, city, s.subject, s.problem, s.where, w.num(1, 12), price, w.pick([]string{"DHL", "UPS", "GLS", "DPD"}), tracking)
		about := s.whereQ + " " + s.problemQ + " " + s.subjectQ + " ordered by " + who
		w.addFact(w.question("tracking number of the %s|shipment code|tracking", about), tracking)
		w.addFact(w.question("order number|which order had the %s", s.subjectQ+" for "+who+" in "+city), fmt.Sprint(n))
		w.addFact(w.question("tracking of order %s|parcel number order %s", fmt.Sprint(n)), tracking)
	}
}

func docsMarkdown(w *writer) {
	w.f("# Operations handbook\n\n%s\n\n", w.filler(5))
	for chapter := 1; w.hasRoom(); chapter++ {
		w.f("## %d. %s\n\n%s\n\n", chapter, capital(w.pick(subjects[chapter%len(subjects)])), w.filler(w.num(2, 6)))
		for k := 0; k < 4 && w.hasRoom(); k++ {
			s := w.story(subjects, problems, wheres)
			seconds, key := w.num(100, 99_999), "timeouts."+strings.ReplaceAll(strings.ToLower(s.subject), " ", "_")+"_"+w.hex(4)
			w.f("### %s %s\n\n%s\n\n%s\n\n```yaml\n%s: %ds\n```\n\n", capital(s.subject), s.problem, w.filler(w.num(1, 8)), capital(s.where)+", "+w.filler(w.num(1, 7)), key, seconds)
			if w.chance(.4) {
				w.f("| setting | default | allowed |\n|---|---|---|\n| %s | %ds | 1s to 1d |\n| retries | %d | 0 to 20 |\n\n", key, w.num(1, 90), w.num(1, 20))
			}
			contact := strings.ToLower(w.pick(givenNames)) + "-" + w.hex(3) + "@ops.example"
			w.f("Escalate to <%s>. %s\n\n", contact, w.filler(w.num(1, 4)))
			w.addFact(w.question("recommended timeout for %s|timeout value seconds", w.describe(s)), fmt.Sprintf("%s: %ds", key, seconds))
			w.addFact(w.question("whom to escalate %s to|contact address", w.describe(s)), contact)
		}
	}
}

func kubernetesYAML(w *writer) {
	w.f("apiVersion: v1\nkind: List\nitems:\n")
	for w.hasRoom() {
		s := w.story(subjects, places2(), actions)
		name := strings.ToLower(strings.ReplaceAll(s.subject, " ", "-")) + "-" + strings.ToLower(s.problem)
		port, memory, digest, node := w.num(20_000, 32_767), fmt.Sprintf("%dMi", w.num(130, 9999)), w.hex(64), fmt.Sprintf("node-%s-%03d", w.hex(4), w.num(1, 400))
		w.f(`- apiVersion: apps/v1
  kind: Deployment
  metadata:
    annotations:
      deployment.kubernetes.io/revision: "%d"
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"%s"}}
    creationTimestamp: "%sT%sZ"
    generation: %d
    labels:
      app.kubernetes.io/managed-by: Helm
      purpose: %s
    name: %s
    namespace: %s
    uid: %s
  spec:
    progressDeadlineSeconds: 600
    replicas: %d
    selector:
      matchLabels:
        app: %s
    strategy:
      rollingUpdate:
        maxSurge: 25%%
        maxUnavailable: 25%%
    template:
      spec:
        containers:
        - image: registry.example/%s@sha256:%s
          imagePullPolicy: IfNotPresent
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
          name: main
          ports:
          - containerPort: 8080
            hostPort: %d
            name: http
          resources:
            limits:
              cpu: "%d"
              memory: %s
        nodeName: %s
        restartPolicy: Always
  status:
    conditions:
    - lastTransitionTime: "%sT%sZ"
      message: Deployment has minimum availability.
      status: "True"
      type: Available
    readyReplicas: %d
`, w.num(1, 99), name, w.date(), w.clock(), w.num(1, 50), strings.ReplaceAll(s.where, " ", "-"), name, strings.ToLower(s.problem), w.hex(8)+"-"+w.hex(4), w.num(1, 9), name, name, digest, port, w.num(1, 9), memory, node, w.date(), w.clock(), w.num(1, 9))
		about := s.subjectQ + " in " + s.problem
		w.addFact(w.question("memory limit of the %s deployment|how much memory may it use", about), "memory: "+memory)
		w.addFact(w.question("host port|port on the host for %s", about), fmt.Sprint(port))
		w.addFact(w.question("which node runs %s|node name", about), node)
		w.addFact(w.question("image digest|sha256 of the image of %s", about), digest)
	}
}

func places2() (all [][]string) {
	for _, p := range places {
		all = append(all, []string{p})
	}
	return all
}

func serverLog(w *writer) {
	second := 0
	for w.hasRoom() {
		for range w.num(1, 12) {
			second += w.num(0, 3)
			w.f("%s level=info svc=%s trace=%s msg=\"request done\" status=200 ms=%d\n", stamp(second), strings.ReplaceAll(w.pick(flat(subjects)), " ", "-"), w.hex(8), w.num(2, 900))
		}
		s := w.story(subjects, problems, wheres)
		second += w.num(0, 2)
		trace, pid, bytes := w.hex(16), w.num(1000, 32_000), w.num(100_000, 999_999)
		w.f("%s level=%s svc=%s trace=%s msg=\"%s %s\" pid=%d\n", stamp(second), w.pick([]string{"warn", "error"}), strings.ReplaceAll(s.subject, " ", "-"), trace, s.problem, s.where, pid)
		for range w.num(0, 4) {
			w.f("    at %s (/srv/app/%s.js:%d:%d)\n", w.pick([]string{"handle", "emit", "next", "runTask"}), strings.ReplaceAll(w.pick(flat(resources)), " ", "_"), w.num(1, 900), w.num(1, 80))
		}
		w.f("%s level=info svc=supervisor trace=%s msg=\"restarted worker\" heap=%d\n", stamp(second+1), trace, bytes)
		w.addFact(w.question("trace id of the error %s|trace", w.describe(s)), trace)
		w.addFact(w.question("process id|pid when %s", w.describe(s)), fmt.Sprintf("pid=%d", pid))
		w.addFact(w.question("heap size after the restart in trace %s|heap of worker %s", trace), fmt.Sprint("heap=", bytes))
	}
}

func stamp(second int) string {
	return fmt.Sprintf("2026-05-%02dT%02d:%02d:%02d.%03dZ", 1+second/86400, second/3600%24, second/60%60, second%60, second*37%1000)
}

func openAPI(w *writer) {
	w.f("{\n  \"openapi\": \"3.1.0\",\n  \"info\": {\n    \"title\": \"Back office\",\n    \"version\": \"7\"\n  },\n  \"paths\": {")
	for w.hasRoom() {
		s := w.story(resources, actions, wheres)
		noun, verb := strings.ReplaceAll(s.subject, " ", "-"), strings.ReplaceAll(s.problem, " ", "-")
		id, scope := "op_"+w.hex(6), noun+"."+verb+"."+w.hex(4)
		most, quota := w.num(101, 9999), w.num(10_000, 99_999)
		if w.count > 1 {
			w.f(",")
		}
		w.f(`
    "/v%d/%ss/{%s_id}/%s-%s": {
      "post": {
        "operationId": "%s",
        "summary": "%s a %s",
        "description": %s,
        "tags": ["%s"],
        "parameters": [
          {"name": "%s_id", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}},
          {"name": "page_size", "in": "query", "description": "Number of elements per page.", "schema": {"type": "integer", "minimum": 1, "maximum": %d}},
          {"name": "X-Request-Id", "in": "header", "schema": {"type": "string"}}
        ],
        "requestBody": {
          "content": {
            "application/json": {
              "schema": {
                "type": "object",
                "required": ["reason"],
                "properties": {
                  "reason": {"type": "string", "description": %s},
                  "notify": {"type": "boolean", "default": false, "description": %s}
                }
              }
            }
          }
        },
        "responses": {
          "200": {"description": "Done.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/%s"}}}},
          "409": {"description": %s},
          "429": {"description": "At most %d calls a day."}
        },
        "security": [{"oauth": ["%s"]}]
      }
    }`, w.num(1, 4), noun, noun, verb, w.hex(3), id, capital(s.problem), s.subject, quote(capital(s.problem)+" one "+s.subject+" "+s.where+". "+w.filler(w.num(1, 6))), noun, noun, most,
			quote(w.filler(1)), quote(w.filler(w.num(1, 3))), capital(noun), quote(w.filler(1)), quota, scope)
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("operationId of the endpoint to %s|operation id", about), id)
		w.addFact(w.question("scope needed to %s|oauth permission", about), scope)
		w.addFact(w.question("maximum page size when I %s|largest page_size", about), fmt.Sprintf(`"maximum":%d`, most))
		w.addFact(w.question("how many calls a day may I %s|daily quota", about), fmt.Sprintf("At most %d calls", quota))
	}
	w.f("\n  }\n}\n")
	w.text = strings.ReplaceAll(w.String(), `"maximum": `, `"maximum":`)
}

func mailArchive(w *writer) {
	for w.hasRoom() {
		s := w.story(topics, resources, wheres)
		from, to := w.person(), w.person()
		room, hour, phone := fmt.Sprintf("%c%d.%02d", 'A'+w.r.IntN(9), w.num(1, 9), w.num(1, 60)), fmt.Sprintf("%d:%02d", w.num(8, 18), w.num(0, 60)), fmt.Sprintf("+43 660 %07d", w.num(1_000_000, 9_999_999))
		w.f("From %s@corp.example Mon May %2d %s 2026\nFrom: %s <%s@corp.example>\nTo: %s <%s@corp.example>\nSubject: %s (%s)\nDate: Mon, %d May 2026 %s +0200\nMessage-ID: <%s@mx.corp.example>\n\n", w.login(from), w.num(1, 29), w.clock(), from, w.login(from), to, w.login(to), capital(s.subject), s.problem, w.num(1, 29), w.clock(), w.hex(14))
		w.f("Hi %s,\n\n%s\n\n%s\nWe meet in room %s at %s. If you are late, ring %s.\n\n%s\n\nBest,\n%s\n\n", strings.Fields(to)[0], wrap(w.filler(w.num(1, 8))), wrap(w.filler(w.num(0, 4))), room, hour, phone, wrap(w.filler(w.num(0, 5))), strings.Fields(from)[0])
		about := w.pick([]string{s.subjectQ + " " + s.problemQ, s.subjectQ + " mail to " + to, from + " " + s.subjectQ})
		w.addFact(w.question("room of the %s|where is it", about), "room "+room)
		w.addFact(w.question("phone number for %s|call if late", about), phone)
	}
}

// wrap breaks lines at 72 characters.
func wrap(text string) string {
	var b strings.Builder
	line := 0
	for _, word := range strings.Fields(text) {
		if line+len(word) > 72 {
			b.WriteByte('\n')
			line = 0
		}
		b.WriteString(word + " ")
		line += len(word) + 1
	}
	return b.String()
}

func gitDiff(w *writer) {
	for w.hasRoom() {
		s := w.story(subjects, problems, actions)
		dir, file := strings.ReplaceAll(s.subject, " ", ""), strings.ReplaceAll(w.pick(flat(resources)), " ", "_")
		was, now, flag := w.num(100, 9999), w.num(10_000, 99_999), strings.ReplaceAll(s.where, " ", "")+"Guard"+w.hex(3)
		at := w.num(1, 900)
		w.f("diff --git a/%[1]s/%[2]s.go b/%[1]s/%[2]s.go\nindex %[3]s..%[4]s 100644\n--- a/%[1]s/%[2]s.go\n+++ b/%[1]s/%[2]s.go\n", dir, file, w.hex(9), w.hex(9))
		w.f("@@ -%d,7 +%d,9 @@ func (h *handler) %s(ctx context.Context) error {\n", at, at, camel(s.where, file))
		w.f(" \t// %s\n \tif err := h.prepare(ctx); err != nil {\n \t\treturn err\n \t}\n-\tconst limit = %d\n+\t// The %s %s without this.\n+\tconst limit = %d\n+\tdefer h.%s()\n \treturn h.run(ctx)\n", w.filler(1), was, s.subject, s.problem, now, flag)
		for range w.num(0, 3) {
			at += w.num(20, 90)
			w.f("@@ -%d,4 +%d,4 @@ func parse%s(text string) {\n \tfor i := range text {\n-\t\tuse(i, %d)\n+\t\tuse(i, %d)\n \t}\n", at, at, camel("", w.pick(flat(resources))), w.num(1, 99), w.num(1, 99))
		}
		w.addFact(w.question("new limit in the change for %s|limit constant after the fix", s.subjectQ+" "+s.problemQ), fmt.Sprint("limit = ", now))
		w.addFact(w.question("what is deferred in the fix for %s|guard function", s.subjectQ+" "+s.problemQ), flag)
	}
}

func camel(words ...string) string {
	out := ""
	for _, word := range strings.FieldsFunc(strings.Join(words, " "), func(c rune) bool { return c == ' ' || c == '_' || c == '-' }) {
		out += capital(word)
	}
	return out
}

func calendar(w *writer) {
	w.f("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//Calendar 3//EN\r\n")
	for w.hasRoom() {
		s := w.story(topics, places2(), wheres)
		day := fmt.Sprintf("2026%02d%02d", w.num(1, 13), w.num(1, 29))
		host, uid, pin, start := w.person(), w.hex(12), w.num(100_000, 999_999), fmt.Sprintf("%02d%02d00", w.num(7, 19), w.num(0, 60))
		w.f("BEGIN:VEVENT\r\nUID:%s@cal.example\r\nDTSTAMP:%sT%sZ\r\nDTSTART;TZID=Europe/Vienna:%sT%s\r\nDURATION:PT%dM\r\nSUMMARY:%s\r\nLOCATION:%s\r\nORGANIZER;CN=%s:mailto:%s@corp.example\r\n", uid, day, "080000", day, start, w.num(2, 12)*10, capital(s.subject), s.problem, host, w.login(host))
		for range w.num(0, 6) {
			p := w.person()
			w.f("ATTENDEE;PARTSTAT=%s;CN=%s:mailto:%s@corp.example\r\n", w.pick([]string{"ACCEPTED", "TENTATIVE", "NEEDS-ACTION"}), p, w.login(p))
		}
		w.f("DESCRIPTION:%s\\nDial in with PIN %d. %s\r\nEND:VEVENT\r\n", w.filler(w.num(1, 4)), pin, w.filler(w.num(0, 2)))
		about := s.subjectQ + " in " + s.problem
		w.addFact(w.question("dial-in code for the %s|PIN", about), fmt.Sprint("PIN ", pin))
		w.addFact(w.question("when does the %s begin|start time", about), day+"T"+start)
	}
	w.f("END:VCALENDAR\r\n")
}

func eventsJSONL(w *writer) {
	for w.hasRoom() {
		s := w.story(resources, actions, wheres)
		who, ip, session := w.person(), fmt.Sprintf("%d.%d.%d.%d", w.num(11, 200), w.num(0, 255), w.num(0, 255), w.num(1, 255)), w.hex(20)
		w.f(`{"ts":"%sT%sZ","event":"%s.%s","actor":{"name":"%s","email":"%s@corp.example"},"source":{"ip":"%s","city":"%s"},"ctx":{"session":"%s","flags":[%d,%d],"note":%s},"amount":%d}`+"\n",
			w.date(), w.clock(), strings.ReplaceAll(s.subject, " ", "_"), strings.ReplaceAll(s.problem, " ", "_"), who, w.login(who), ip, w.pick(places), session, w.num(0, 9), w.num(0, 9), quote(s.where+"; "+w.filler(w.num(0, 3))), w.num(1, 9999))
		about := s.subjectQ + " " + s.problemQ + " by " + who
		w.addFact(w.question("IP address|from which IP was the %s", about), ip)
		w.addFact(w.question("session of %s|session id", about), session)
	}
}

func articleHTML(w *writer) {
	w.f("<!DOCTYPE html>\n<html lang=\"en\"><head><title>Field report</title><script>window.dataLayer=[];function gtag(){dataLayer.push(arguments)}</script><style>.a{color:red}</style></head><body>\n<nav><ul>")
	for _, p := range places {
		w.f("<li><a href=\"/topic/%s\">%s</a></li>", strings.ToLower(p), p)
	}
	w.f("</ul></nav><main><h1>Field report of the reliability team</h1>\n")
	for w.hasRoom() {
		s := w.story(subjects, problems, wheres)
		cost, engineer := w.num(10_000, 999_999), w.person()
		w.f("<section id=\"s%d\"><h2>%s %s</h2>\n<p class=\"lead\">%s</p>\n<p>%s</p>\n<p>%s</p>\n", w.count, html.EscapeString(capital(s.subject)), s.problem, html.EscapeString(capital(s.where)+", "+w.filler(2)), html.EscapeString(w.filler(w.num(2, 9))), html.EscapeString(w.filler(w.num(1, 6))))
		w.f("<div class=\"meta\"><span data-k=\"owner\">%s</span><span data-k=\"damage\">&euro; %d</span></div><blockquote>%s</blockquote></section>\n", engineer, cost, html.EscapeString(w.filler(w.num(1, 3))))
		w.addFact(w.question("cost of the incident %s|damage in euros", w.describe(s)), fmt.Sprint("&euro; ", cost))
	}
	w.f("</main><footer>%s</footer></body></html>\n", w.filler(3))
	w.text = w.String()
}

func manualPage(w *writer) {
	w.f("BACKOFFICE(1)                    User Commands                   BACKOFFICE(1)\n\nNAME\n       backoffice - manage records from a terminal\n\nSYNOPSIS\n       backoffice [OPTION]... COMMAND\n\nDESCRIPTION\n       %s\n\nOPTIONS\n", wrap7(w.filler(6)))
	for w.hasRoom() {
		s := w.story(resources, actions, wheres)
		name := strings.ReplaceAll(s.problem+"-"+s.subject, " ", "-")
		short, fallback, env := string(rune('a'+w.r.IntN(26))), w.num(1000, 99_999), "BO_"+strings.ToUpper(w.hex(6))
		w.f("       -%s, --%s=N\n              %s at most N %s records %s.\n              %s\n              The default is %d; the variable %s overrides it.\n\n", short, name, capital(s.problem), s.subject, s.where, wrap14(w.filler(w.num(1, 4))), fallback, env)
		about := s.problemQ + " " + s.subjectQ + " records"
		w.addFact(w.question("default number to %s|default limit", about), fmt.Sprint("default is ", fallback))
		w.addFact(w.question("environment variable to override the option to %s|environment variable", about), env)
	}
	w.f("SEE ALSO\n       records(5), office(7)\n")
}

func wrap7(text string) string  { return strings.ReplaceAll(wrap(text), "\n", "\n       ") }
func wrap14(text string) string { return strings.ReplaceAll(wrap(text), "\n", "\n              ") }

func stackTraces(w *writer) {
	second := 0
	for w.hasRoom() {
		s := w.story(subjects, problems, resources)
		second += w.num(1, 400)
		order, thread := fmt.Sprintf("ORD%08d", w.num(1, 99_999_999)), fmt.Sprintf("pool-%d-thread-%d", w.num(1, 9), w.num(10, 99))
		line, class := w.num(1000, 9999), camel(s.subject)
		w.f("%s ERROR [%s] c.a.%s - %s while handling %s\ncom.acme.%s.%sException: %s for %s\n", strings.Replace(stamp(second), "T", " ", 1), thread, class, capital(s.problem), s.where, strings.ToLower(class), camel(w.pick(flat(actions))), s.problem, order)
		for range w.num(4, 24) {
			w.f("\tat com.acme.%s.%s.%s(%s.java:%d)\n", strings.ToLower(camel(w.pick(flat(resources)))), camel(w.pick(flat(resources))), strings.ToLower(camel(w.pick(flat(actions)))), camel(w.pick(flat(resources))), w.num(10, 999))
		}
		w.f("Caused by: java.io.IOException: %s\n\tat com.acme.io.%s.read(%s.java:%d)\n\t... %d more\n", w.filler(1), class, class, line, w.num(3, 60))
		w.addFact(w.question("which order failed when %s|order", s.subjectQ+" "+s.problemQ), order)
		w.addFact(w.question("line of the root cause of %s|cause line number", s.subjectQ+" "+s.problemQ), fmt.Sprint(".java:", line))
		w.addFact(w.question("thread that handled %s|thread name", order), thread)
	}
}

func ticketsChinese(w *writer) {
	w.f("{\"total\": 900, \"tickets\": [\n")
	for n := 3000; w.hasRoom(); n += w.num(1, 7) {
		s := w.story(zhSubjects, zhProblems, zhWheres)
		who, owner, cost := w.pick(zhNames), w.pick(zhNames), w.num(10_000, 999_999)
		if w.count > 1 {
			w.f(",\n")
		}
		var text []string
		for range w.num(1, 12) {
			text = append(text, w.pick(zhFiller))
		}
		code := fmt.Sprintf("GD%05d", w.num(1, 99_999))
		w.f(" {\"编号\": \"%s\", \"标题\": \"%s%s%s\", \"提交人\": \"%s\", \"负责人\": \"%s\", \"描述\": \"%s\", \"损失金额\": %d}", code, s.where, s.subject, s.problem, who, owner, strings.Join(text, ""), cost)
		about := s.subjectQ + s.problemQ
		w.addFact(w.question("%s的损失是多少|%s 损失 金额", about), fmt.Sprint(cost))
		w.addFact(w.question("%s的工单编号|工单号 %s", about), code)
	}
	w.f("\n]}\n")
}
