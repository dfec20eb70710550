// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// How long a call takes, and what a person is asked in it, whatever the server asks.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// pestering is a server whose tool asks something as often as it is told to. An old one asks while
// the call waits, and is then silent for an hour, unless between is negative.
func pestering(old bool, times int, question *mcp.ElicitParams, between time.Duration) *fixture {
	f := asking(old)
	f.server.AddTool(&mcp.Tool{Name: "pester", InputSchema: object("")}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		actions := map[string]int{}
		wait := func(d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}
		if !old {
			if wait(between); len(r.Params.InputResponses) < times {
				requests := mcp.InputRequestMap{}
				for n := range times {
					requests[fmt.Sprint(n)] = question
				}
				return &mcp.CallToolResult{InputRequests: requests}, nil
			}
		}
		for n := 0; old && n < times && ctx.Err() == nil; n++ {
			answer, err := r.Session.Elicit(ctx, question)
			if err != nil {
				return nil, err
			}
			actions[answer.Action]++
			wait(between)
		}
		f.mu.Lock()
		f.calls = append(f.calls, fmt.Sprint(actions))
		f.mu.Unlock()
		if old && between >= 0 {
			wait(time.Hour)
		}
		return text("awake"), nil
	})
	return f
}

// A call ends in its time, however many questions there are, and whether somebody answers them.
func TestClock_QuestionsDoNotRemoveTheLimit(t *testing.T) {
	for _, answered := range []bool{false, true} {
		for _, times := range []int{1, 3, 40} {
			synctest.Test(t, func(t *testing.T) {
				server := pestering(true, times, &mcp.ElicitParams{Message: "go on?"}, 900*time.Millisecond).inMemory()
				server.Timeout = time.Second
				o, asked := Options{}, 0
				if answered {
					o.Elicit = func(context.Context, Question) (Answer, error) {
						asked++
						time.Sleep(time.Minute) // a person's own time
						return Answer{}, nil
					}
				}
				s := open(t, map[string]Server{"srv": server}, o)
				began := time.Now()
				require.Contains(t, ask(t, ctx, s, "srv__pester", `{}`), "did not answer")
				took := time.Since(began) - time.Duration(asked)*time.Minute
				require.LessOrEqual(t, took, 10*time.Second, "%d questions", times)
				if !answered {
					require.LessOrEqual(t, took, time.Second, "a question that nobody is asked gives no time")
				} else {
					require.Equal(t, min(times, maxQuestions), asked)
				}
			})
		}
	}
}

// Of a server that waits as the protocol says, a call has one time for all its rounds.
func TestClock_QuestionRoundsShareOneLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, rounds := newFixture(), atomic.Int32{}
		f.server.AddTool(&mcp.Tool{Name: "slow", InputSchema: object("")}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			rounds.Add(1)
			time.Sleep(80 * time.Millisecond)
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "go on?"}}}, nil
		})
		server := f.inMemory()
		server.Timeout = 100 * time.Millisecond
		s := open(t, map[string]Server{"srv": server}, Options{Elicit: func(context.Context, Question) (Answer, error) { return Answer{}, nil }})
		r := find(t, ctx, s, "srv__slow").(*textTool)
		clock := newClock(server.Timeout, 830*time.Millisecond) // of a second in all
		for _, c := range []struct {
			took time.Duration
			said string
		}{{80 * time.Millisecond, ""}, {80 * time.Millisecond, ""}, {10 * time.Millisecond, "did not answer"}} {
			began := time.Now()
			result, answer, err := r.attempt(ctx, s.linkIf("", "srv"), []byte(`{}`), &pendingCall{}, clock)
			require.NoError(t, err)
			require.Equal(t, c.said == "", result != nil && result.needsInput())
			require.Contains(t, answer, c.said, "most of the time was spent before")
			require.Equal(t, c.took, time.Since(began))
		}
		require.EqualValues(t, 3, rounds.Load())
		time.Sleep(time.Second) // the server's last round ends
	})
}

// A person is asked ten times in one call, whichever way the server asks.
func TestElicit_AsksTenTimesAtMost(t *testing.T) {
	const times = 50
	for old, said := range map[bool]string{true: "did not answer", false: "asks 50 questions"} {
		synctest.Test(t, func(t *testing.T) {
			f, asked := pestering(old, times, &mcp.ElicitParams{Message: "go on?"}, 0), 0
			s := open(t, map[string]Server{"srv": f.inMemory()}, Options{Elicit: func(context.Context, Question) (Answer, error) { asked++; return Answer{}, nil }})
			require.Contains(t, ask(t, ctx, s, "srv__pester", `{}`), said) // the old one is silent in the end
			if old {
				require.Equal(t, maxQuestions, asked)
				synctest.Wait()
				require.Equal(t, []string{"map[accept:10 decline:40]"}, f.calls)
			} else {
				require.Zero(t, asked)
			}
		})
	}
}

