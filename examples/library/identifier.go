// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of identifiers with check digits and of semantic versions.

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/uuid"
)

var identifierServer = group{"identifier", "Identifiers and numbers with check digits", []maker{
	define("identifier__uuid_random", "Makes random UUIDs (version 4).",
		func(in howManyIn) (string, error) { return uuids(in.Count, uuid.NewRandom) }),
	define("identifier__uuid_time", "Makes UUIDs that sort by the time they were made (version 7).",
		func(in howManyIn) (string, error) { return uuids(in.Count, uuid.NewV7) }),
	define("identifier__uuid_from_name", "Makes the UUID of a name in a namespace (version 5); the same name gives the same UUID.", func(in struct {
		Name      string `json:"name" jsonschema_description:"The name, such as a domain or URL"`
		Namespace string `json:"namespace,omitempty" jsonschema:"enum=dns,enum=url,enum=oid,enum=x500,default=dns" jsonschema_description:"What the name is in"`
	}) (string, error) {
		space := map[string]uuid.UUID{"dns": uuid.NameSpaceDNS, "url": uuid.NameSpaceURL, "oid": uuid.NameSpaceOID, "x500": uuid.NameSpaceX500}[in.Namespace]
		return uuid.NewSHA1(space, []byte(in.Name)).String(), nil
	}),
	define("identifier__uuid_parse", "Checks a UUID and tells its version and, if it holds one, its time.", func(in struct {
		UUID string `json:"uuid" jsonschema_description:"The UUID"`
	}) (string, error) {
		id, err := uuid.Parse(strings.TrimSpace(in.UUID))
		if err != nil {
			return "", fmt.Errorf("%q is not a UUID of 32 hexadecimal digits", in.UUID)
		}
		out := fmt.Sprintf("valid UUID, version %d", id.Version())
		if id.Version() == 1 || id.Version() == 7 {
			out += ", made " + time.Unix(id.Time().UnixTime()).UTC().Format("2006-01-02 15:04:05.000 UTC")
		}
		return out, nil
	}),
	define("identifier__check_card_number", "Checks the Luhn digit of a payment card number and names the card's network.",
		func(in checkedIn) (string, error) {
			d, err := in.digits(12, 19)
			if err != nil {
				return "", err
			}
			network := cmp.Or(cardNetworks[d[:1]], cardNetworks[d[:2]], cardNetworks[d[:4]], "unknown network")
			return verdict(luhn(d) == 0, network)
		}),
	define("identifier__check_iban", "Checks an IBAN bank account number and takes it apart.", func(in checkedIn) (string, error) {
		text := in.compact()
		if len(text) < 15 || len(text) > 34 {
			return "", fmt.Errorf("%q is not an IBAN: it must have 15 to 34 characters", in.Number)
		}
		var number strings.Builder
		for _, r := range text[4:] + text[:4] {
			switch {
			case r >= '0' && r <= '9':
				number.WriteRune(r)
			case r >= 'A' && r <= 'Z':
				number.WriteString(strconv.Itoa(int(r-'A') + 10))
			default:
				return "", fmt.Errorf("%q is not an IBAN: %q must not be in it", in.Number, r)
			}
		}
		n, _ := new(big.Int).SetString(number.String(), 10)
		return verdict(n.Mod(n, big.NewInt(97)).Int64() == 1, fmt.Sprintf("country %s, account %s", text[:2], text[4:]))
	}),
	define("identifier__check_isbn", "Checks an ISBN-10 or ISBN-13 book number.", checkISBN),
	define("identifier__isbn10_to_isbn13", "Converts a book number from ISBN-10 to ISBN-13.", func(in checkedIn) (string, error) {
		text := in.compact()
		if answer, err := checkISBN(in); err != nil || len(text) != 10 || !strings.HasPrefix(answer, "valid") {
			return "", fmt.Errorf("%q is not a valid ISBN-10", in.Number)
		}
		stem := "978" + text[:9]
		return stem + string(eanDigit(stem)), nil
	}),
	define("identifier__check_barcode", "Checks a product barcode (EAN-8, EAN-13, UPC-A).", checkEAN),
	define("identifier__luhn_digit", "Computes the Luhn check digit for a number.", func(in checkedIn) (string, error) {
		d, err := in.digits(1, 100)
		return strconv.Itoa((10 - luhn(d+"0")) % 10), err
	}),
	define("identifier__check_vin", "Checks the check digit of a vehicle identification number (VIN).", func(in checkedIn) (string, error) {
		const values, weights = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ", "8765432X098765432"
		text := in.compact()
		if len(text) != 17 || strings.Trim(text, "0123456789ABCDEFGHJKLMNPRSTUVWXYZ") != "" {
			return "", fmt.Errorf("%q is not a VIN of 17 digits and letters without I, O and Q", in.Number)
		}
		total := 0
		for i := range 17 {
			total += strings.IndexByte(values, text[i]) % 10 * strings.IndexByte("0123456789X", weights[i])
		}
		return verdict("0123456789X"[total%11] == text[8], "maker "+text[:3])
	}),
}}

