// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package proctest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestCommand_RunsTestInAnotherProcess(t *testing.T) {
	if name := Case(); name != "" {
		fmt.Println("case", name, "of", os.Getppid())
		if name == "fails" {
			t.Fatal("as it should")
		}
		return
	}
	for name, fails := range map[string]bool{"passes": false, "fails": true} {
		t.Run(name, func(t *testing.T) {
			out, err := Command(t, name).CombinedOutput()
			if want := fmt.Sprintln("case", name, "of", os.Getpid()); !strings.Contains(string(out), want) || (err != nil) != fails {
				t.Errorf("%v, want %q in\n%s", err, want, out)
			}
		})
	}
}

// failure is a test that notes that it failed.
type failure struct {
	testing.TB
	failed bool
}

func (f *failure) Fatalf(string, ...any) { f.failed = true }

func TestAlone_FailsWithItsProcess(t *testing.T) {
	f := &failure{TB: t}
	if Alone(f) {
		t.Fatal("as it should")
	}
	if !f.failed {
		t.Error("the failure of the process is lost")
	}
}

func TestAlone_IsTrueOnlyInItsProcess(t *testing.T) {
	if alone := Alone(t); alone != (Case() != "") {
		t.Errorf("alone: %v, in the case %q", alone, Case())
	}
}
