// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"html"
	"strings"
)

// The formats for reports. Nothing is tuned on them.

func restPage(w *writer) {
	w.f("{\n  \"meta\": {\"page\": 3, \"per_page\": 500, \"next\": \"/v2/devices?cursor=%s\"},\n  \"data\": [", w.hex(24))
	for w.hasRoom() {
		s := w.story(goods, materials, wheres)
		serial, firmware := fmt.Sprintf("SN-%s-%05d", strings.ToUpper(w.hex(4)), w.num(1, 99_999)), fmt.Sprintf("%d.%d.%d-rc%d", w.num(1, 9), w.num(0, 40), w.num(0, 90), w.num(1, 40))
		owner, warranty := w.person(), w.date()
		mail := w.login(owner) + "@home.example"
		if w.count > 1 {
			w.f(",")
		}
		w.f(`
    {
      "id": "%s",
      "type": "devices",
      "attributes": {
        "display_name": "%s %s",
        "serial": "%s",
        "firmware": {"current": "%s", "channel": "%s"},
        "warranty_until": "%s",
        "notes": %s,
        "readings": [%d, %d, %d, %d]
      },
      "relationships": {
        "owner": {"data": {"type": "people", "name": "%s", "email": "%s"}},
        "site": {"data": {"type": "sites", "city": "%s", "street": "%s %d"}}
      }
    }`, w.hex(10), s.problem, s.subject, serial, firmware, w.pick([]string{"stable", "beta"}), warranty, quote(w.filler(w.num(0, 8))), w.num(1, 999), w.num(1, 999), w.num(1, 999), w.num(1, 999), owner, mail, w.pick(places), w.pick(familyNames), w.num(1, 200))
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("serial number of the %s|serial", about), serial)
		w.addFact(w.question("which firmware runs on the %s|firmware release", about), firmware)
		w.addFact(w.question("mail address of the owner of %s|who owns %s, contact", serial), mail)
		w.addFact(w.question("warranty end of device %s|until when is %s under warranty", serial), warranty)
	}
	w.f("\n  ]\n}\n")
}

func productsTSV(w *writer) {
	w.f("sku\tname\tmaterial\tcolour\tweight_g\tean\tstock\tsupplier\n")
	for w.hasRoom() {
		s := w.story(goods, materials, colors)
		sku, ean, weight, supplier := fmt.Sprintf("%s-%04d", strings.ToUpper(w.hex(3)), w.num(1, 9999)), fmt.Sprintf("40%011d", w.num(1, 99_999_999_999)), w.num(50, 30_000), w.pick(familyNames)+" & "+w.pick(familyNames)
		w.f("%s\t%s\t%s\t%s\t%d\t%s\t%d\t%s\n", sku, s.subject, s.problem, s.where, weight, ean, w.num(0, 999), supplier)
		about := s.whereQ + " " + s.subjectQ + " made of " + s.problemQ
		w.addFact(w.question("EAN of the %s|barcode number", about), ean)
		w.addFact(w.question("SKU|article number of the %s", about), sku)
		w.addFact(w.question("barcode of article %s|EAN for %s", sku), ean)
	}
}

func catalogHTML(w *writer) {
	w.f("<!doctype html><html><head><meta charset=utf-8><title>Catalog</title></head><body><header><a href=/>Home</a> <a href=/cart>Cart (0)</a></header><div class=\"grid\">\n")
	for w.hasRoom() {
		s := w.story(goods, materials, colors)
		price, id, delivery := fmt.Sprintf("%d.%02d", w.num(1000, 9999), w.num(0, 100)), w.num(100_000, 999_999), fmt.Sprintf("%d to %d days from %s", w.num(2, 9), w.num(10, 60), w.pick(places))
		w.f("<article class=\"card card--%s\" id=\"p%d\"><a href=\"/p/%d-%s\"><img src=\"/img/%s.webp\" loading=\"lazy\" width=\"320\" height=\"240\"></a>\n<h3>%s, %s</h3><p>%s</p><ul class=\"attr\"><li>Colour: %s</li><li>Rating: %.1f</li></ul>\n<div class=\"buy\"><strong>EUR %s</strong> <small>%s</small> <button data-id=\"%d\">Add</button></div></article>\n",
			w.pick([]string{"a", "b"}), id, id, strings.ReplaceAll(s.subject, " ", "-"), w.hex(16), capital(s.subject), s.problem, html.EscapeString(w.filler(w.num(1, 4))), s.where, float64(w.num(10, 50))/10, price, delivery, id)
		about := s.problemQ + " " + s.subjectQ + " " + s.whereQ
		w.addFact(w.question("price of the %s|how much does it cost", about), "EUR "+price)
	}
	w.f("</div></body></html>\n")
	w.text = w.String()
}

