// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of web addresses.

import (
	"fmt"
	"net/url"
	"path"
	"sort"
	"strings"
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
		if _, err := parseURL(u.String()); err != nil {
			return "", err
		}
		return u.String(), nil
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
		query := in.URL.Query()
		for name := range query {
			lower := strings.ToLower(name)
			if strings.HasPrefix(lower, "utm_") || strings.Contains(" gclid fbclid msclkid dclid mc_cid mc_eid igshid yclid _hsenc _hsmi spm ref_src ", " "+lower+" ") {
				query.Del(name)
			}
		}
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
