// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import "github.com/cloudwego/eino/schema"

type (
	message        = *schema.Message
	agenticMessage = *schema.AgenticMessage
	schemaInfo     = schema.ToolInfo
)
