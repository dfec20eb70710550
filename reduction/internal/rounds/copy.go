// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package rounds

// Copies for callbacks.

import (
	"reflect"

	"github.com/cloudwego/eino/schema"
)

// DeepCopy returns a copy for a callback that may write to it. Values in Extra and tools that a search has found
// are shared.
func DeepCopy[T any](v T) T {
	deepCopy(reflect.ValueOf(&v).Elem())
	return v
}

// schemaPackage is the package of the message types.
var schemaPackage = reflect.TypeFor[schema.Message]().PkgPath()

// deepCopy replaces what a value points to by copies.
func deepCopy(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		elem := v.Type().Elem()
		isForeign := elem.PkgPath() != schemaPackage && elem.PkgPath() != ""
		if v.IsNil() || isForeign || elem == reflect.TypeFor[schema.ToolSearchResult]() {
			return
		}
		next := reflect.New(elem)
		next.Elem().Set(v.Elem())
		deepCopy(next.Elem())
		v.Set(next)
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		next := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(next, v)
		for i := range next.Len() {
			deepCopy(next.Index(i))
		}
		v.Set(next)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		next := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			next.SetMapIndex(entries.Key(), entries.Value())
		}
		v.Set(next)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				deepCopy(field)
			}
		}
	}
}