func settingsINI(w *writer) {
	w.f("; generated, do not edit\n\n")
	for w.hasRoom() {
		s := w.story(subjects, places2(), wheres)
		port, host := w.num(10_000, 65_000), fmt.Sprintf("%s-%02d.internal.example", w.hex(5), w.num(1, 99))
		w.f("[%s %s]\n; %s\nenabled = %s\nhost = %s\nport = %d\npool_size = %d\nsecret_ref = vault:%s\ntimeout_ms = %d\n\n", strings.ReplaceAll(s.subject, " ", "_"), s.problem, capital(s.where)+". "+w.filler(1), w.pick([]string{"yes", "no"}), host, port, w.num(1, 99), w.hex(16), w.num(100, 9999))
		about := s.subjectQ + " " + s.problem
		w.addFact(w.question("which port is set for %s|port number", about), fmt.Sprintf("port = %d", port))
		w.addFact(w.question("server name|host of %s", about), host)
		w.addFact(w.question("section that uses host %s|port of %s", host), fmt.Sprintf("port = %d", port))
	}
}

func journal(w *writer) {
	second := 0
	units := strings.Fields("sshd systemd cron kernel dockerd postfix/smtpd NetworkManager nginx")
	for w.hasRoom() {
		for range w.num(1, 15) {
			second += w.num(0, 9)
			w.f("May %02d %02d:%02d:%02d web-%02d %s[%d]: %s\n", 1+second/86400, second/3600%24, second/60%60, second%60, w.num(1, 9), w.pick(units), w.num(100, 40_000), w.filler(1))
		}
		s := w.story(subjects, problems, wheres)
		second += w.num(0, 5)
		device, code := fmt.Sprintf("dm-%s", w.hex(5)), w.num(100_000, 999_999)
		w.f("May %02d %02d:%02d:%02d web-%02d app-%s[%d]: %s: %s %s (device %s, error %d)\n", 1+second/86400, second/3600%24, second/60%60, second%60, w.num(1, 9), strings.ReplaceAll(s.subject, " ", "-"), w.num(100, 40_000), w.pick([]string{"ERR", "WARN", "CRIT"}), s.problem, s.where, device, code)
		w.addFact(w.question("error code when %s|error number", w.describe(s)), fmt.Sprint("error ", code))
		w.addFact(w.question("device involved when %s|device", w.describe(s)), device)
	}
}

func sqlTable(w *writer) {
	w.f(" %-8s | %-22s | %-26s | %-12s | %-10s | %-14s\n%s\n", "case_id", "customer", "topic", "city", "opened", "iban_tail", "----------+------------------------+----------------------------+--------------+------------+----------------")
	rows := 0
	for ; w.hasRoom(); rows++ {
		s := w.story(resources, actions, colors)
		id, who, tail := w.num(1_000_000, 9_999_999), w.person(), fmt.Sprintf("%s %04d", strings.ToUpper(w.hex(2)), w.num(1, 9999))
		w.f(" %-8d | %-22s | %-26s | %-12s | %-10s | %-14s\n", id, who, s.problem+" "+s.subject, w.pick(places), w.date(), tail)
		about := s.problemQ + " " + s.subjectQ + " for " + who
		w.addFact(w.question("case number|case id of the request to %s", about), fmt.Sprint(id))
		w.addFact(w.question("bank account ending of case %s|IBAN of %s", fmt.Sprint(id)), tail)
	}
	w.f("(%d rows)\n", rows)
}

