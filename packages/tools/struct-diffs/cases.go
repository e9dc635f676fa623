// Prints differences of random values as JSON, for the tests of packages/kinds/src/struct-diff: one object a line with the type, both
// values as objects of the API, and what kube-apiserver prints. Values are filled and changed by reflection, from a fixed seed.
//
// The program is compiled against one release; DIFF is replaced by the function that this release calls.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strings"
	_ "unsafe"

	//IMPORT
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/apis/certificates"
	convertcertificates "k8s.io/kubernetes/pkg/apis/certificates/v1"
	"k8s.io/kubernetes/pkg/apis/core"
	convertcore "k8s.io/kubernetes/pkg/apis/core/v1"
)

var random = rand.New(rand.NewSource(1))

var texts = []string{
	"a", "b", "web", "", "x y", "quoted \"text\"", "back\\slash", "tab\there", "é ü 漢", "`tick`", "<&>",
	"a sentence that is a little longer than thirty-two bytes", "a sentence that is a little longer than thirty-three bytes",
	strings.Repeat("0123456789abcdef", 20), strings.Repeat("0123456789abcdef", 9) + "X" + strings.Repeat("0123456789abcdef", 11),
	"#!/bin/sh\nset -e\necho one\necho two\necho three\nexit 0\n", "#!/bin/sh\nset -e\necho one\necho 2\necho three\nexit 0\n",
	"#!/bin/sh\n\tset -e\necho one\necho  two\necho three\nexit 1", "line\r\nline\r\nline\r\nline\r\nend\r\n", "\"\"\"\n...\na\nb\nc\nd", "bell\a and \u0000 here",
	strings.Repeat("\u0001\u0002", 30), strings.Repeat("\u0001\u0003", 31), strings.Repeat("漢", 90), strings.Repeat("漢", 45) + "字" + strings.Repeat("漢", 50),
}

var quantities = []string{"0", "1", "100m", "250m", "1500m", "64Mi", "128Mi", "1Gi", "1000Mi", "2e3", "5k", "7n", "123456789012345678901", "-1", "9Ei"}

func text() string {
	if random.Intn(3) > 0 {
		return texts[random.Intn(4)]
	}
	return texts[random.Intn(len(texts))]
}

// density is the chance, of 100, that an optional member is set.
func fill(v reflect.Value, depth, density int) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(quantities[random.Intn(len(quantities))])))
		return
	case intstr.IntOrString:
		if random.Intn(2) == 0 {
			v.Set(reflect.ValueOf(intstr.FromString("http")))
		} else {
			v.Set(reflect.ValueOf(intstr.FromInt32(random.Int31n(100))))
		}
		return
	case metav1.Time:
		if random.Intn(3) > 0 {
			v.Set(reflect.ValueOf(metav1.Unix(1700000000+random.Int63n(100000), 0)))
		}
		return
	case metav1.ObjectMeta:
		v.Set(reflect.ValueOf(metav1.ObjectMeta{Labels: map[string]string{"app": text()}}))
		return
	}
	isSet := depth > 0 && random.Intn(100) < density
	switch v.Kind() {
	case reflect.String:
		v.SetString(text())
	case reflect.Bool:
		v.SetBool(random.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(random.Int63n(4))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Anonymous || random.Intn(100) < density {
				fill(v.Field(i), depth-1, density)
			}
		}
	case reflect.Pointer:
		if isSet {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), depth-1, density)
		}
	case reflect.Slice:
		if isSet && v.Type().Elem().Kind() != reflect.Uint8 {
			length := 1 + random.Intn(4)
			if random.Intn(8) == 0 {
				length += random.Intn(40)
			}
			v.Set(reflect.MakeSlice(v.Type(), length, length))
			for i := range length {
				fill(v.Index(i), depth-1, density)
			}
		}
	case reflect.Map:
		if isSet {
			v.Set(reflect.MakeMap(v.Type()))
			for range 1 + random.Intn(6) {
				addEntry(v, depth, density)
			}
		}
	}
}

func addEntry(v reflect.Value, depth, density int) {
	element := reflect.New(v.Type().Elem()).Elem()
	fill(element, depth-1, density)
	key := reflect.ValueOf(fmt.Sprintf("k%d", random.Intn(9))).Convert(v.Type().Key())
	v.SetMapIndex(key, element)
}

