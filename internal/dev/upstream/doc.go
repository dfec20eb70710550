// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package upstream shows what internal/dev/UPSTREAM.md says of Eino, against Eino alone: this
// module requires no other module of this repository. Each test fails on the day that
// Eino, or its Claude adapter, has mended the fault, and its section can go.
package upstream
