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
	w.printf("{\n  \"meta\": {\"page\": 3, \"per_page\": 500, \"next\": \"/v2/devices?cursor=%s\"},\n  \"data\": [", w.hex(24))
	for w.startRecord() {
		s := w.story(goods, materials, wheres)
		serial, firmware := fmt.Sprintf("SN-%s-%05d", strings.ToUpper(w.hex(4)), w.number(1, 99_999)), fmt.Sprintf("%d.%d.%d-rc%d", w.number(1, 9), w.number(0, 40), w.number(0, 90), w.number(1, 40))
		owner, warranty := w.person(), w.date()
		mail := w.login(owner) + "@home.example"
		if w.count > 1 {
			w.printf(",")
		}
		w.printf(`
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
    }`, w.hex(10), s.problem, s.subject, serial, firmware, w.pick([]string{"stable", "beta"}), warranty, quote(w.filler(w.number(0, 8))), w.number(1, 999), w.number(1, 999), w.number(1, 999), w.number(1, 999), owner, mail, w.pick(places), w.pick(familyNames), w.number(1, 200))
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("serial number of the %s|serial", about), serial)
		w.addFact(w.question("which firmware runs on the %s|firmware release", about), firmware)
		w.addFact(w.question("mail address of the owner of %s|who owns %s, contact", serial), mail)
		w.addFact(w.question("warranty end of device %s|until when is %s under warranty", serial), warranty)
	}
	w.printf("\n  ]\n}\n")
}

func productsTSV(w *writer) {
	w.printf("sku\tname\tmaterial\tcolour\tweight_g\tean\tstock\tsupplier\n")
	for w.startRecord() {
		s := w.story(goods, materials, colors)
		sku, ean, weight, supplier := fmt.Sprintf("%s-%04d", strings.ToUpper(w.hex(3)), w.number(1, 9999)), fmt.Sprintf("40%011d", w.number(1, 99_999_999_999)), w.number(50, 30_000), w.pick(familyNames)+" & "+w.pick(familyNames)
		w.printf("%s\t%s\t%s\t%s\t%d\t%s\t%d\t%s\n", sku, s.subject, s.problem, s.place, weight, ean, w.number(0, 999), supplier)
		about := s.placeQ + " " + s.subjectQ + " made of " + s.problemQ
		w.addFact(w.question("EAN of the %s|barcode number", about), ean)
		w.addFact(w.question("SKU|article number of the %s", about), sku)
		w.addFact(w.question("barcode of article %s|EAN for %s", sku), ean)
	}
}

func catalogHTML(w *writer) {
	w.printf("<!doctype html><html><head><meta charset=utf-8><title>Catalog</title></head><body><header><a href=/>Home</a> <a href=/cart>Cart (0)</a></header><div class=\"grid\">\n")
	for w.startRecord() {
		s := w.story(goods, materials, colors)
		price, id, delivery := fmt.Sprintf("%d.%02d", w.number(1000, 9999), w.number(0, 100)), w.number(100_000, 999_999), fmt.Sprintf("%d to %d days from %s", w.number(2, 9), w.number(10, 60), w.pick(places))
		w.printf("<article class=\"card card--%s\" id=\"p%d\"><a href=\"/p/%d-%s\"><img src=\"/img/%s.webp\" loading=\"lazy\" width=\"320\" height=\"240\"></a>\n<h3>%s, %s</h3><p>%s</p><ul class=\"attr\"><li>Colour: %s</li><li>Rating: %.1f</li></ul>\n<div class=\"buy\"><strong>EUR %s</strong> <small>%s</small> <button data-id=\"%d\">Add</button></div></article>\n",
			w.pick([]string{"a", "b"}), id, id, strings.ReplaceAll(s.subject, " ", "-"), w.hex(16), capital(s.subject), s.problem, html.EscapeString(w.filler(w.number(1, 4))), s.place, float64(w.number(10, 50))/10, price, delivery, id)
		about := s.problemQ + " " + s.subjectQ + " " + s.placeQ
		w.addFact(w.question("price of the %s|how much does it cost", about), "EUR "+price)
	}
	w.printf("</div></body></html>\n")
	w.text = w.String()
}