// change changes one part of a value.
func change(v reflect.Value, density int) {
	switch v.Interface().(type) {
	case resource.Quantity, intstr.IntOrString, metav1.Time, metav1.ObjectMeta:
		fill(v, 3, density)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		var set []reflect.Value
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				set = append(set, v.Field(i))
			}
		}
		if len(set) > 0 && random.Intn(5) > 0 {
			change(set[random.Intn(len(set))], density)
		} else if v.NumField() > 0 {
			fill(v.Field(random.Intn(v.NumField())), 3, 60)
		}
	case reflect.Pointer:
		if v.IsNil() || random.Intn(8) == 0 {
			v.SetZero()
			fill(v, 3, density)
		} else {
			change(v.Elem(), density)
		}
	case reflect.Slice:
		changeSlice(v, density)
	case reflect.Map:
		keys := v.MapKeys()
		if len(keys) > 0 && random.Intn(3) == 0 {
			v.SetMapIndex(keys[random.Intn(len(keys))], reflect.Value{})
		} else {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			addEntry(v, 3, density)
		}
	default:
		fill(v, 3, density)
	}
}

func changeSlice(v reflect.Value, density int) {
	length := v.Len()
	switch choice := random.Intn(6); {
	case length == 0:
		fill(v, 3, 100)
	case choice == 0:
		at := random.Intn(length)
		v.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, length), v.Slice(0, at)), v.Slice(at+1, length)))
	case choice == 1:
		at := random.Intn(length + 1)
		added := reflect.MakeSlice(v.Type(), 1, 1)
		fill(added.Index(0), 3, density)
		v.Set(reflect.AppendSlice(reflect.AppendSlice(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, length+1), v.Slice(0, at)), added), v.Slice(at, length)))
	case choice == 2 && length > 1:
		swap := reflect.Swapper(v.Interface())
		swap(random.Intn(length), random.Intn(length))
	default:
		change(v.Index(random.Intn(length)), density)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func add[V, I any](name string, count int, convert func(*V, *I) error) {
	for printed := 0; printed < count; {
		var before V
		density := 5 + random.Intn(40)
		fill(reflect.ValueOf(&before).Elem(), 6, density)
		old, err := json.Marshal(&before)
		must(err)
		var after V
		must(json.Unmarshal(old, &after))
		for range 1 + random.Intn(3) {
			change(reflect.ValueOf(&after).Elem(), density)
		}
		next, err := json.Marshal(&after)
		must(err)
		var x, y I
		convertJSON(old, &x, convert)
		convertJSON(next, &y, convert)
		text := DIFF(x, y)
		if text == "" || len(old) > 2500 {
			continue
		}
		must(json.NewEncoder(os.Stdout).Encode(map[string]any{"type": name, "before": json.RawMessage(old), "after": json.RawMessage(next), "diff": text}))
		printed++
	}
}

func convertJSON[V, I any](text []byte, to *I, convert func(*V, *I) error) {
	var value V
	must(json.Unmarshal(text, &value))
	must(convert(&value, to))
}

func main() {
	setUp()
	add("core.PodSpec", 60, func(from *corev1.PodSpec, to *core.PodSpec) error {
		return convertcore.Convert_v1_PodSpec_To_core_PodSpec(from, to, nil)
	})
	add("core.EphemeralContainer", 15, func(from *corev1.EphemeralContainer, to *core.EphemeralContainer) error {
		return convertcore.Convert_v1_EphemeralContainer_To_core_EphemeralContainer(from, to, nil)
	})
	add("core.PersistentVolumeSource", 10, func(from *corev1.PersistentVolumeSource, to *core.PersistentVolumeSource) error {
		return convertcore.Convert_v1_PersistentVolumeSource_To_core_PersistentVolumeSource(from, to, nil)
	})
	add("core.PersistentVolumeClaimSpec", 10, func(from *corev1.PersistentVolumeClaimSpec, to *core.PersistentVolumeClaimSpec) error {
		return convertcore.Convert_v1_PersistentVolumeClaimSpec_To_core_PersistentVolumeClaimSpec(from, to, nil)
	})
	type conditions = []certificates.CertificateSigningRequestCondition
	add("[]certificates.CertificateSigningRequestCondition", 10, func(from *[]certificatesv1.CertificateSigningRequestCondition, to *conditions) error {
		if *from != nil {
			*to = make(conditions, len(*from))
		}
		for i := range *from {
			must(convertcertificates.Convert_v1_CertificateSigningRequestCondition_To_certificates_CertificateSigningRequestCondition(&(*from)[i], &(*to)[i], nil))
		}
		return nil
	})
}

//SETUP
