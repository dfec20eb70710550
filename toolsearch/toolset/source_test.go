// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolset

// Sources: whose tools they return, and what stays when one fails.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

type userKey struct{}

func asUser(name string) context.Context {
	return context.WithValue(context.Background(), userKey{}, name)
}

func userOf(ctx context.Context) (string, error) {
	name, ok := ctx.Value(userKey{}).(string)
	if !ok {
		return "", errors.New("nobody is signed in")
	}
	return name, nil
}

func namesOf(s *Set) []string {
	names := []string{}
	for e := range s.catalogSet().All() {
		names = append(names, e.Info.Name)
	}
	return names
}

// sourceFunc is a Source of somebody else's.
type sourceFunc func(context.Context) (*Set, error)

func (f sourceFunc) Tools(ctx context.Context) (*Set, error) { return f(ctx) }

func TestNewSource_SameListReturnsTheSameSet(t *testing.T) {
	tools := manyTools(3)
	s := NewSource(func(context.Context) ([]tool.BaseTool, error) { return tools, nil }, nil)
	one, err := s.Tools(context.Background())
	require.NoError(t, err)
	two, err := s.Tools(context.Background())
	require.NoError(t, err)
	require.Same(t, one, two)
	tools = append(tools, adktest.Comparable("more", nil))
	three, err := s.Tools(context.Background())
	require.NoError(t, err)
	require.Equal(t, append(namesOf(one), "more"), namesOf(three))
}

func TestNewSource_FailedListKeepsEachUsersLastSet(t *testing.T) {
	down := errors.New("down")
	var fail func() error
	s := NewSource(func(ctx context.Context) ([]tool.BaseTool, error) {
		if fail != nil {
			return nil, fail()
		}
		name, _ := userOf(ctx)
		return []tool.BaseTool{adktest.Comparable("of_"+name, nil)}, nil
	}, userOf)
	for _, name := range []string{"ann", "bob"} {
		set, err := s.Tools(asUser(name))
		require.NoError(t, err)
		require.Equal(t, []string{"of_" + name}, namesOf(set))
	}
	for what, f := range map[string]func() error{
		"an error": func() error { return down },
		"a panic":  func() error { panic(down) },
	} {
		fail = f
		set, err := s.Tools(asUser("ann"))
		require.ErrorContains(t, err, "down", what)
		require.Equal(t, []string{"of_ann"}, namesOf(set), what)
		set, err = s.Tools(asUser("eve"))
		require.Error(t, err, what)
		require.Empty(t, namesOf(set), what)
	}
}

func TestNewSource_WithoutKeyHasNoTools(t *testing.T) {
	list := func(context.Context) ([]tool.BaseTool, error) { return manyTools(3), nil }
	for what, s := range map[string]Source{
		"an error":         NewSource(list, userOf),
		"an empty key":     NewSource(list, func(context.Context) (string, error) { return "", nil }),
		"a panic":          NewSource(list, func(context.Context) (string, error) { panic("boom") }),
		"no list function": NewSource(nil, nil),
	} {
		set, err := s.Tools(context.Background())
		require.Error(t, err, what)
		require.Empty(t, namesOf(set), what)
	}
}

// The same set means that nothing has changed: a run keeps its catalog.
func TestNewSource_WithoutKeyReturnsTheSameSet(t *testing.T) {
	s := NewSource(func(context.Context) ([]tool.BaseTool, error) { return manyTools(3), nil }, userOf)
	one, err := s.Tools(context.Background())
	require.Error(t, err)
	two, err := s.Tools(context.Background())
	require.Error(t, err)
	require.NotNil(t, one) // nil would mean the tools that the run had
	require.Same(t, one, two)
}

func TestNewSource_InvalidToolsKeepTheLastSet(t *testing.T) {
	tools := manyTools(2)
	s := NewSource(func(context.Context) ([]tool.BaseTool, error) { return tools, nil }, nil)
	one, err := s.Tools(context.Background())
	require.NoError(t, err)
	tools = append(tools, nil, tools[0])
	two, err := s.Tools(context.Background())
	require.ErrorContains(t, err, "tools[2]")
	require.ErrorContains(t, err, "tools[3]")
	require.Same(t, one, two)
}

// A list that began earlier and ends later does not take the place of a newer one.
func TestNewSource_OlderListNeverReplacesNewerOne(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	var calls, fail atomic.Int64
	s := NewSource(func(context.Context) ([]tool.BaseTool, error) {
		if fail.Load() > 0 {
			return nil, errors.New("down")
		}
		if calls.Add(1) == 1 {
			close(begun)
			<-release
			return []tool.BaseTool{adktest.Comparable("old", nil)}, nil
		}
		return []tool.BaseTool{adktest.Comparable("new", nil)}, nil
	}, nil)
	slow := make(chan *Set)
	go func() {
		set, _ := s.Tools(context.Background())
		slow <- set
	}()
	<-begun
	set, err := s.Tools(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"new"}, namesOf(set))
	close(release)
	require.Equal(t, []string{"old"}, namesOf(<-slow))
	fail.Add(1)
	set, err = s.Tools(context.Background())
	require.Error(t, err)
	require.Equal(t, []string{"new"}, namesOf(set))
}