func settingsINI(w *writer) {
	w.printf("; generated, do not edit\n\n")
	for w.startRecord() {
		s := w.story(subjects, places2(), wheres)
		port, host := w.number(10_000, 65_000), fmt.Sprintf("%s-%02d.internal.example", w.hex(5), w.number(1, 99))
		w.printf("[%s %s]\n; %s\nenabled = %s\nhost = %s\nport = %d\npool_size = %d\nsecret_ref = vault:%s\ntimeout_ms = %d\n\n", strings.ReplaceAll(s.subject, " ", "_"), s.problem, capital(s.place)+". "+w.filler(1), w.pick([]string{"yes", "no"}), host, port, w.number(1, 99), w.hex(16), w.number(100, 9999))
		about := s.subjectQ + " " + s.problem
		w.addFact(w.question("which port is set for %s|port number", about), fmt.Sprintf("port = %d", port))
		w.addFact(w.question("server name|host of %s", about), host)
		w.addFact(w.question("section that uses host %s|port of %s", host), fmt.Sprintf("port = %d", port))
	}
}

func journal(w *writer) {
	second := 0
	units := strings.Fields("sshd systemd cron kernel dockerd postfix/smtpd NetworkManager nginx")
	for w.startRecord() {
		for range w.number(1, 15) {
			second += w.number(0, 9)
			w.printf("May %02d %02d:%02d:%02d web-%02d %s[%d]: %s\n", 1+second/86400, second/3600%24, second/60%60, second%60, w.number(1, 9), w.pick(units), w.number(100, 40_000), w.filler(1))
		}
		s := w.story(subjects, problems, wheres)
		second += w.number(0, 5)
		device, code := fmt.Sprintf("dm-%s", w.hex(5)), w.number(100_000, 999_999)
		w.printf("May %02d %02d:%02d:%02d web-%02d app-%s[%d]: %s: %s %s (device %s, error %d)\n", 1+second/86400, second/3600%24, second/60%60, second%60, w.number(1, 9), strings.ReplaceAll(s.subject, " ", "-"), w.number(100, 40_000), w.pick([]string{"ERR", "WARN", "CRIT"}), s.problem, s.place, device, code)
		w.addFact(w.question("error code when %s|error number", w.describe(s)), fmt.Sprint("error ", code))
		w.addFact(w.question("device involved when %s|device", w.describe(s)), device)
	}
}

func sqlTable(w *writer) {
	w.printf(" %-8s | %-22s | %-26s | %-12s | %-10s | %-14s\n%s\n", "case_id", "customer", "topic", "city", "opened", "iban_tail", "----------+------------------------+----------------------------+--------------+------------+----------------")
	rows := 0
	for ; w.startRecord(); rows++ {
		s := w.story(resources, actions, colors)
		id, who, tail := w.number(1_000_000, 9_999_999), w.person(), fmt.Sprintf("%s %04d", strings.ToUpper(w.hex(2)), w.number(1, 9999))
		w.printf(" %-8d | %-22s | %-26s | %-12s | %-10s | %-14s\n", id, who, s.problem+" "+s.subject, w.pick(places), w.date(), tail)
		about := s.problemQ + " " + s.subjectQ + " for " + who
		w.addFact(w.question("case number|case id of the request to %s", about), fmt.Sprint(id))
		w.addFact(w.question("bank account ending of case %s|IBAN of %s", fmt.Sprint(id)), tail)
	}
	w.printf("(%d rows)\n", rows)
}

func feedXML(w *writer) {
	w.printf("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\n<channel>\n<title>Status of all systems</title>\n<ttl>60</ttl>\n")
	for w.startRecord() {
		s := w.story(subjects, problems, wheres)
		guid, author, ticket := w.hex(18), w.person(), fmt.Sprintf("INC%07d", w.number(1, 9_999_999))
		w.printf("<item>\n<title>%s %s</title>\n<link>https://status.example/incident/%s</link>\n<dc:creator>%s</dc:creator>\n<pubDate>Tue, %02d May 2026 %s GMT</pubDate>\n<description><![CDATA[<p><strong>Resolved</strong> - %s</p><p>%s, %s</p><p>Internal reference %s.</p><p>%s</p>]]></description>\n<guid isPermaLink=\"false\">%s</guid>\n</item>\n",
			html.EscapeString(capital(s.subject)), s.problem, guid, author, w.number(1, 29), w.clock(), w.filler(w.number(1, 6)), capital(s.place), w.filler(w.number(1, 5)), ticket, w.filler(w.number(0, 4)), guid)
		w.addFact(w.question("internal ticket for %s|incident reference", w.describe(s)), ticket)
		w.addFact(w.question("who wrote the status entry %s|author", w.describe(s)), author+"</dc:creator>")
	}
	w.printf("</channel>\n</rss>\n")
	w.text = w.String()
}

