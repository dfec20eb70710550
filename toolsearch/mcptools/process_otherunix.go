// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && !linux

package mcptools

// For systems that do not end a program with the one that started it.

import "syscall"

func endWithParent(*syscall.SysProcAttr) {}
