// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokencount

// mediaTokens is the price of an image, audio, a video or a file of any size: about what common providers charge
// for an image of 1,000 by 1,000 pixels. The length of the data says nothing about it.
const mediaTokens = 1600

// OfMedia is the price of a number of media, in tokens.
func OfMedia(count int) int { return count * mediaTokens }

// MediaWithin is how many media have at most so many tokens.
func MediaWithin(tokens int) int { return tokens / mediaTokens }
