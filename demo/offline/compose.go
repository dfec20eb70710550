// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"fmt"
	"slices"
	"strings"
)

// compose answers with the results of the steps, and names those that failed.
func (s *situation) compose() string {
	if len(s.steps) == 0 {
		return localize(s.request, "What can I do for you?", "有什么可以帮您？")
	}
	steps := slices.DeleteFunc(slices.Clone(s.steps), func(p *progress) bool { return p.looked })
	var lines []string
	for _, p := range steps {
		line := s.outcome(p)
		if len(steps) > 1 {
			line = fmt.Sprintf("%d. %s", p.index+1, line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func (s *situation) outcome(p *progress) string {
	switch {
	case p.done:
		return strings.Trim(p.result, "\n")
	case len(p.calls) > 0:
		return fmt.Sprintf(localize(p.text, "I could not do that (%s): %s", "没有办成（%s）：%s"), p.text, p.calls[len(p.calls)-1].result)
	}
	if p.index > 0 && p.refers && s.steps[p.index-1].failed {
		return fmt.Sprintf(localize(p.text, "I could not do that without the step before: %s", "前一步没有办成，这一步也就没法做：%s"), p.text)
	}
	return fmt.Sprintf(localize(p.text, "I have no tool for this: %s", "我没有能做这件事的工具：%s"), p.text)
}

// localize selects the language of the request.
func localize(request, english, chinese string) string {
	if isHan(request) {
		return chinese
	}
	return english
}
