// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/redact"
	"github.com/einolean/einolean/internal/warn"
)

// kindConfig is the message of a warning about a server in a configuration file.
const kindConfig = "mcp_config"

// configWarning describes a problem with a server in a configuration file.
type configWarning struct{ server, text string }

// LogValue names the server, and what is wrong.
func (w configWarning) LogValue() slog.Value {
	return slog.GroupValue(slog.String("server", w.server), slog.String("error", strings.ReplaceAll(w.text, "\n", "; ")))
}

// logConfig logs settings without effect, and servers that cannot start.
func logConfig(ctx context.Context, servers map[string]Server) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		texts := slices.Clone(server.warnings)
		if server.problem != nil {
			texts = append([]string{"not started: " + server.problem.Error()}, texts...)
		}
		if len(texts) > 0 {
			shown := redact.Text(name)
			warn.Send(ctx, slog.LevelWarn, kindConfig+": "+shown, configWarning{shown, strings.Join(texts, "; ")})
		}
	}
}

// kindConnecting is the message of a warning about servers that Open did not wait for.
const kindConnecting = "mcp_connecting"

// logConnecting logs which servers are not connected when Open returns.
func (s *Servers) logConnecting(ctx context.Context) {
	var names []string
	for _, st := range s.Status() {
		if st.State == StateConnecting {
			names = append(names, redact.Text(st.Server))
		}
	}
	if len(names) > 0 {
		warn.Send(ctx, slog.LevelWarn, kindConnecting, configWarning{strings.Join(names, ", "), "still connecting: Wait waits for it"})
	}
}