// cardNetworks has the first digits of each network's numbers.
var cardNetworks = map[string]string{
	"4": "Visa", "34": "American Express", "37": "American Express", "62": "UnionPay", "35": "JCB", "30": "Diners Club", "36": "Diners Club", "6011": "Discover",
	"65": "Discover", "51": "Mastercard", "52": "Mastercard", "53": "Mastercard", "54": "Mastercard", "55": "Mastercard", "2": "Mastercard",
}

type howManyIn struct {
	Count int `json:"count,omitempty" jsonschema:"default=1,minimum=1,maximum=1000" jsonschema_description:"How many to make"`
}

// uuids makes some UUIDs, one per line.
func uuids(count int, makeOne func() (uuid.UUID, error)) (string, error) {
	return strings.Join(times(count, func(int) string { return uuid.Must(makeOne()).String() }), "\n"), nil
}

type checkedIn struct {
	Number string `json:"number" jsonschema_description:"The number, with or without blanks and hyphens"`
}

func (in checkedIn) compact() string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "").Replace(in.Number))
}

// digits gives the number's digits, which must be within bounds in count.
func (in checkedIn) digits(least, most int) (string, error) {
	text := in.compact()
	if strings.Trim(text, "0123456789") != "" || len(text) < least || len(text) > most {
		return "", fmt.Errorf("%q is not a number of %d to %d digits", in.Number, least, most)
	}
	return text, nil
}

func luhn(digits string) int {
	total := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		total += d
	}
	return total % 10
}

func verdict(ok bool, detail string) (string, error) {
	return either(ok, "valid: "+detail, "not valid: the check digit is wrong"), nil
}

func checkISBN(in checkedIn) (string, error) {
	text := in.compact()
	if len(text) == 13 {
		return checkEAN(in)
	}
	if len(text) != 10 || strings.Trim(strings.TrimSuffix(text, "X"), "0123456789") != "" {
		return "", fmt.Errorf("%q is not an ISBN of 10 or 13 digits", in.Number)
	}
	total := 0
	for i := range 10 {
		d := either(text[i] != 'X', int(text[i]-'0'), 10)
		total += d * (10 - i)
	}
	return verdict(total%11 == 0, "ISBN-10 "+text)
}

// eanDigit is the check digit of EAN, UPC and ISBN-13.
func eanDigit(digits string) byte {
	total := 0
	for i := range len(digits) {
		weight := 3 - 2*(i%2)
		total += weight * int(digits[len(digits)-1-i]-'0')
	}
	return '0' + byte((10-total%10)%10)
}

func checkEAN(in checkedIn) (string, error) {
	d, err := in.digits(8, 13)
	if err != nil {
		return "", err
	}
	name, ok := map[int]string{8: "EAN-8", 12: "UPC-A", 13: "EAN-13"}[len(d)]
	if !ok {
		return "", fmt.Errorf("a barcode has 8, 12 or 13 digits, and %q has %d", in.Number, len(d))
	}
	return verdict(eanDigit(d[:len(d)-1]) == d[len(d)-1], name+" "+d)
}

