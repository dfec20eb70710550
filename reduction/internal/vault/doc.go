// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package vault keeps content in stores. It is all that package reduction knows of a
// Backend, and it trusts none: a Backend may fail, hang, panic or store only a part.
//
// No content is written over another one. What a name holds is known from the store,
// where that can be read, and else from what this process has claimed: a name is
// claimed before anything is written under it, by the path in the innermost store,
// and every middleware of the process that uses that store sees the claim. Content
// whose name holds something else goes under a name with a suffix.
package vault