func feedXML(w *writer) {
	w.f("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n<channel>\n<title>Status of all systems</title>\n<ttl>60</ttl>\n")
	for w.hasRoom() {
		s := w.story(subjects, problems, wheres)
		guid, author, ticket := w.hex(18), w.person(), fmt.Sprintf("INC%07d", w.num(1, 9_999_999))
		w.f("<item>\n<title>%s %s</title>\n<link>https://status.example/incident/%s</link>\n<dc:creator>%s</dc:creator>\n<pubDate>Tue, %02d May 2026 %s GMT</pubDate>\n<description><![CDATA[<p><strong>Resolved</strong> - %s</p><p>%s, %s</p><p>Internal reference %s.</p><p>%s</p>]]></description>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			html.EscapeString(capital(s.subject)), s.problem, guid, author, w.num(1, 29), w.clock(), w.filler(w.num(1, 6)), capital(s.where), w.filler(w.num(1, 5)), ticket, w.filler(w.num(0, 4)), guid)
		w.addFact(w.question("internal ticket for %s|incident reference", w.describe(s)), ticket)
		w.addFact(w.question("who wrote the status entry %s|author", w.describe(s)), author+"</dc:creator>")
	}
	w.f("</channel>\n</rss>\n")
	w.text = w.String()
}

func codeListing(w *writer) {
	w.f("package office\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n\n")
	for w.hasRoom() {
		s := w.story(resources, actions, wheres)
		name, limit, sentinel := camel(s.problem, s.subject), w.num(1000, 99_999), "err"+camel(s.subject)+capital(w.hex(4))
		w.f("// %s %ss one %s %s.\n// %s\nfunc %s(ctx context.Context, id string) (*%s, error) {\n\tconst most = %d\n\tif len(id) > most {\n\t\treturn nil, %s\n\t}\n", name, s.problem, s.subject, s.where, w.filler(w.num(1, 2)), name, camel(s.subject), limit, sentinel)
		for range w.num(1, 14) {
			w.f("\tif err := check%s(ctx, %d); err != nil {\n\t\treturn nil, fmt.Errorf(\"%s: %%w\", err)\n\t}\n", camel(w.pick(flat(resources))), w.num(1, 99), w.pick(flat(actions)))
		}
		w.f("\treturn find%s(ctx, id)\n}\n\n", camel(s.subject))
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("longest id in the function to %s|length limit of the id", about), fmt.Sprint("most = ", limit))
		w.addFact(w.question("error for a long id when we %s|error variable", about), "nil, "+sentinel)
	}
}

func chatExport(w *writer) {
	w.f("{\"channel\":\"#support\",\"messages\":[")
	for w.hasRoom() {
		for range w.num(0, 5) {
			if w.Len() > 0 && !strings.HasSuffix(w.String()[max(0, w.Len()-1):], "[") {
				w.f(",")
			}
			w.f(`{"type":"message","user":"U%s","ts":"17%08d.%06d","text":%s}`, strings.ToUpper(w.hex(6)), w.num(1, 99_999_999), w.num(1, 999_999), quote(w.filler(w.num(1, 3))))
		}
		s := w.story(subjects, problems, wheres)
		user, build := "U"+strings.ToUpper(w.hex(8)), fmt.Sprintf("build %d", w.num(100_000, 999_999))
		if !strings.HasSuffix(w.String()[max(0, w.Len()-1):], "[") {
			w.f(",")
		}
		w.f(`{"type":"message","user":"%s","ts":"17%08d.%06d","thread":{"replies":%d},"text":%s,"reactions":[{"name":"eyes","count":%d}]}`, user, w.num(1, 99_999_999), w.num(1, 999_999), w.num(0, 30),
			quote(fmt.Sprintf("Heads up: %s %s %s. %s Fixed in %s. %s", s.subject, s.problem, s.where, w.filler(w.num(0, 3)), build, w.filler(w.num(0, 2)))), w.num(1, 9))
		w.addFact(w.question("which build fixes %s|fixed in build", w.describe(s)), build)
		w.addFact(w.question("user who announced %s|user id", w.describe(s)), user)
	}
	w.f("]}")
}

func webSearch(w *writer) {
	for rank := 1; w.hasRoom(); rank++ {
		s := w.story(subjects, problems, wheres)
		votes, version := w.num(1000, 9999), fmt.Sprintf("%d.%d.%d", w.num(1, 20), w.num(0, 99), w.num(100, 999))
		w.f("%d. %s %s %s\n   https://forum.example/t/%s/%d\n   %s Upgrade to %s. %s (%d votes)\n\n", rank, capital(s.subject), s.problem, s.where, w.hex(8), w.num(1000, 99_999), w.filler(w.num(1, 3)), version, w.filler(w.num(0, 2)), votes)
		w.addFact(w.question("version that fixes %s|upgrade to which release", w.describe(s)), version)
		w.addFact(w.question("votes for the answer about %s|number of votes", w.describe(s)), fmt.Sprint(votes, " votes"))
	}
}