func codeListing(w *writer) {
	w.printf("package office\n\nimport (\n\t\"context\"\n\t\"fmt\"\n)\n\n")
	for w.startRecord() {
		s := w.story(resources, actions, wheres)
		name, limit, sentinel := camel(s.problem, s.subject), w.number(1000, 99_999), "err"+camel(s.subject)+capital(w.hex(4))
		w.printf("// %s %ss one %s %s.\n// %s\nfunc %s(ctx context.Context, id string) (*%s, error) {\n\tconst most = %d\n\tif len(id) > most {\n\t\treturn nil, %s\n\t}\n", name, s.problem, s.subject, s.place, w.filler(w.number(1, 2)), name, camel(s.subject), limit, sentinel)
		for range w.number(1, 14) {
			w.printf("\tif err := check%s(ctx, %d); err != nil {\n\t\treturn nil, fmt.Errorf(\"%s: %%w\", err)\n\t}\n", camel(w.pick(flat(resources))), w.number(1, 99), w.pick(flat(actions)))
		}
		w.printf("\treturn find%s(ctx, id)\n}\n\n", camel(s.subject))
		about := s.problemQ + " " + s.subjectQ
		w.addFact(w.question("longest id in the function to %s|length limit of the id", about), fmt.Sprint("most = ", limit))
		w.addFact(w.question("error for a long id when we %s|error variable", about), "nil, "+sentinel)
	}
}

func chatExport(w *writer) {
	w.printf("{\"channel\":\"#support\",\"messages\":[")
	for w.startRecord() {
		for range w.number(0, 5) {
			if w.Len() > 0 && !strings.HasSuffix(w.String()[max(0, w.Len()-1):], "[") {
				w.printf(",")
			}
			w.printf(`{"type":"message","user":"U%s","ts":"17%08d.%06d","text":%s}`, strings.ToUpper(w.hex(6)), w.number(1, 99_999_999), w.number(1, 999_999), quote(w.filler(w.number(1, 3))))
		}
		s := w.story(subjects, problems, wheres)
		user, build := "U"+strings.ToUpper(w.hex(8)), fmt.Sprintf("build %d", w.number(100_000, 999_999))
		if !strings.HasSuffix(w.String()[max(0, w.Len()-1):], "[") {
			w.printf(",")
		}
		w.printf(`{"type":"message","user":"%s","ts":"17%08d.%06d","thread":{"replies":%d},"text":%s,"reactions":[{"name":"eyes","count":%d}]}`, user, w.number(1, 99_999_999), w.number(1, 999_999), w.number(0, 30),
			quote(fmt.Sprintf("Heads up: %s %s %s. %s Fixed in %s. %s", s.subject, s.problem, s.place, w.filler(w.number(0, 3)), build, w.filler(w.number(0, 2)))), w.number(1, 9))
		w.addFact(w.question("which build fixes %s|fixed in build", w.describe(s)), build)
		w.addFact(w.question("user who announced %s|user id", w.describe(s)), user)
	}
	w.printf("]}")
}

func webSearch(w *writer) {
	for rank := 1; w.startRecord(); rank++ {
		s := w.story(subjects, problems, wheres)
		votes, version := w.number(1000, 9999), fmt.Sprintf("%d.%d.%d", w.number(1, 20), w.number(0, 99), w.number(100, 999))
		w.printf("%d. %s %s %s\n   https://forum.example/t/%s/%d\n   %s Upgrade to %s. %s (%d votes)\n\n", rank, capital(s.subject), s.problem, s.place, w.hex(8), w.number(1000, 99_999), w.filler(w.number(1, 3)), version, w.filler(w.number(0, 2)), votes)
		w.addFact(w.question("version that fixes %s|upgrade to which release", w.describe(s)), version)
		w.addFact(w.question("votes for the answer about %s|number of votes", w.describe(s)), fmt.Sprint(votes, " votes"))
	}
}

func terraformPlan(w *writer) {
	w.printf("Terraform will perform the following actions:\n\n")
	for w.startRecord() {
		s := w.story(subjects, places2(), wheres)
		name := strings.ToLower(strings.ReplaceAll(s.subject, " ", "_") + "_" + s.problem)
		kind, cidr, size := w.pick([]string{"aws_db_instance", "aws_security_group", "aws_instance", "aws_s3_bucket"}), fmt.Sprintf("10.%d.%d.0/%d", w.number(0, 255), w.number(0, 255), w.number(20, 29)), w.number(1000, 99_999)
		arn := "arn:aws:kms:eu-west-1:" + fmt.Sprint(w.number(1e11, 9e11)) + ":key/" + w.hex(12)
		w.printf("  # %s.%s will be %s\n  %s resource \"%s\" \"%s\" {\n", kind, name, w.pick([]string{"created", "updated in-place", "destroyed"}), w.pick([]string{"+", "~", "-"}), kind, name)
		for _, attribute := range []string{"apply_immediately", "copy_tags_to_snapshot", "deletion_protection", "enabled", "multi_az", "publicly_accessible"} {
			w.printf("      + %-24s = %s\n", attribute, w.pick([]string{"true", "false", "(known after apply)"}))
		}
		w.printf("      + %-24s = %d\n      + %-24s = \"%s\"\n      + %-24s = \"%s\"\n      + tags                     = {\n          + \"Purpose\" = \"%s\"\n        }\n    }\n\n", "allocated_storage", size, "cidr_block", cidr, "kms_key_id", arn, s.place)
		about := s.subjectQ + " in " + s.problem
		w.addFact(w.question("KMS key of %s|encryption key", about), arn)
		w.addFact(w.question("address range for %s|cidr", about), cidr)
		w.addFact(w.question("storage size of %s|allocated storage", about), fmt.Sprintf("= %d", size))
	}
	w.printf("Plan: 90 to add, 3 to change, 1 to destroy.\n")
}