func TestQuestion_OnlyShortTextsAndWebPagesPass(t *testing.T) {
	race.Skip(t, "reads long questions")
	questions := map[*mcp.ElicitParams]bool{
		{Mode: "url", Message: "m", URL: "https://example.com/x?y"}:                                                 true,
		{Mode: "url", Message: "m", URL: "HTTP://example.com"}:                                                      true,
		{Mode: "url", Message: "m", URL: "javascript:alert(1)"}:                                                     false,
		{Mode: "url", Message: "m", URL: " javascript:alert(1)"}:                                                    false,
		{Mode: "url", Message: "m", URL: "file:///etc/passwd"}:                                                      false,
		{Mode: "url", Message: "m", URL: "https:///x"}:                                                              false,
		{Mode: "url", Message: "m", URL: "//example.com"}:                                                           false,
		{Mode: "url", Message: "m", URL: "vscode://x/y"}:                                                            false,
		{Message: strings.Repeat("x", 900<<10)}:                                                                     true,
		{Message: strings.Repeat("x", 8<<20)}:                                                                       false,
		{Message: "m", RequestedSchema: schemaOf(`{"type":"object","title":"` + strings.Repeat("x", 2<<20) + `"}`)}: false,
	}
	for question, fits := range questions {
		for _, old := range []bool{true, false} {
			for _, byAsk := range []bool{false, true} {
				if old && byAsk {
					continue // there is nobody to ask
				}
				asked := 0
				o := Options{Ask: byAsk, Elicit: func(_ context.Context, q Question) (Answer, error) { asked++; return Answer{Action: "decline"}, nil }}
				f := pestering(old, 1, question, -1)
				server := f.inMemory()
				if !old {
					server = stateless(t, f)
				}
				server.Timeout = time.Minute
				s := open(t, map[string]Server{"srv": server}, o)
				_, answer, err := find(t, ctx, s, "srv__pester").(*textTool).call(ctx, `{}`)
				what := fmt.Sprintf("%.40q %.40q, old %v, ask %v: %s %v", question.URL, question.Message, old, byAsk, answer, err)
				if byAsk {
					require.Equal(t, fits, err != nil, what)
					continue
				}
				require.Equal(t, fits, asked == 1, what)
				if !old && !fits {
					require.Contains(t, answer, "cannot be answered", what)
				}
			}
		}
	}
}

// Whatever happens to it, a clock ends after its time, less what it stood still.
func TestClock_EndsInTime(t *testing.T) {
	for range race.Cases(300) {
		synctest.Test(t, func(t *testing.T) {
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 0))
			const limit = 100 * time.Millisecond
			c := newClock(limit, 0)
			end := make(chan struct{})
			stop := c.start(func() { close(end) })
			began, still, silent := time.Now(), time.Duration(0), time.Duration(0)
			for {
				d := time.Duration(r.IntN(60)) * time.Millisecond
				select {
				case <-end:
				case <-time.After(d + 1):
					silent += d + 1
					switch r.IntN(3) {
					case 0:
						c.extend()
						silent = 0
					case 1:
						resume, ok := c.pause()
						if !ok { // the time ended at the same moment
							<-end
							continue
						}
						_, again := c.pause()
						require.False(t, again, seed)
						time.Sleep(d)
						still, silent = still+d, 0
						resume()
					}
					require.LessOrEqual(t, silent, limit, seed)
					continue
				}
				break
			}
			took := time.Since(began) - still
			require.LessOrEqual(t, took, maxTimeouts*limit, seed)
			require.GreaterOrEqual(t, took, limit, seed)
			stop()
			require.Equal(t, took, c.elapsed(), seed)
			_, ok := c.pause()
			require.False(t, ok, "it has ended")
		})
	}
}

// An error of Elicit accepts nothing, whatever answer stands beside it.
func TestElicit_ErrorAcceptsNothing(t *testing.T) {
	for _, old := range []bool{true, false} {
		server := asking(true).inMemory()
		if !old {
			server = stateless(t, asking(false))
		}
		s := open(t, map[string]Server{"srv": server}, Options{Elicit: func(context.Context, Question) (Answer, error) {
			return Answer{Action: "accept", Content: map[string]any{"colour": "red"}}, errors.New("the person left")
		}})
		require.Equal(t, "cancel <nil> {}", ask(t, ctx, s, "srv__paint", `{}`), "old: %v", old)
	}
}