func terraformPlan(w *writer) {
	w.f("Terraform will perform the following actions:\n\n")
	for w.hasRoom() {
		s := w.story(subjects, places2(), wheres)
		name := strings.ToLower(strings.ReplaceAll(s.subject, " ", "_") + "_" + s.problem)
		kind, cidr, size := w.pick([]string{"aws_db_instance", "aws_security_group", "aws_instance", "aws_s3_bucket"}), fmt.Sprintf("10.%d.%d.0/%d", w.num(0, 255), w.num(0, 255), w.num(20, 29)), w.num(1000, 99_999)
		arn := "arn:aws:kms:eu-west-1:" + fmt.Sprint(w.num(1e11, 9e11)) + ":key/" + w.hex(12)
		w.f("  # %s.%s will be %s\n  %s resource \"%s\" \"%s\" {\n", kind, name, w.pick([]string{"created", "updated in-place", "destroyed"}), w.pick([]string{"+", "~", "-"}), kind, name)
		for _, attribute := range []string{"apply_immediately", "copy_tags_to_snapshot", "deletion_protection", "enabled", "multi_az", "publicly_accessible"} {
			w.f("      + %-24s = %s\n", attribute, w.pick([]string{"true", "false", "(known after apply)"}))
		}
		w.f("      + %-24s = %d\n      + %-24s = \"%s\"\n      + %-24s = \"%s\"\n      + tags                     = {\n          + \"Purpose\" = \"%s\"\n        }\n    }\n\n", "allocated_storage", size, "cidr_block", cidr, "kms_key_id", arn, s.where)
		about := s.subjectQ + " in " + s.problem
		w.addFact(w.question("KMS key of %s|encryption key", about), arn)
		w.addFact(w.question("address range for %s|cidr", about), cidr)
		w.addFact(w.question("storage size of %s|allocated storage", about), fmt.Sprintf("= %d", size))
	}
	w.f("Plan: 90 to add, 3 to change, 1 to destroy.\n")
}

func meetingNotes(w *writer) {
	for w.hasRoom() {
		s := w.story(topics, subjects, wheres)
		owner, due, sum := w.person(), w.date(), fmt.Sprintf("%d,%03d EUR", w.num(1, 900), w.num(0, 1000))
		w.f("%s\n%s\n\n%s\n\n%s We spoke about the %s %s. %s\n\nDecision: up to %s may be spent. %s takes care of it until %s.\n\n%s\n\n\n", strings.ToUpper(s.subject), strings.Repeat("=", len(s.subject)), wrap(w.filler(w.num(2, 8))), w.filler(1), s.problem, s.where, w.filler(w.num(1, 5)), sum, owner, due, wrap(w.filler(w.num(1, 5))))
		about := s.subjectQ + " " + s.problemQ
		w.addFact(w.question("how much may be spent according to %s|approved amount", about), sum)
		w.addFact(w.question("deadline of the decision in %s|due date", about), due)
	}
}

func invoicesXML(w *writer) {
	w.f("<?xml version=\"1.0\"?><Invoices xmlns=\"urn:example:invoice\">")
	for w.hasRoom() {
		s := w.story(goods, materials, colors)
		number, buyer, total, reference := fmt.Sprintf("R-%07d", w.num(1, 9_999_999)), w.person(), fmt.Sprintf("%d.%02d", w.num(10_000, 99_999), w.num(0, 100)), "RF"+fmt.Sprint(w.num(10_000_000, 99_999_999))
		w.f("<Invoice><ID>%s</ID><IssueDate>%s</IssueDate><Buyer><Party><Name>%s</Name><Address><CityName>%s</CityName><StreetName>%s %d</StreetName></Address></Party></Buyer><Lines><Line><Item><Description>%s %s (%s)</Description></Item><Quantity unitCode=\"C62\">%d</Quantity></Line></Lines><Note>%s</Note><PaymentMeans><PaymentID>%s</PaymentID></PaymentMeans><PayableAmount currencyID=\"EUR\">%s</PayableAmount></Invoice>",
			number, w.date(), buyer, w.pick(places), w.pick(familyNames), w.num(1, 99), s.where, s.subject, s.problem, w.num(1, 50), w.filler(w.num(0, 4)), reference, total)
		about := s.whereQ + " " + s.subjectQ + " " + s.problemQ + " for " + buyer
		w.addFact(w.question("payment reference for the %s|payment id", about), reference)
		w.addFact(w.question("amount to pay for %s|total amount", about), ">"+total+"<")
		w.addFact(w.question("payable amount of invoice %s|total of %s", number), ">"+total+"<")
	}
	w.f("</Invoices>")
	w.text = w.String()
}

func wikiChinese(w *writer) {
	w.f("# 运维手册\n\n")
	for w.hasRoom() {
		s := w.story(zhSubjects, zhProblems, zhWheres)
		value, phone, owner := w.num(1000, 99_999), fmt.Sprintf("1%010d", w.num(3_000_000_000, 9_999_999_999)), w.pick(zhNames)
		filler := func(most int) (text string) {
			for range w.num(1, most) {
				text += w.pick(zhFiller)
			}
			return text
		}
		w.f("## %s%s\n\n%s，%s\n\n%s建议将超时设为 %d 毫秒。%s\n\n值班电话：%s（%s）\n\n", s.subject, s.problem, s.where, filler(6), filler(5), value, filler(8), phone, owner)
		about := s.subjectQ + s.problemQ
		w.addFact(w.question("%s时超时应设为多少|%s 超时 设置", about), fmt.Sprint(value, " 毫秒"))
		w.addFact(w.question("%s找谁，电话是多少|%s 值班电话", about), phone)
	}
}