func TestNewSource_KeepsSetsOfBoundedUsers(t *testing.T) {
	s := NewSource(func(context.Context) ([]tool.BaseTool, error) { return nil, nil }, userOf).(*listSource)
	for i := range maxKeys + 50 {
		_, err := s.Tools(asUser(fmt.Sprint("user", i)))
		require.NoError(t, err)
		_, err = s.Tools(asUser("always"))
		require.NoError(t, err)
	}
	require.Equal(t, maxKeys, s.sets.Len())
	for name, kept := range map[string]bool{"always": true, fmt.Sprint("user", maxKeys+49): true, "user0": false} {
		_, ok := s.sets.Get(name)
		require.Equal(t, kept, ok, name)
	}
}

func TestMulti_ReturnsUnionOfSources(t *testing.T) {
	a, b := setOf(t, adktest.Comparable("a", nil)), setOf(t, adktest.Comparable("a", nil), adktest.Comparable("b", nil))
	s := Multi(a, nil, (*Set)(nil), b)
	one, err := s.Tools(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, namesOf(one))
	require.Same(t, a.catalogSet().Lookup("a"), one.catalogSet().Lookup("a"))
	two, err := s.Tools(context.Background())
	require.NoError(t, err)
	require.Same(t, one, two, "nothing changed")
	none, err := Multi().Tools(context.Background())
	require.NoError(t, err)
	require.Empty(t, namesOf(none))
}

// inARun is the context of a run.
func inARun(ctx context.Context) context.Context { return (&runstate.Sources{}).NewContext(ctx) }

func TestMulti_FailedSourceKeepsItsLastSet(t *testing.T) {
	state := "up"
	flaky := sourceFunc(func(ctx context.Context) (*Set, error) {
		name, _ := userOf(ctx)
		switch state {
		case "down":
			return nil, errors.New("unreachable")
		case "panics":
			panic("boom")
		case "empty":
			return nil, nil
		}
		return setOf(t, adktest.Comparable("of_"+name, nil)), nil
	})
	steady := setOf(t, adktest.Comparable("steady", nil))
	s := Multi(steady, flaky)
	ann, bob := inARun(asUser("ann")), inARun(asUser("bob"))
	get := func(ctx context.Context) []string {
		set, err := s.Tools(ctx)
		require.Equal(t, state == "down" || state == "panics", err != nil)
		if err != nil {
			require.ErrorContains(t, err, "source 1: ")
		}
		return namesOf(set)
	}
	require.Equal(t, []string{"steady", "of_ann"}, get(ann))
	for _, state = range []string{"down", "panics", "down"} {
		require.Equal(t, []string{"steady", "of_ann"}, get(ann))
		require.Equal(t, []string{"steady"}, get(bob), "a run never gets the set of another")
	}
	state = "empty"
	require.Equal(t, []string{"steady"}, get(ann))
	state = "down"
	require.Equal(t, []string{"steady"}, get(ann), "no tools are a set as well")
}

func TestMulti_PanicNamesItsSource(t *testing.T) {
	_, err := Multi(sourceFunc(func(context.Context) (*Set, error) { panic("boom") })).Tools(context.Background())
	var panicked *safe.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Equal(t, "Tools of toolset.sourceFunc", panicked.Source)
}

// A source that hangs is asked once, and the others answer meanwhile.
func TestMulti_HungSourceEndsWithContext(t *testing.T) {
	var asked atomic.Int64
	release := make(chan struct{})
	hangs := sourceFunc(func(context.Context) (*Set, error) {
		asked.Add(1)
		<-release
		return setOf(t, adktest.Comparable("slow", nil)), nil
	})
	s := Multi(hangs, setOf(t, adktest.Comparable("quick", nil)))
	ctx := inARun(context.Background())
	for range 5 {
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("the time is up"))
		set, err := s.Tools(ended)
		require.ErrorContains(t, err, "source 0: it has not answered")
		require.Equal(t, []string{"quick"}, namesOf(set))
	}
	close(release)
	for {
		set, err := s.Tools(ctx)
		if err == nil {
			require.Equal(t, []string{"slow", "quick"}, namesOf(set))
			break
		}
	}
	require.LessOrEqual(t, asked.Load(), int64(2))
}

// A source that ends its goroutine, as a test's FailNow does, has failed and is asked again.
//
//claim:security-52
func TestMulti_GoexitIsAFailure(t *testing.T) {
	var asked atomic.Int64
	s := Multi(sourceFunc(func(context.Context) (*Set, error) {
		if asked.Add(1) == 1 {
			runtime.Goexit()
		}
		return setOf(t, adktest.Comparable("back", nil)), nil
	}), setOf(t, adktest.Comparable("other", nil)))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(inARun(context.Background()), time.Hour)
		defer cancel()
		began := time.Now()
		set, err := s.Tools(ctx)
		require.ErrorContains(t, err, "sourceFunc ended its goroutine")
		require.Equal(t, []string{"other"}, namesOf(set))
		set, err = s.Tools(ctx)
		require.NoError(t, err)
		require.Equal(t, []string{"back", "other"}, namesOf(set))
		require.Zero(t, time.Since(began))
	})
}

func TestMulti_IsSafeForConcurrentRuns(t *testing.T) {
	list := NewSource(func(ctx context.Context) ([]tool.BaseTool, error) {
		name, _ := userOf(ctx)
		return []tool.BaseTool{adktest.Comparable("of_"+name, nil)}, nil
	}, userOf)
	s := Multi(list, setOf(t, adktest.Comparable("shared", nil)), Multi(list))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			ctx := inARun(asUser(fmt.Sprint(i % 5)))
			for range 20 {
				set, err := s.Tools(ctx)
				require.NoError(t, err)
				require.Equal(t, []string{"of_" + fmt.Sprint(i%5), "shared"}, namesOf(set))
			}
		})
	}
	all.Wait()
}
