// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package collector holds a test that sends what package leanctxotel reports to the OTLP
// receiver of an OpenTelemetry collector.
package collector
