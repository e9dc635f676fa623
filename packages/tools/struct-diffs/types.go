// Prints the structs behind the values of which kube-apiserver shows a diff, one type a line:
//
//	core.PodSpec{Volumes []core.Volume,DNSPolicy@dnsPolicy core.DNSPolicy,...}   fields in order
//	core.RestartPolicy=string                                                  other named types
//
// A field is its name and type. `@name` is the JSON name in the versioned type, where it is not the name in lower camel case; `=name` the
// JSON name of a tag of the struct itself, `?` after it omits empty values. `^` marks an embedded struct. `!` after the name of a type: it
// has a method String.
package main

import (
	"fmt"
	"reflect"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/apis/core"
)

var stringer = reflect.TypeFor[fmt.Stringer]()

// Types that the reader knows.
var known = map[string]bool{"resource.Quantity": true, "v1.Time": true, "intstr.IntOrString": true}

var printed = map[reflect.Type]bool{}

func main() {
	print(reflect.TypeFor[core.PodSpec](), reflect.TypeFor[corev1.PodSpec]())
	print(reflect.TypeFor[core.EphemeralContainer](), reflect.TypeFor[corev1.EphemeralContainer]())
	print(reflect.TypeFor[core.PersistentVolumeSource](), reflect.TypeFor[corev1.PersistentVolumeSource]())
	print(reflect.TypeFor[core.PersistentVolumeClaim](), reflect.TypeFor[corev1.PersistentVolumeClaim]())
	condition := reflect.TypeFor[certificates.CertificateSigningRequestCondition]()
	print(condition, reflect.TypeFor[certificatesv1.CertificateSigningRequestCondition]())
}

// versioned is the type of the API with the JSON names; nil where the internal type has a member of its own.
func print(t, versioned reflect.Type) {
	if t.Name() == "" {
		switch t.Kind() {
		case reflect.Map:
			print(t.Key(), nil)
			print(t.Elem(), element(versioned))
		case reflect.Pointer, reflect.Slice:
			print(t.Elem(), element(versioned))
		}
		return
	}
	if t.PkgPath() == "" || known[t.String()] || printed[t] {
		return
	}
	printed[t] = true
	name := t.String()
	if t.Implements(stringer) {
		name += "!"
	}
	if t.Kind() != reflect.Struct {
		fmt.Printf("%s=%s\n", name, underlying(t))
		if t.Kind() == reflect.Map || t.Kind() == reflect.Slice {
			print(t.Elem(), element(versioned))
		}
		if t.Kind() == reflect.Map {
			print(t.Key(), nil)
		}
		return
	}
	var fields []string
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			panic(fmt.Sprintf("%s has the unexported field %s", t, field.Name))
		}
		fields = append(fields, describe(field, versioned))
	}
	fmt.Printf("%s{%s}\n", name, strings.Join(fields, ","))
	for i := range t.NumField() {
		field := t.Field(i)
		print(field.Type, fieldType(versioned, field.Name))
	}
}

func describe(field reflect.StructField, versioned reflect.Type) string {
	tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if field.Anonymous {
		if tag != "" || field.Type.Kind() != reflect.Struct {
			panic("an embedded field with a name: " + field.Name)
		}
		return "^" + field.Type.String()
	}
	name := field.Name
	if tag != "" {
		name += "=" + tag
		omitsEmpty := strings.Contains(options, "omitempty") && field.Type.Kind() != reflect.Struct
		if omitsEmpty || strings.Contains(options, "omitzero") {
			name += "?"
		}
	} else if versioned != nil {
		if member, found := versioned.FieldByName(field.Name); found {
			json, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			if json != strings.ToLower(name[:1])+name[1:] {
				name += "@" + json
			}
		}
	}
	return name + " " + field.Type.String()
}

// underlying is the type literal of a named type.
func underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map:
		return fmt.Sprintf("map[%s]%s", t.Key(), t.Elem())
	case reflect.Slice:
		return "[]" + t.Elem().String()
	}
	return t.Kind().String()
}

func element(t reflect.Type) reflect.Type {
	if t == nil || t.Kind() != reflect.Pointer && t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
		return t
	}
	return t.Elem()
}

func fieldType(t reflect.Type, name string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	field, found := t.FieldByName(name)
	if !found {
		return nil
	}
	return field.Type
}
