package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// release is one with two small modules, in testdata.
func release(minor int) *modules {
	folder := func(name string) string { return filepath.Join("testdata", name) }
	return &modules{
		release: "0.33.0",
		minor:   minor,
		folder:  map[string]string{"k8s.io/api": folder("api"), kubernetes: folder("kubernetes")},
		version: map[string]string{"k8s.io/api": "v0.33.0", kubernetes: "v1.33.0"},
	}
}

func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "expected", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs (UPDATE=1 go test writes it):\n%s", name, got)
	}
}

func TestGroup(t *testing.T) {
	modules := release(33)
	sources, err := readSources(modules)
	if err != nil {
		t.Fatal(err)
	}
	groups := modelOf(sources, modules)
	if len(groups) != 1 || groups[0].Folder != "shop" {
		t.Fatalf("got %d groups", len(groups))
	}
	compare(t, "shop.json", groups[0].text())
}

func TestReleaseFacts(t *testing.T) {
	facts, err := releaseFacts(release(33))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "release.json", facts)
}

func TestSwaggerHasWhatDiscoveryLacks(t *testing.T) {
	found := &discovery{lists: map[string]apiResourceList{}}
	found.readSwagger(release(33))
	want := []apiResource{
		{Name: "things", Kind: "Thing", Namespaced: true, Verbs: []string{"create", "list", "watch"}},
		{Name: "things/exec", Kind: "PodExecOptions", Version: "v1", Namespaced: true, Verbs: []string{"get"}},
	}
	if got := found.lists["old.example.com/v1"].Resources; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestNewest(t *testing.T) {
	versions := strings.Fields("v1.36.9 v1.37.0-beta.0 v1.37.0 v1.37.2 v1.38.0-alpha.3 v1.38.0-beta.0")
	for prefix, want := range map[string]string{"v1.37.": "v1.37.2", "v1.38.": "v1.38.0-beta.0", "v1.39.": ""} {
		if got := newest(versions, prefix); got != want {
			t.Errorf("newest of %s: %q, not %q", prefix, got, want)
		}
	}
}

func TestTagsWithArguments(t *testing.T) {
	for text, want := range map[string][2]string{
		`k8s:alpha(since: "1.36")=+k8s:maxItems=8`: {`k8s:alpha(since: "1.36")`, "+k8s:maxItems=8"},
		"listType=map": {"listType", "map"},
		"optional":     {"optional", ""},
	} {
		if name, value := splitTag(text); name != want[0] || value != want[1] {
			t.Errorf("%s: %q, %q", text, name, value)
		}
	}
}

func TestMalformedRelease(t *testing.T) {
	if _, err := modulesOf("latest", false); err == nil {
		t.Error("no error")
	}
}
