// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of web and network addresses. It opens no connection.

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go4.org/netipx"
)

var urlServer = group{"url", "Web addresses", []maker{
	define("url__parse", "Takes a URL apart into scheme, user, host, port, path, query and fragment.", func(in urlIn) (string, error) {
		u := in.URL
		out := []string{"scheme: " + u.Scheme, "host: " + u.Hostname()}
		for _, part := range [][2]string{{"port", u.Port()}, {"user", u.User.Username()}, {"path", u.Path}, {"query", u.RawQuery}, {"fragment", u.Fragment}} {
			if part[1] != "" {
				out = append(out, part[0]+": "+part[1])
			}
		}
		return strings.Join(out, "\n"), nil
	}),
	define("url__build", "Builds a URL from scheme, host, path and query parameters.", func(in struct {
		Scheme string            `json:"scheme,omitempty" jsonschema:"default=https" jsonschema_description:"The scheme, such as https"`
		Host   string            `json:"host" jsonschema_description:"The host name, with a port if needed"`
		Path   string            `json:"path,omitempty" jsonschema_description:"The path"`
		Query  map[string]string `json:"query,omitempty" jsonschema_description:"The query parameters by name"`
	}) (string, error) {
		values := url.Values{}
		for k, v := range in.Query {
			values.Set(k, v)
		}
		u := url.URL{Scheme: in.Scheme, Host: in.Host, Path: in.Path, RawQuery: values.Encode()}
		if u.Path != "" && !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
		_, err := parseURL(u.String())
		return u.String(), err
	}),
	define("url__query_get", "Reads one query parameter, or all of them, from a URL.", func(in struct {
		urlIn
		Name string `json:"name,omitempty" jsonschema_description:"The parameter's name; all parameters if left out"`
	}) (string, error) {
		query := in.URL.Query()
		if in.Name != "" {
			if !query.Has(in.Name) {
				return "", fmt.Errorf("the URL has no query parameter %q", in.Name)
			}
			return strings.Join(query[in.Name], "\n"), nil
		}
		var out []string
		for name, values := range query {
			out = append(out, name+"="+strings.Join(values, ", "))
		}
		sort.Strings(out)
		return listed(out, "the URL has no query parameters"), nil
	}),
	define("url__query_set", "Adds a query parameter to a URL, or replaces or removes it.", func(in struct {
		urlIn
		Name  string `json:"name" jsonschema_description:"The parameter's name"`
		Value string `json:"value,omitempty" jsonschema_description:"The parameter's value; empty removes the parameter"`
	}) (string, error) {
		query := in.URL.Query()
		query.Set(in.Name, in.Value)
		if in.Value == "" {
			query.Del(in.Name)
		}
		in.URL.RawQuery = query.Encode()
		return in.URL.String(), nil
	}),
	define("url__resolve", "Resolves a relative link against a base URL.", func(in struct {
		Base webURL `json:"base" jsonschema_description:"The URL of the page that holds the link"`
		Link string `json:"link" jsonschema_description:"The link, such as ../images/a.png"`
	}) (string, error) {
		link, err := url.Parse(in.Link)
		if err != nil {
			return "", fmt.Errorf("%q is not a link", in.Link)
		}
		return in.Base.ResolveReference(link).String(), nil
	}),
	define("url__normalize", "Normalises a URL: small letters in scheme and host, no default port, clean path, sorted query.",
		func(in urlIn) (string, error) { return in.URL.normal(), nil }),
	define("url__remove_tracking", "Removes tracking parameters such as utm_source, gclid and fbclid from a URL.", func(in urlIn) (string, error) {
		const known = " gclid fbclid msclkid dclid mc_cid mc_eid igshid yclid _hsenc _hsmi spm ref_src "
		query := in.URL.Query()
		maps.DeleteFunc(query, func(name string, _ []string) bool {
			lower := strings.ToLower(name)
			return strings.HasPrefix(lower, "utm_") || strings.Contains(known, " "+lower+" ")
		})
		in.URL.RawQuery = query.Encode()
		return in.URL.String(), nil
	}),
	define("url__domain", "Takes the host name out of a URL or e-mail address and lists its labels.", func(in struct {
		Address string `json:"address" jsonschema_description:"A URL or an e-mail address"`
	}) (string, error) {
		host := in.Address
		if u, err := parseURL(in.Address); err == nil {
			host = u.Hostname()
		} else if _, after, ok := strings.Cut(in.Address, "@"); ok {
			host = after
		}
		host = strings.ToLower(strings.Trim(strings.TrimSpace(host), "."))
		if host == "" || strings.ContainsAny(host, "/ @:") || len(host) > 253 {
			return "", fmt.Errorf("%q has no host name", in.Address)
		}
		labels := strings.Split(host, ".")
		return fmt.Sprintf("host: %s\ntop level: %s\nlabels: %s", host, labels[len(labels)-1], strings.Join(labels, ", ")), nil
	}),
	define("url__compare", "Says whether two URLs point to the same place once they are normalised.", func(in struct {
		First  webURL `json:"first" jsonschema_description:"The first URL"`
		Second webURL `json:"second" jsonschema_description:"The second URL"`
	}) (string, error) {
		first, second := in.First.normal(), in.Second.normal()
		return either(first == second, "the same: "+first, fmt.Sprintf("different: %s and %s", first, second)), nil
	}),
}}

