// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package vault keeps content in stores. It is all that package reduction knows of a
// Backend, and it trusts none: a Backend may fail, hang, panic or store only a part.
//
// No content is written over another one. A store that can be read says what a name
// holds; content whose name holds something else goes under a name with a hash of the
// content. In a store that can only write, every name has this hash, so there is nothing
// to know about what other middlewares, processes or machines have written.
package vault
