// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Configuration files and tool schemas as other programs write them: see testdata/corpus/README.md.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wantConfig is what must come of a configuration file.
type wantConfig struct {
	FileError   string                `json:"file_error"`
	FileErrorOr *string               `json:"file_error_or"`
	Servers     map[string]wantServer `json:"servers"`
}

type wantServer struct {
	Starts          bool              `json:"starts"`
	LeftOut         bool              `json:"left_out"`
	ErrorContains   *string           `json:"error_contains"`
	ErrorOmits      []string          `json:"error_omits"`
	WarningContains []string          `json:"warning_contains"`
	Quiet           []string          `json:"quiet"`
	Tools           *wantTools        `json:"tools"`
	Transport       string            `json:"transport"`
	Command         *string           `json:"command"`
	Args            *[]string         `json:"args"`
	URL             *string           `json:"url"`
	Headers         map[string]string `json:"headers"`
	Timeout         *float64          `json:"timeout_seconds"`
	Env             map[string]string `json:"env"`
	EnvAbsent       []string          `json:"env_absent"`
	Or              []json.RawMessage `json:"or"`
}

type wantTools struct{ Include, Exclude []string }

func TestReadConfig_Corpus(t *testing.T) {
	for _, c := range corpusConfigs(t) {
		t.Run(c.name, func(t *testing.T) {
			servers, err := ReadConfig(c.file)
			if c.want.FileError != "" {
				require.ErrorContains(t, err, strings.Trim(c.want.FileError, "*"))
				return
			}
			if err != nil && c.want.FileErrorOr != nil {
				require.Contains(t, strings.ToLower(err.Error()), strings.ToLower(*c.want.FileErrorOr))
				return
			}
			require.NoError(t, err)
			for name, w := range c.want.Servers {
				if strings.Contains(c.file, "env-bad-name") {
					w.ErrorContains = nil // NAME=VALUE in place of a name is not quoted: it may be a secret
				}
				_, differs := w.outcome(t, servers, name)
				require.NoError(t, differs, "server %q", name)
			}
		})
	}
}

// corpusConfig is a configuration file of the corpus.
type corpusConfig struct {
	name, file string
	want       wantConfig
}

