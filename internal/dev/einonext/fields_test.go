// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einonext_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
)

// New fields in the Config types of Eino's next version are in ours or listed in docs/migrating.md.
//
//claim:eino-06
func TestConfig_NextEinoFieldsExistOrAreListed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/migrating.md")
	require.NoError(t, err)
	for name, pair := range map[string][2]any{
		"toolsearch":            {einosearch.Config{}, toolsearch.Config{}},
		"reduction":             {einoreduction.Config{}, reduction.Config{}},
		"reduction, for a tool": {einoreduction.ToolReductionConfig{}, reduction.ToolReductionConfig{}},
	} {
		theirs, ours := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		require.Positive(t, theirs.NumField())
		for _, f := range reflect.VisibleFields(theirs) {
			mine, has := ours.FieldByName(f.Name)
			if !has {
				require.Contains(t, string(page), "`"+f.Name+"`", "%s.Config of the next Eino has a new field: add it, or list it under \"Upgrading Eino\"", name)
				t.Logf("new in %s: %s %s", name, f.Name, f.Type)
				continue
			}
			require.Equal(t, kindOf(f.Type), kindOf(mine.Type), "%s.%s", name, f.Name)
		}
	}
}

// kindOf is what a type is, without the names of the packages that it is from.
func kindOf(t reflect.Type) string {
	return strings.Join([]string{t.Kind().String(), t.Name()}, " ")
}
