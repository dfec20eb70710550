// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package inspect_test

// This file opens the page in a real browser, where there is one.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/window/inspect"
)

// browser is the first of the names that Chromium goes by.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is here: the page was not opened in a browser")
	return ""
}

// open loads a page and returns what the browser made of it, and what it wrote.
func open(t *testing.T, file string, arguments ...string) (dom, messages string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	all := append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run", "--enable-logging=stderr", "--log-level=0",
		"--user-data-dir=" + t.TempDir(), "--virtual-time-budget=2000"}, arguments...)
	command := exec.CommandContext(ctx, browser(t), append(all, "file://"+file)...)
	var out, err strings.Builder
	command.Stdout, command.Stderr = &out, &err
	require.NoError(t, command.Run())
	for _, line := range strings.Split(err.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			messages += line + "\n"
		}
	}
	return out.String(), messages
}

func TestInABrowserThePageDrawsAndNothingHostileRuns(t *testing.T) {
	browser(t)
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, inspect.WriteFile(file, recorded(12, hostile)))
	dom, messages := open(t, file, "--dump-dom")
	require.Empty(t, messages, "no message in the console")
	require.False(t, strings.Contains(dom, "<title>owned"))
	require.Equal(t, 12, strings.Count(dom, `role="option"`), "a bar for each call")
	require.True(t, strings.Contains(dom, "Without leanctx it would have sent"))
	require.False(t, strings.Contains(dom, "<img"))
}

func TestInABrowserFiveHundredCallsOpen(t *testing.T) {
	browser(t)
	file := filepath.Join(t.TempDir(), "page.html")
	c := recorded(500, []string{"files__read"})
	for id := range c.Texts {
		c.Texts[id] = strings.Repeat("A text of ten kilobytes. ", 400)
	}
	require.NoError(t, inspect.WriteFile(file, c))
	dom, messages := open(t, file, "--dump-dom")
	require.Empty(t, messages)
	require.Equal(t, 500, strings.Count(dom, `role="option"`))
}

// TestScreenshots writes pictures for people to look at into the directory that
// LEANCTX_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("LEANCTX_SCREENSHOTS")
	if dir == "" {
		t.Skip("LEANCTX_SCREENSHOTS names no directory")
	}
	file := filepath.Join(dir, "page.html")
	require.NoError(t, inspect.WriteFile(file, recorded(28, []string{"Read the file stock.txt. How many are left?", "files__read", "units__convert_length"})))
	for name, size := range map[string]string{"wide": "1280,1500", "phone": "390,1400"} {
		open(t, file, "--screenshot="+filepath.Join(dir, name+".png"), "--window-size="+size, "--hide-scrollbars")
	}
}
