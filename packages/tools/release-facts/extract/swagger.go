package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

type operation struct {
	Action  string                                `json:"x-kubernetes-action"`
	Subject struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// readSwagger adds the group versions that the OpenAPI v2 document has and the discovery documents lack: modules before 1.28 have no complete
// discovery documents. The document has no short names, categories and storage versions.
func (d *discovery) readSwagger(m *modules) {
	text, err := os.ReadFile(filepath.Join(m.folder[kubernetes], "api/openapi-spec/swagger.json"))
	if err != nil {
		return
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if json.Unmarshal(text, &document) != nil {
		return
	}
	found := map[string]map[string]*apiResource{} // by group/version, then name
	for _, path := range sortedKeys(document.Paths) {
		groupVersion, resource, ok := resourceOf(path)
		if _, known := d.lists[groupVersion]; !ok || known {
			continue
		}
		if found[groupVersion] == nil {
			found[groupVersion] = map[string]*apiResource{}
		}
		each := found[groupVersion][resource.Name]
		if each == nil {
			each = &resource
			found[groupVersion][resource.Name] = each
		}
		each.Namespaced = each.Namespaced || resource.Namespaced
		for method, raw := range document.Paths[path] {
			var operation operation
			if method != "parameters" && json.Unmarshal(raw, &operation) == nil {
				each.add(operation, method, groupVersion)
			}
		}
	}
	for groupVersion, resources := range found {
		list := apiResourceList{GroupVersion: groupVersion}
		for _, name := range sortedKeys(resources) {
			sort.Strings(resources[name].Verbs)
			if len(resources[name].Verbs) > 0 {
				list.Resources = append(list.Resources, *resources[name])
			}
		}
		d.lists[groupVersion] = list
	}
}

var resourcePath = regexp.MustCompile(`^/(?:api/(v1)|apis/([^/]+/[^/]+))/(?:watch/)?(namespaces/\{namespace\}/)?([a-z]+)(?:/\{name\}(?:/([a-z]+)(/\{path\})?)?)?$`)

// resourceOf reads the path of a collection, an object or a sub-resource.
func resourceOf(path string) (groupVersion string, resource apiResource, ok bool) {
	parts := resourcePath.FindStringSubmatch(strings.TrimSuffix(path, "/"))
	if parts == nil {
		return "", apiResource{}, false
	}
	name := parts[4]
	if parts[5] != "" {
		name += "/" + parts[5]
	}
	return parts[1] + parts[2], apiResource{Name: name, Namespaced: parts[3] != ""}, true
}

var verbOfAction = map[string]string{
	"get": "get", "list": "list", "post": "create", "put": "update", "patch": "patch", "delete": "delete",
	"deletecollection": "deletecollection", "watch": "watch", "watchlist": "watch",
}
var verbOfMethod = map[string]string{"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}

func (r *apiResource) add(operation operation, method, groupVersion string) {
	verb := verbOfAction[operation.Action]
	if operation.Action == "connect" {
		verb = verbOfMethod[method]
	}
	if verb == "" {
		return
	}
	subject := operation.Subject
	r.Kind = subject.Kind
	if key := strings.TrimPrefix(subject.Group+"/"+subject.Version, "/"); key != groupVersion {
		r.Group, r.Version = subject.Group, subject.Version
	}
	if !contains(r.Verbs, verb) {
		r.Verbs = append(r.Verbs, verb)
	}
}