func meetingNotes(w *writer) {
	for w.startRecord() {
		s := w.story(topics, subjects, wheres)
		owner, due, sum := w.person(), w.date(), fmt.Sprintf("%d,%03d EUR", w.number(1, 900), w.number(0, 1000))
		w.printf("%s\n%s\n\n%s\n\n%s We spoke about the %s %s. %s\n\nDecision: up to %s may be spent. %s takes care of it until %s.\n\n%s\n\n\n", strings.ToUpper(s.subject), strings.Repeat("=", len(s.subject)), wrap(w.filler(w.number(2, 8))), w.filler(1), s.problem, s.place, w.filler(w.number(1, 5)), sum, owner, due, wrap(w.filler(w.number(1, 5))))
		about := s.subjectQ + " " + s.problemQ
		w.addFact(w.question("how much may be spent according to %s|approved amount", about), sum)
		w.addFact(w.question("deadline of the decision in %s|due date", about), due)
	}
}

func invoicesXML(w *writer) {
	w.printf("<?xml version=\"1.0\"?><Invoices xmlns=\"urn:example:invoice\">")
	for w.startRecord() {
		s := w.story(goods, materials, colors)
		number, buyer, total, reference := fmt.Sprintf("R-%07d", w.number(1, 9_999_999)), w.person(), fmt.Sprintf("%d.%02d", w.number(10_000, 99_999), w.number(0, 100)), "RF"+fmt.Sprint(w.number(10_000_000, 99_999_999))
		w.printf("<Invoice><ID>%s</ID><IssueDate>%s</IssueDate><Buyer><Party><Name>%s</Name><Address><CityName>%s</CityName><StreetName>%s %d</StreetName></Address></Party></Buyer><Lines><Line><Item><Description>%s %s (%s)</Description></Item><Quantity unitCode=\"C62\">%d</Quantity></Line></Lines><Note>%s</Note><PaymentMeans><PaymentID>%s</PaymentID></PaymentMeans><PayableAmount currencyID=\"EUR\">%s</PayableAmount></Invoice>",
			number, w.date(), buyer, w.pick(places), w.pick(familyNames), w.number(1, 99), s.place, s.subject, s.problem, w.number(1, 50), w.filler(w.number(0, 4)), reference, total)
		about := s.placeQ + " " + s.subjectQ + " " + s.problemQ + " for " + buyer
		w.addFact(w.question("payment reference for the %s|payment id", about), reference)
		w.addFact(w.question("amount to pay for %s|total amount", about), ">"+total+"<")
		w.addFact(w.question("payable amount of invoice %s|total of %s", number), ">"+total+"<")
	}
	w.printf("</Invoices>")
	w.text = w.String()
}

func wikiChinese(w *writer) {
	w.printf("# 运维手册\n\n")
	for w.startRecord() {
		s := w.story(zhSubjects, zhProblems, zhWheres)
		value, phone, owner := w.number(1000, 99_999), fmt.Sprintf("1%010d", w.number(3_000_000_000, 9_999_999_999)), w.pick(zhNames)
		filler := func(most int) (text string) {
			for range w.number(1, most) {
				text += w.pick(zhFiller)
			}
			return text
		}
		w.printf("## %s%s\n\n%s，%s\n\n%s建议将超时设为 %d 毫秒。%s\n\n值班电话：%s（%s）\n\n", s.subject, s.problem, s.place, filler(6), filler(5), value, filler(8), phone, owner)
		about := s.subjectQ + s.problemQ
		w.addFact(w.question("%s时超时应设为多少|%s 超时 设置", about), fmt.Sprint(value, " 毫秒"))
		w.addFact(w.question("%s找谁，电话是多少|%s 值班电话", about), phone)
	}
}
