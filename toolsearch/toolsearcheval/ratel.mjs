// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Ranks tools with Ratel, for ratel_test.go. Each line of the input is a request in JSON and gets one line of output:
// {"tools": [...]} makes a catalog, with the next number from 0; {"catalog": 0, "query": "...", "limit": 10} searches it.

import { createInterface } from "node:readline";
import { ToolRegistry } from "@ratel-ai/sdk";

const catalogs = [];

async function answer({ tools, catalog, query, limit }) {
  if (query !== undefined) {
    return catalogs[catalog].search(query, limit);
  }
  const registry = new ToolRegistry();
  for (const tool of tools) {
    await registry.register(tool);
  }
  catalogs.push(registry);
  return [];
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + "\n");
}
