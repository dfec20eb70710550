// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"encoding/hex"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// Files and directories with these names are stored already: a change would move the data of users.
func TestComponent_StoredNamesAreFrozen(t *testing.T) {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-"
	for c := range 256 {
		require.Equal(t, strings.IndexByte(plain, byte(c)) >= 0, isPlain(byte(c)), "%q", c)
	}
	for id, want := range map[string]string{
		"call_1:a.b-C":           "call_1:a.b-C",
		"a/B c":                  "a=2fB=20c",
		strings.Repeat("x", 129): strings.Repeat("x", 62) + "==0ec9eb33e74510bcdd1f2ea55206e82f21649c5c2becbf2b433eb475b34c01bd",
	} {
		require.Equal(t, want, Component(id))
	}
	for owner, want := range map[string]string{
		"user-1":                 "user-1",
		"User/1":                 "=55ser=2f1",
		strings.Repeat("X", 129): strings.Repeat("=58", 20) + "==184650fc02edfc9e962e3a52a76b90590a2ad411ef20e5c2b183c7bf55bdb890",
	} {
		require.Equal(t, want, Directory(owner))
	}
}

func TestComponentClass_MatchesIsComponentByte(t *testing.T) {
	class := regexp.MustCompile("^[" + ComponentClass + "]$")
	for c := range 256 {
		require.Equal(t, IsComponentByte(byte(c)), class.MatchString(string([]byte{byte(c)})), "%q", c)
	}
}

func TestComponent_KeepsWellFormedIDs(t *testing.T) {
	for _, id := range []string{
		"a", "call_1", "call-1", "functions.grep:0", "toolu_01A09q90qw90lq917835lq9", ".hidden", "a..b", "..a", "0",
		strings.Repeat("x", MaxComponent),
	} {
		require.True(t, WellFormed(id), id)
		require.Equal(t, id, Component(id))
	}
}

func TestComponent_EscapesOtherIDs(t *testing.T) {
	for id, want := range map[string]string{
		"":                 "=",
		".":                "=2e",
		"..":               "=2e=2e",
		"a/b":              "a=2fb",
		"../../etc/passwd": "..=2f..=2fetc=2fpasswd",
		`a\b`:              "a=5cb",
		"a=b":              "a=3db",
		"=":                "=3d",
		"==":               "=3d=3d",
		"a b\n":            "a=20b=0a",
		"\x00":             "=00",
		"</persisted>":     "=3c=2fpersisted=3e",
		"é":                "=c3=a9",
		"\xff":             "=ff",
	} {
		require.False(t, WellFormed(id), id)
		require.Equal(t, want, Component(id), "%q", id)
	}
}

func TestComponent_LongIDsEndInHash(t *testing.T) {
	plain := Component(strings.Repeat("x", MaxComponent+1))
	require.Len(t, plain, MaxComponent)
	require.Equal(t, strings.Repeat("x", 62)+"==", plain[:64])

	escaped := Component(strings.Repeat("/", MaxComponent))
	require.Len(t, escaped, 60+2+64, "an escape is not cut in two")
	require.True(t, strings.HasPrefix(escaped, strings.Repeat("=2f", 20)+"=="))

	require.NotEqual(t, Component(strings.Repeat("y", 1<<20)+"1"), Component(strings.Repeat("y", 1<<20)+"2"))
	require.NotEqual(t, Component(strings.Repeat(".", 500)), Component(strings.Repeat(".", 501)))
}

// reverse undoes Component where it keeps the whole id; ok is false where it ends
// in a hash. That it exists is why different ids have different names.
func reverse(t *testing.T, name string) (id string, ok bool) {
	t.Helper()
	if strings.Contains(name, hashMark) {
		return "", false
	}
	if name == string(escape) {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != escape {
			b.WriteByte(name[i])
			continue
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		require.NoError(t, err, name)
		b.Write(c)
		i += 2
	}
	return b.String(), true
}

// requireValidComponent checks all that is promised of one id.
func requireValidComponent(t *testing.T, id string) {
	t.Helper()
	name := Component(id)
	require.NotEmpty(t, name)
	require.LessOrEqual(t, len(name), MaxComponent)
	require.Equal(t, "/dir", path.Dir(path.Join("/dir", name)), "%q leaves its directory", name)
	require.Equal(t, name, path.Base(name))
	require.Equal(t, WellFormed(id), name == id)
	for i := range len(name) {
		require.True(t, IsComponentByte(name[i]), "%q", name)
	}
	if back, ok := reverse(t, name); ok {
		require.Equal(t, id, back)
	} else {
		require.Greater(t, 3*len(id), MaxComponent, "a short id has no hash")
	}
	require.Equal(t, !WellFormed(id), strings.ContainsRune(name, escape), "an escaped name looks like an id, or the other way round")
}

//claim:store-02
func TestComponent_RandomIDs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	alphabet := []string{"a", "Z", "0", "_", ".", ":", "-", "=", "/", "\\", "..", "\x00", "\n", "é", "\xff", "2f", "=2f"}
	seen := make(map[string]string)
	for range race.Cases(20_000) {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
		id := strings.Repeat(b.String(), 1+r.IntN(3)*r.IntN(40))
		requireValidComponent(t, id)
		name := Component(id)
		if other, taken := seen[name]; taken {
			require.Equal(t, other, id, "two ids have the name %q", name)
		}
		seen[name] = id
	}
}

//claim:security-05
func FuzzComponent(f *testing.F) {
	for _, id := range []string{"", "call_1", "../..", "=2f", strings.Repeat("a", 200), strings.Repeat("=", 43), "a\x00b"} {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		requireValidComponent(t, a)
		require.Equal(t, a == b, Component(a) == Component(b))
	})
}
