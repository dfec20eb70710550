// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package together holds no code: its tests run the two middlewares in one agent.
package together
