// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"context"
	"fmt"
	"time"

	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

// The interpreter in a configuration, with a limit of its own, and one program by hand.
func ExampleNew() {
	config := programs.Config{Interpreter: javascript.New(javascript.Limits{Time: 5 * time.Second})}

	run, err := config.Interpreter.Start(context.Background(), programs.Program{Code: `console.log([1, 2, 3].map(n => n * n).join(" "))`})
	if err != nil {
		panic(err)
	}
	defer run.Close()
	fmt.Println(run.State().Printed)
	// Output: 1 4 9
}