// corpusConfigs are all configuration files of the corpus. It sets the variables that they use.
func corpusConfigs(t *testing.T) (all []corpusConfig) {
	t.Helper()
	t.Setenv("CORPUS_TOKEN", "alpha")
	t.Setenv("CORPUS_PORT", "8123")
	t.Setenv("CORPUS_EMPTY", "")
	t.Setenv("CORPUS_NESTED", "${CORPUS_TOKEN}")
	t.Setenv("CORPUS_UNSET", "")
	require.NoError(t, os.Unsetenv("CORPUS_UNSET"))
	wants, err := filepath.Glob("testdata/corpus/configs/*.want.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(wants), 100)
	for _, path := range wants {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		base := strings.TrimSuffix(path, ".want.json")
		c := corpusConfig{name: filepath.Base(base), file: base + ".json"}
		require.NoError(t, json.Unmarshal(text, &c.want))
		if _, err := os.Stat(c.file); err != nil {
			c.file += "c"
		}
		all = append(all, c)
	}
	return all
}

// outcome returns which of the outcomes that are as good has come of a server, and what is different if none has.
func (w wantServer) outcome(t *testing.T, servers map[string]Server, name string) (wantServer, error) {
	t.Helper()
	differs := w.differs(servers, name)
	if differs == nil {
		return w, nil
	}
	for _, or := range w.Or {
		other := w
		require.NoError(t, json.Unmarshal(or, &other))
		otherDiffers := other.differs(servers, name)
		if otherDiffers == nil {
			return other, nil
		}
		differs = errors.Join(differs, otherDiffers)
	}
	return w, differs
}

// differs says what is different from what must come of a server; nil for nothing.
func (w wantServer) differs(servers map[string]Server, name string) error {
	s, ok := servers[name]
	starts := ok && !s.Disabled && s.problem == nil
	if starts != w.Starts {
		return fmt.Errorf("starts: %v, because of: %v", starts, s.problem)
	}
	if !starts {
		return w.reasonDiffers(s)
	}
	warnings := strings.ToLower(strings.Join(s.warnings, "\n"))
	for _, text := range w.WarningContains {
		if !strings.Contains(warnings, strings.ToLower(text)) {
			return fmt.Errorf("no warning about %s in %q", text, warnings)
		}
	}
	for _, text := range w.Quiet {
		if strings.Contains(warnings, strings.ToLower(text)) {
			return fmt.Errorf("a warning about %s in %q", text, warnings)
		}
	}
	if err := w.toolsDiffer(s); err != nil {
		return err
	}
	return w.wayDiffers(s)
}

func (w wantServer) reasonDiffers(s Server) error {
	reason := ""
	if s.problem != nil {
		reason = s.problem.Error()
	}
	if w.LeftOut && s.problem != nil {
		return fmt.Errorf("it has the error %w", s.problem)
	}
	if w.ErrorContains != nil && (s.problem == nil || !strings.Contains(strings.ToLower(reason), strings.ToLower(*w.ErrorContains))) {
		return fmt.Errorf("the reason %q does not contain %q", reason, *w.ErrorContains)
	}
	for _, text := range w.ErrorOmits {
		if strings.Contains(reason, text) {
			return fmt.Errorf("the reason %q contains %q", reason, text)
		}
	}
	return nil
}

// toolsDiffer compares which of some tools are offered.
func (w wantServer) toolsDiffer(s Server) error {
	if w.Tools == nil {
		return nil
	}
	open := Server{Include: w.Tools.Include, Exclude: w.Tools.Exclude}
	none := w.Tools.Include != nil && len(w.Tools.Include) == 0
	for _, pattern := range slices.Concat(w.Tools.Include, w.Tools.Exclude, s.Include, s.Exclude, []string{"other"}) {
		for _, tool := range []string{pattern, strings.TrimSuffix(pattern, "*") + "x"} {
			if offered := open.offers(tool) && !none; s.offers(tool) != offered {
				return fmt.Errorf("the tool %s is offered: %v", tool, !offered)
			}
		}
	}
	return nil
}

// wayDiffers compares how the server is reached.
func (w wantServer) wayDiffers(s Server) error {
	transport := s.Type
	if transport == "" {
		transport = map[bool]string{true: "http", false: "stdio"}[s.URL != ""]
	}
	if w.Transport != "" && w.Transport != transport {
		return fmt.Errorf("the transport is %s", transport)
	}
	if w.Command != nil && !isLike(*w.Command, s.Command) || w.URL != nil && !isLike(*w.URL, s.URL) {
		return fmt.Errorf("the command is %q, and the url %q", s.Command, s.URL)
	}
	if w.Args != nil && !slices.EqualFunc(*w.Args, s.Args, isLike) {
		return fmt.Errorf("the arguments are %q", s.Args)
	}
	for name, value := range w.Headers {
		if s.Headers[name] != value {
			return fmt.Errorf("the header %s is %q", name, s.Headers[name])
		}
	}
	for name, value := range w.Env {
		if s.Env[name] != value {
			return fmt.Errorf("the variable %s is %q", name, s.Env[name])
		}
	}
	for _, name := range w.EnvAbsent {
		if _, ok := s.Env[name]; ok {
			return fmt.Errorf("the variable %s is set", name)
		}
	}
	if timeout := (&link{server: s}).timeout(); w.Timeout != nil && *w.Timeout != timeout.Seconds() {
		return fmt.Errorf("the timeout is %v", timeout)
	}
	return nil
}

// isLike reports whether a text is another, in which <<any>> stands for any text.
func isLike(pattern, text string) bool {
	parts := strings.Split(pattern, "<<any>>")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(text)
}
