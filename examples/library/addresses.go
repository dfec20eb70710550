// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds the server of networks' tools for MAC and e-mail addresses and ports.

import (
	"fmt"
	"net"
	"net/mail"
	"sort"
	"strconv"
	"strings"
)

type macIn struct {
	MAC string `json:"mac" jsonschema_description:"The MAC address, such as 00:1A:2B:3C:4D:5E"`
}

func netMAC(in macIn) (string, error) {
	mac, err := net.ParseMAC(strings.TrimSpace(in.MAC))
	if err != nil || len(mac) != 6 {
		return "", fmt.Errorf("%q is not a MAC address such as 00:1A:2B:3C:4D:5E", in.MAC)
	}
	kind := "globally unique"
	if mac[0]&2 != 0 {
		kind = "locally administered"
	}
	cast := "unicast"
	if mac[0]&1 != 0 {
		cast = "multicast"
	}
	return fmt.Sprintf("%s\n%s\n%x.%x.%x\n%s, %s", mac, strings.ToUpper(strings.ReplaceAll(mac.String(), ":", "-")), []byte(mac[:2]), []byte(mac[2:4]), []byte(mac[4:]), kind, cast), nil
}

type emailIn struct {
	Email string `json:"email" jsonschema_description:"The e-mail address, with a display name or without"`
}

func netEmail(in emailIn) (string, error) {
	a, err := mail.ParseAddress(in.Email)
	if err != nil {
		return "", fmt.Errorf("%q is not an e-mail address: %s", in.Email, strings.TrimPrefix(err.Error(), "mail: "))
	}
	at := strings.LastIndexByte(a.Address, '@')
	return fmt.Sprintf("name: %s\nmailbox: %s\ndomain: %s", a.Name, a.Address[:at], a.Address[at+1:]), nil
}

var services = pairs(`ftp=21 ssh=22 telnet=23 smtp=25 dns=53 dhcp=67 tftp=69 http=80 kerberos=88 pop3=110 ntp=123 imap=143 snmp=161 bgp=179 ldap=389
https=443 smb=445 smtps=465 syslog=514 submission=587 ldaps=636 imaps=993 pop3s=995 socks=1080 mqtt=1883 nfs=2049 zookeeper=2181 etcd=2379 mysql=3306
rdp=3389 sip=5060 postgresql=5432 amqp=5672 vnc=5900 redis=6379 kubernetes=6443 cassandra=9042 kafka=9092 prometheus=9090 elasticsearch=9200 memcached=11211 mongodb=27017`)

type serviceIn struct {
	Service string `json:"service" jsonschema_description:"A port number such as 443, or a service name such as https"`
}

func netPort(in serviceIn) (string, error) {
	key := strings.ToLower(strings.TrimSpace(in.Service))
	if port, ok := services[key]; ok {
		return key + " uses port " + port, nil
	}
	if n, err := strconv.Atoi(key); err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is neither a port from 0 to 65535 nor a service that is known here", in.Service)
	}
	var names []string
	for name, port := range services {
		if port == key {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	if len(names) == 0 {
		return "port " + key + " has no well-known service here", nil
	}
	return "port " + key + " is used by " + strings.Join(names, ", "), nil
}