type urlIn struct {
	URL webURL `json:"url" jsonschema_description:"The full URL, such as https://example.org/a?b=c"`
}

// webURL is an argument that is a full URL.
type webURL struct {
	written
	*url.URL
}

// UnmarshalJSON reads the URL.
func (u *webURL) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &u.written, &u.URL, parseURL)
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme == "" || u.Host == "" {
		return nil, fmt.Errorf("%q is not a full URL such as https://example.org/path", text)
	}
	return u, nil
}

func (u webURL) normal() string {
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if (u.Scheme == "http" && u.Port() == "80") || (u.Scheme == "https" && u.Port() == "443") {
		u.Host = u.Host[:strings.LastIndexByte(u.Host, ':')]
	}
	slash := strings.HasSuffix(u.Path, "/")
	u.Path = path.Clean("/" + u.Path)
	if slash && u.Path != "/" {
		u.Path += "/"
	}
	u.RawPath = ""
	u.RawQuery = u.Query().Encode()
	return u.String()
}

var networkServer = group{"network", "Network addresses, offline", []maker{
	define("network__parse_ip", "Describes an IP address: version, scope (private, loopback, multicast, public), long and short form.",
		func(in ipIn) (string, error) {
			ip := in.IP
			version := either(ip.Unmap().Is4(), "IPv4", "IPv6")
			scope := cmp.Or(
				either(ip.IsUnspecified(), "unspecified", ""),
				either(ip.IsLoopback(), "loopback", ""),
				either(ip.IsPrivate(), "private", ""),
				either(ip.IsLinkLocalUnicast(), "link-local", ""),
				either(ip.IsMulticast(), "multicast", ""),
				"public")
			return fmt.Sprintf("version: %s\nscope: %s\nshort: %s\nlong: %s", version, scope, ip.Addr, ip.StringExpanded()), nil
		}),
	define("network__cidr_info", "Describes a network in CIDR notation: range, mask, broadcast address and number of hosts.",
		func(in networkIn) (string, error) {
			p := in.Network
			size := new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
			out := fmt.Sprintf("network: %s\nfirst: %s\nlast: %s\naddresses: %s", p.Prefix, p.Addr(), netipx.PrefixLastIP(p.Prefix), size)
			if p.Addr().Is4() {
				hosts := size.Int64() - either[int64](p.Bits() < 31, 2, 0)
				out += fmt.Sprintf("\nmask: %s\nusable hosts: %d", net.IP(net.CIDRMask(p.Bits(), 32)), hosts)
			}
			return out, nil
		}),
	define("network__cidr_contains", "Says whether a network in CIDR notation contains an IP address.", func(in struct {
		networkIn
		ipIn
	}) (string, error) {
		answer := either(in.Network.Contains(in.IP.Addr), "yes, %s is in %s", "no, %s is not in %s")
		return fmt.Sprintf(answer, in.IP.Addr, in.Network.Prefix), nil
	}),
	define("network__cidr_overlap", "Says whether two networks in CIDR notation overlap.", func(in struct {
		First  network `json:"first" jsonschema_description:"The first network in CIDR notation"`
		Second network `json:"second" jsonschema_description:"The second network in CIDR notation"`
	}) (string, error) {
		return either(in.First.Overlaps(in.Second.Prefix), "yes, they overlap", "no, they do not overlap"), nil
	}),
	define("network__split_subnets", "Splits a network into equal subnets of a longer prefix.", func(in struct {
		networkIn
		Prefix int `json:"prefix" jsonschema:"minimum=0,maximum=128" jsonschema_description:"The prefix length of the subnets, such as 26"`
	}) (string, error) {
		p := in.Network.Prefix
		more := in.Prefix - p.Bits()
		if more < 0 || more > 10 || in.Prefix > p.Addr().BitLen() {
			return "", fmt.Errorf("the prefix must be from %d to %d for %s", p.Bits(), min(p.Bits()+10, p.Addr().BitLen()), p)
		}
		var out []string
		for sub := netip.PrefixFrom(p.Addr(), in.Prefix); len(out) < 1<<more; sub = netip.PrefixFrom(netipx.PrefixLastIP(sub).Next(), in.Prefix) {
			out = append(out, sub.String())
		}
		return strings.Join(out, "\n"), nil
	}),
	define("network__range_to_cidrs", "Covers a range of IPv4 addresses with the fewest CIDR networks.", func(in struct {
		Start ip `json:"start" jsonschema_description:"The first IPv4 address"`
		End   ip `json:"end" jsonschema_description:"The last IPv4 address"`
	}) (string, error) {
		start, end := in.Start.Addr, in.End.Addr
		if !start.Is4() || !end.Is4() || end.Less(start) {
			return "", fmt.Errorf("the range must go from a lower to a higher IPv4 address")
		}
		return joined(netipx.IPRangeFrom(start, end).Prefixes(), "\n", func(p netip.Prefix) string { return p.String() }), nil
	}),
	define("network__ip_to_integer", "Turns an IP address into an integer.",
		func(in ipIn) (string, error) { return new(big.Int).SetBytes(in.IP.AsSlice()).String(), nil }),
	define("network__integer_to_ip", "Turns an integer into an IPv4 address.", func(in struct {
		Integer int64 `json:"integer" jsonschema:"minimum=0,maximum=4294967295" jsonschema_description:"The integer, from 0 to 4294967295"`
	}) (string, error) {
		return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(in.Integer)))).String(), nil
	}),
	define("network__reverse_dns_name", "Writes the name under which an IP address is looked up in reverse DNS (PTR record).",
		func(in ipIn) (string, error) {
			ip := in.IP.Unmap()
			if ip.Is4() {
				b := ip.As4()
				return fmt.Sprintf("%d.%d.%d.%d.in-addr.arpa", b[3], b[2], b[1], b[0]), nil
			}
			digits := strings.Split(reversed(strings.ReplaceAll(ip.StringExpanded(), ":", "")), "")
			return strings.Join(digits, ".") + ".ip6.arpa", nil
		}),
	define("network__mask_to_prefix", "Turns an IPv4 network mask into a prefix length, with its wildcard mask.", func(in struct {
		Mask string `json:"mask" jsonschema_description:"The network mask, such as 255.255.255.0"`
	}) (string, error) {
		ip, err := parseIP(in.Mask)
		if err != nil || !ip.Is4() {
			return "", fmt.Errorf("%q is not an IPv4 mask such as 255.255.255.0", in.Mask)
		}
		mask := net.IPMask(ip.AsSlice())
		ones, bits := mask.Size()
		if bits == 0 {
			return "", fmt.Errorf("%s is not a network mask: its ones are not all in front", in.Mask)
		}
		return fmt.Sprintf("/%d, wildcard mask %d.%d.%d.%d", ones, ^mask[0], ^mask[1], ^mask[2], ^mask[3]), nil
	}),
	define("network__parse_mac", "Checks a MAC address and writes it in the common notations.", func(in struct {
		MAC string `json:"mac" jsonschema_description:"The MAC address, such as 00:1A:2B:3C:4D:5E"`
	}) (string, error) {
		mac, err := net.ParseMAC(strings.TrimSpace(in.MAC))
		if err != nil || len(mac) != 6 {
			return "", fmt.Errorf("%q is not a MAC address such as 00:1A:2B:3C:4D:5E", in.MAC)
		}
		kind := either(mac[0]&2 != 0, "locally administered", "globally unique")
		cast := either(mac[0]&1 != 0, "multicast", "unicast")
		return fmt.Sprintf("%s\n%s\n%x.%x.%x\n%s, %s", mac, strings.ToUpper(strings.ReplaceAll(mac.String(), ":", "-")), []byte(mac[:2]), []byte(mac[2:4]), []byte(mac[4:]), kind, cast), nil
	}),
	define("network__parse_email", "Takes an e-mail address apart into display name, mailbox and domain, and checks its form.", func(in struct {
		Email string `json:"email" jsonschema_description:"The e-mail address, with a display name or without"`
	}) (string, error) {
		a, err := mail.ParseAddress(in.Email)
		if err != nil {
			return "", fmt.Errorf("%q is not an e-mail address: %s", in.Email, strings.TrimPrefix(err.Error(), "mail: "))
		}
		at := strings.LastIndexByte(a.Address, '@')
		return fmt.Sprintf("name: %s\nmailbox: %s\ndomain: %s", a.Name, a.Address[:at], a.Address[at+1:]), nil
	}),
	define("network__port_service", "Names the service of a well-known TCP or UDP port, or the port of a service.", func(in struct {
		Service string `json:"service" jsonschema_description:"A port number such as 443, or a service name such as https"`
	}) (string, error) {
		key := strings.ToLower(strings.TrimSpace(in.Service))
		if port, ok := services[key]; ok {
			return key + " uses port " + port, nil
		}
		if n, err := strconv.Atoi(key); err != nil || n < 0 || n > 65535 {
			return "", fmt.Errorf("%q is neither a port from 0 to 65535 nor a service that is known here", in.Service)
		}
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(services)), func(name string) bool { return services[name] != key })
		return "port " + key + either(len(names) == 0, " has no well-known service here", " is used by "+strings.Join(names, ", ")), nil
	}),
}}