var versionServer = group{"version", "Semantic versions", []maker{
	define("version__parse", "Takes a semantic version apart into major, minor, patch, pre-release and build.", func(in versionIn) (string, error) {
		v := in.Version
		out := fmt.Sprintf("major %d, minor %d, patch %d", v.Major(), v.Minor(), v.Patch())
		out += either(v.Prerelease() != "", ", pre-release "+v.Prerelease(), "")
		return out + either(v.Metadata() != "", ", build "+v.Metadata(), ""), nil
	}),
	define("version__compare", "Says which of two semantic versions is the newer one.", func(in struct {
		First  version `json:"first" jsonschema_description:"The first version"`
		Second version `json:"second" jsonschema_description:"The second version"`
	}) (string, error) {
		newer := func(a, b version) string { return a.text + " is newer than " + b.text }
		c := in.First.Compare(in.Second.Version)
		return either(c == 0, "both are the same version", either(c > 0, newer(in.First, in.Second), newer(in.Second, in.First))), nil
	}),
	define("version__bump", "Raises the major, minor or patch part of a semantic version.", func(in struct {
		versionIn
		Part string `json:"part" jsonschema:"enum=major,enum=minor,enum=patch" jsonschema_description:"The part to raise"`
	}) (string, error) {
		v := in.Version
		next := map[string]func() semver.Version{"major": v.IncMajor, "minor": v.IncMinor, "patch": v.IncPatch}[in.Part]()
		zero := in.Part == "patch" || v.Patch() == 0 && (in.Part == "minor" || v.Minor() == 0)
		if v.Prerelease() != "" && zero { // 2.0.0-rc.1 becomes 2.0.0, not 3.0.0
			next = v.IncPatch()
		}
		return next.Original(), nil
	}),
	define("version__sort", "Sorts semantic versions from the oldest to the newest.", func(in versionsIn) (string, error) {
		return joined(in.sorted(), "\n", func(v version) string { return v.Original() }), nil
	}),
	define("version__satisfies", "Says whether a version satisfies a constraint such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0.", func(in struct {
		versionIn
		Constraint string `json:"constraint" jsonschema_description:"The constraint, such as ^1.2.0, ~1.4 or >=1.0.0 <2.0.0; || parts alternatives"`
	}) (string, error) {
		ok, err := in.Version.satisfies(in.Constraint)
		return fmt.Sprintf(either(ok, "yes, %s satisfies %s", "no, %s does not satisfy %s"), in.Version.text, in.Constraint), err
	}),
	define("version__latest", "Finds the newest of some versions that satisfies a constraint.", func(in struct {
		versionsIn
		Constraint string `json:"constraint,omitempty" jsonschema:"default=>=0" jsonschema_description:"The constraint; any version if left out"`
	}) (string, error) {
		for _, v := range slices.Backward(in.sorted()) {
			if ok, err := v.satisfies(in.Constraint); ok || err != nil {
				return v.Original(), err
			}
		}
		return "none of the versions satisfies " + in.Constraint, nil
	}),
}}

func parseVersion(text string) (*semver.Version, error) {
	v, err := semver.NewVersion(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("%q is not a version such as 1.4.2 or v2.0.0-rc.1", text)
	}
	return v, nil
}

// version is an argument that is a semantic version.
type version struct {
	written
	*semver.Version
}

// UnmarshalJSON reads the version.
func (v *version) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &v.written, &v.Version, parseVersion)
}

type versionIn struct {
	Version version `json:"version" jsonschema_description:"The version, such as 1.4.2"`
}

type versionsIn struct {
	Versions []version `json:"versions" jsonschema:"minItems=1" jsonschema_description:"The versions"`
}

// sorted gives the versions from the oldest to the newest.
func (in versionsIn) sorted() []version {
	slices.SortStableFunc(in.Versions, func(a, b version) int { return a.Compare(b.Version) })
	return in.Versions
}

// satisfies requires all conditions that blanks or commas separate, and any of those that || separates.
func (v version) satisfies(constraint string) (bool, error) {
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return false, fmt.Errorf("%q is not a constraint such as ^1.2.0 or >=1.0.0 <2.0.0", constraint)
	}
	c.IncludePrerelease = true
	return c.Check(v.Version), nil
}
