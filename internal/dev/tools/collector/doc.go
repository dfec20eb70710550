// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package collector holds tests that send what package windowotel reports to the OTLP
// receiver of an OpenTelemetry collector, and through a whole one.
package collector