type ipIn struct {
	IP ip `json:"ip" jsonschema_description:"The IP address, such as 192.168.1.10 or 2001:db8::1"`
}

// ip is an argument that is an IP address.
type ip struct {
	written
	netip.Addr
}

// UnmarshalJSON reads the address.
func (a *ip) UnmarshalJSON(sent []byte) error { return decodeText(sent, &a.written, &a.Addr, parseIP) }

func parseIP(text string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%q is not an IP address such as 192.168.1.10 or 2001:db8::1", text)
	}
	return ip, nil
}

type networkIn struct {
	Network network `json:"network" jsonschema_description:"The network in CIDR notation, such as 10.0.0.0/8"`
}

// network is an argument that is a network in CIDR notation.
type network struct {
	written
	netip.Prefix
}

// UnmarshalJSON reads the network.
func (n *network) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &n.written, &n.Prefix, parseNetwork)
}

func parseNetwork(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(strings.TrimSpace(text))
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a network in CIDR notation such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

var services = pairs(`ftp=21 ssh=22 telnet=23 smtp=25 dns=53 dhcp=67 tftp=69 http=80 kerberos=88 pop3=110 ntp=123 imap=143 snmp=161 bgp=179 ldap=389
https=443 smb=445 smtps=465 syslog=514 submission=587 ldaps=636 imaps=993 pop3s=995 socks=1080 mqtt=1883 nfs=2049 zookeeper=2181 etcd=2379 mysql=3306
rdp=3389 sip=5060 postgresql=5432 amqp=5672 vnc=5900 redis=6379 kubernetes=6443 cassandra=9042 kafka=9092 prometheus=9090 elasticsearch=9200 memcached=11211 mongodb=27017`)
