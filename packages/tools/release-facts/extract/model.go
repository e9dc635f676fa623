package main

import (
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// group is one file of the model.
type group struct {
	Folder, Name string
	versions     []groupVersion
}

type groupVersion struct {
	name    string
	members members
}

func (g group) text() []byte {
	var out strings.Builder
	out.WriteString(`{"group":` + string(plain(g.Name)) + `,"versions":{`)
	for i, version := range g.versions {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n" + string(plain(version.name)) + ":{\n")
		for j, each := range version.members {
			if j > 0 {
				out.WriteString(",\n")
			}
			out.WriteString(string(plain(each.key)) + ":")
			if nested, ok := each.value.(members); ok {
				out.WriteString(lines(nested))
			} else {
				out.Write(plain(each.value))
			}
		}
		out.WriteString("\n}")
	}
	out.WriteString("\n}}\n")
	return []byte(out.String())
}

// modelOf makes the model of all groups.
func modelOf(all *sources, m *modules) []group {
	served := readDiscovery(m)
	enabled, _ := enabledByDefault(m)
	openapi := readOpenAPI(m)
	plurals := readClients(m)
	for _, pkg := range all.packages {
		pkg.group = groupName(pkg)
	}
	for _, pkg := range all.packages { // of all groups first: the scope of a kind may be known only from a sub-resource of another group
		served.resources(all, pkg)
	}
	var groups []group
	for _, path := range all.order {
		pkg := all.packages[path]
		if len(groups) == 0 || groups[len(groups)-1].Folder != pkg.folder {
			groups = append(groups, group{Folder: pkg.folder, Name: pkg.group})
		}
		maker := &maker{all: all, pkg: pkg, served: served, enabled: enabled, openapi: openapi, plurals: plurals}
		last := &groups[len(groups)-1]
		last.versions = append(last.versions, groupVersion{pkg.version, maker.version()})
	}
	return groups
}

func groupName(pkg *source) string {
	if name, ok := pkg.constantNamed("GroupName"); ok {
		return name
	}
	return ""
}

// maker derives the facts of one version of a group.
type maker struct {
	all     *sources
	pkg     *source
	served  *discovery
	enabled map[string]bool
	openapi *openapi
	plurals map[string]map[string]string
}

func (k *maker) version() members {
	var out members
	pkg := k.pkg
	out.add("goPackage", pkg.path)
	out.add("protoPackage", strings.NewReplacer("/", ".", "-", "_").Replace(pkg.path))
	out.add("openapiPrefix", openapiPrefix(pkg.path))
	if !pkg.isMeta() {
		out.add("enabledByDefault", k.enabled[pkg.path])
		out.add("served", k.served.has(pkg.group, pkg.version))
	}
	resources := k.resources()
	out.add("kinds", k.kinds(resources))
	out.add("resources", resources)
	out.add("types", k.types())
	if named := k.named(); len(named) > 0 {
		out.add("named", named)
	}
	enums, constants, scalars, rules := k.values()
	out.add("enums", enums)
	if len(constants) > 0 {
		out.add("constants", constants)
	}
	if len(scalars) > 0 {
		out.add("scalars", scalars)
	}
	if len(rules) > 0 {
		out.add("stringRules", rules)
	}
	if missing := k.openapi.enumsLeftOut(k, enums); len(missing) > 0 {
		out.add("enumsNotInOpenAPI", missing)
	}
	return out
}

// openapiPrefix turns the host of the package around: k8s.io/api/core/v1 → io.k8s.api.core.v1.
func openapiPrefix(path string) string {
	parts := strings.Split(path, "/")
	host := strings.Split(parts[0], ".")
	for i, j := 0, len(host)-1; i < j; i, j = i+1, j-1 {
		host[i], host[j] = host[j], host[i]
	}
	return strings.Join(append(host, parts[1:]...), ".")
}

// --- kinds

func (k *maker) kinds(resources members) members {
	if k.pkg.isMeta() {
		return k.metaKinds()
	}
	registered := map[string]bool{}
	for _, name := range k.pkg.registered {
		registered[name] = true
	}
	var out members
	for _, name := range sortedKeys(registered) {
		item := strings.TrimSuffix(name, "List")
		if item != name && registered[item] && item != "" {
			continue
		}
		decl := k.resolve(k.pkg, name)
		if decl == nil {
			continue
		}
		list := ""
		if registered[name+"List"] {
			list = name + "List"
		}
		out.add(name, k.kind(decl, name, list, resources))
	}
	return out
}

func (k *maker) kind(decl *typeDecl, name, list string, resources members) members {
	var out members
	out.add("namespaced", k.namespaced(decl, name, resources))
	out.add("metadata", orNull(k.metadata(decl)))
	out.add("list", orNull(list))
	own := k.lifecycle(name)
	own.addTo(&out)
	out.add("explicit", explicitMarkers(decl))
	if list != "" {
		expected := *own
		if expected.replacement != "" {
			expected.replacement += "List"
		}
		if other := k.lifecycle(list); *other != expected {
			var nested members
			other.addTo(&nested)
			out.add("listLifecycle", nested)
		}
	}
	if client := clientOf(decl); client != nil {
		out.add("client", client)
	}
	return out
}

func (k *maker) lifecycle(name string) *lifecycle {
	if found := k.pkg.lifecycles[name]; found != nil {
		return found
	}
	found := &lifecycle{}
	if decl := k.pkg.byName[name]; decl != nil { // no generated methods: what the markers say
		found.introduced, _ = decl.tag("k8s:prerelease-lifecycle-gen:introduced")
		found.deprecated, _ = decl.tag("k8s:prerelease-lifecycle-gen:deprecated")
		found.removed, _ = decl.tag("k8s:prerelease-lifecycle-gen:removed")
		found.replacement, _ = decl.tag("k8s:prerelease-lifecycle-gen:replacement")
	}
	return found
}

func (l *lifecycle) addTo(out *members) {
	out.add("introduced", orNull(l.introduced))
	out.add("deprecated", orNull(l.deprecated))
	out.add("removed", orNull(l.removed))
	out.add("replacement", orNull(l.replacement))
}

func explicitMarkers(decl *typeDecl) []string {
	found := []string{}
	for _, name := range []string{"introduced", "deprecated", "removed", "replacement"} {
		if _, ok := decl.tag("k8s:prerelease-lifecycle-gen:" + name); ok {
			found = append(found, name)
		}
	}
	return found
}

// clientOf says whether client-go has a client of the kind: true, or its options.
func clientOf(decl *typeDecl) any {
	if _, ok := decl.tag("genclient"); !ok {
		return nil
	}
	var out members
	var methods []string
	for _, each := range decl.tags {
		switch each.name {
		case "genclient:onlyVerbs", "genclient:skipVerbs":
			out.add(strings.TrimPrefix(each.name, "genclient:"), strings.Split(each.value, ","))
		case "genclient:noVerbs":
			out.add("noVerbs", true)
		case "genclient:method":
			methods = append(methods, each.value)
		}
	}
	if len(methods) > 0 {
		out.add("method", methods)
	}
	if len(out) == 0 {
		return true
	}
	return out
}

// namespaced is null for what is never a resource.
func (k *maker) namespaced(decl *typeDecl, name string, resources members) any {
	for _, each := range resources {
		of := each.value.(members)
		if of.get("kind") == name {
			return of.get("namespaced")
		}
	}
	if namespaced, ok := k.served.namespacedElsewhere[k.pkg.short()+"."+name]; ok {
		return namespaced
	}
	if _, ok := decl.tag("genclient"); ok {
		_, cluster := decl.tag("genclient:nonNamespaced")
		return !cluster
	}
	return nil
}

func (k *maker) metadata(decl *typeDecl) string {
	structure, from := k.structOf(decl)
	if structure == nil {
		return ""
	}
	for _, field := range structure.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		if target := k.named1(from, field.Type); target != nil && target.pkg.isMeta() {
			switch target.name {
			case "ObjectMeta":
				return "object"
			case "ListMeta":
				return "list"
			}
		}
	}
	return ""
}

// metaKinds says how the kinds of meta.k8s.io are registered: by every group and version, in meta.k8s.io itself, or without a version.
func (k *maker) metaKinds() members {
	var out members
	add := func(as string, names ...string) {
		for _, name := range names {
			decl := k.pkg.byName[name]
			target := k.resolve(k.pkg, name)
			if decl == nil || target == nil {
				continue
			}
			var each members
			each.add("metadata", orNull(k.metadata(target)))
			if decl.alias {
				each.add("aliasOf", target.String())
			}
			each.add("registeredAs", as)
			if k.pkg.byName[name+"List"] != nil && as == "meta.k8s.io/"+k.pkg.version {
				each.add("list", name+"List")
			}
			out.add(name, each)
		}
	}
	add("meta.k8s.io/"+k.pkg.version, "PartialObjectMetadata", "Table", "TableOptions")
	if k.pkg.version == "v1" {
		add("*/*", "CreateOptions", "DeleteOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions", "WatchEvent")
		add("v1", "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status")
	}
	return out
}

// --- resources

func (k *maker) resources() members {
	var out members
	if k.pkg.isMeta() {
		return members{}
	}
	have := map[string]bool{}
	for _, each := range k.served.resources(k.all, k.pkg) {
		out.add(each.name, each.members)
		if !strings.Contains(each.name, "/") {
			have[each.members.get("kind").(string)] = true
		}
	}
	plurals := k.plurals[k.pkg.short()]
	registered := append([]string(nil), k.pkg.registered...)
	sort.Strings(registered)
	for _, kind := range registered {
		decl := k.resolve(k.pkg, kind)
		plural := plurals[kind]
		if decl == nil || have[kind] || plural == "" {
			continue
		}
		if _, ok := decl.tag("genclient"); !ok {
			continue
		}
		_, cluster := decl.tag("genclient:nonNamespaced")
		out.add(plural, members{{"kind", kind}, {"namespaced", !cluster}, {"from", "client"}})
		have[kind] = true
	}
	if out == nil {
		return members{}
	}
	return out
}

// --- types

// special types have a wire form written by hand; special.json describes them.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                  "Time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":             "MicroTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":              "Duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":              "FieldsV1",
	"k8s.io/apimachinery/pkg/apis/meta/v1.GroupVersion":          "GroupVersion",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":              "Quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":            "IntOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":               "RawExtension",
	"k8s.io/apimachinery/pkg/runtime.Unknown":                    "Unknown",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions.JSON": "JSON",
}

// listed are the special types that the model lists with their Go fields all the same.
var listed = map[string]bool{"GroupVersion": true, "JSONSchemaPropsOrArray": true, "JSONSchemaPropsOrBool": true, "JSONSchemaPropsOrStringArray": true}

func specialName(path, name string) string {
	if found := special[path+"."+name]; found != "" {
		return found
	}
	if strings.HasPrefix(path, "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/") && (name == "JSON" || strings.HasPrefix(name, "JSONSchemaPropsOr")) {
		return name
	}
	return ""
}

func (k *maker) types() members {
	out := members{}
	for _, decl := range k.pkg.types {
		if decl.alias {
			continue
		}
		structure, from := k.structOf(decl)
		if structure == nil {
			continue
		}
		name := specialName(k.pkg.path, decl.name)
		if name != "" && !listed[name] {
			continue
		}
		out.add(decl.name, k.structType(decl, from, structure, name))
	}
	return out
}

func (k *maker) structType(decl, from *typeDecl, structure *ast.StructType, special string) members {
	var out members
	out.addTrue("root", k.pkg.objects[decl.name])
	if from != decl {
		out.add("copyOf", from.String())
	}
	out.addText("special", special)
	message := k.pkg.messages[decl.name]
	out.addTrue("noProto", message == nil && from == decl && k.usesProto(decl))
	out.addTrue("noOpenAPI", !k.openapi.has(k.pkg, decl.name))
	if value, ok := decl.tag("structType"); ok {
		out.add("structType", value)
	}
	_, union := decl.tag("union")
	out.addTrue("union", union)
	if reserved := reservedOf(decl); len(reserved) > 0 {
		out.add("reserved", reserved)
	}
	if message == nil && from != decl {
		message = from.pkg.messages[from.name]
	} else if message != nil && len(message.gaps) > 0 {
		out.add("protoGaps", message.gaps)
	}
	if validation := validationOf(decl.tags); len(validation) > 0 {
		out.add("validation", validation)
	}
	fields := []members{}
	for _, field := range structure.Fields.List {
		if each := k.field(from, field, message); each != nil {
			fields = append(fields, each)
		}
	}
	out.add("fields", fields)
	return out
}

// usesProto says whether a type without a message is left out on purpose (`+protobuf=false`).
func (k *maker) usesProto(decl *typeDecl) bool {
	value, ok := decl.tag("protobuf")
	return ok && value == "false" || !ok && len(k.pkg.messages) > 0 && decl.pkg.objects[decl.name]
}

// reservedOf reads `+k8s:deprecated=name,protobuf=3`: names and numbers of dropped fields.
func reservedOf(decl *typeDecl) []members {
	var out []members
	for _, each := range append(decl.tags[:len(decl.tags):len(decl.tags)], decl.inside...) {
		if each.name != "k8s:deprecated" {
			continue
		}
		name, number, _ := strings.Cut(each.value, ",protobuf=")
		entry := members{{"json", name}}
		if value, err := strconv.Atoi(number); err == nil {
			entry.add("number", value)
		}
		out = append(out, entry)
	}
	return out
}

// typeMarkers are markers on types that say nothing about validation.
var notValidation = regexp.MustCompile(`^k8s:(deepcopy|prerelease|conversion|defaulter|openapi|protobuf|deprecated|register|validation-gen)`)

// validationOf keeps the markers about validation: declarative validation (k8s:) and those of kubebuilder. A marker given more than once
// has a list.
func validationOf(tags []tag) members {
	var out members
	for _, each := range tags {
		if !strings.HasPrefix(each.name, "k8s:") && !strings.HasPrefix(each.name, "kubebuilder:") || notValidation.MatchString(each.name) {
			continue
		}
		again := false
		for i := range out {
			if out[i].key != each.name {
				continue
			}
			again = true
			switch value := out[i].value.(type) {
			case string:
				out[i].value = []string{value, each.value}
			case []string:
				out[i].value = append(value, each.value)
			}
		}
		if !again {
			out.add(each.name, each.value)
		}
	}
	slices.SortStableFunc(out, func(a, b entry) int { // those with a value first
		if (a.value == "") != (b.value == "") {
			return map[bool]int{true: 1, false: -1}[a.value == ""]
		}
		return strings.Compare(a.key, b.key)
	})
	return out
}

// --- fields

func (k *maker) field(owner *typeDecl, field *ast.Field, message *message) members {
	embedded := len(field.Names) == 0
	goName := ""
	if embedded {
		goName = lastName(field.Type)
	} else {
		goName = field.Names[0].Name
	}
	if !ast.IsExported(goName) {
		return nil
	}
	var structTag reflect.StructTag
	if field.Tag != nil {
		text, _ := strconv.Unquote(field.Tag.Value)
		structTag = reflect.StructTag(text)
	}
	jsonTag, hasJSON := structTag.Lookup("json")
	options := strings.Split(jsonTag, ",")
	name := options[0]
	if name == "-" { // never on the wire, but in the schema of the Go type
		return members{{"json", "-"}, {"go", goName}, {"type", k.node(owner, field.Type)}}
	}
	inline := embedded && name == ""
	omitempty, omitzero := contains(options, "omitempty"), contains(options, "omitzero")
	tags := tagsOf(field.Doc)
	_, pointer := field.Type.(*ast.StarExpr)

	var out members
	out.add("json", name)
	out.add("go", goName)
	node := k.node(owner, field.Type)
	out.add("type", node)
	out.addTrue("noJSONTag", !hasJSON)
	out.addTrue("pointer", pointer)
	out.addTrue("optional", hasTag(tags, "optional"))
	out.addTrue("required", hasTag(tags, "required"))
	out.addTrue("omitempty", omitempty)
	out.addTrue("omitzero", omitzero)
	out.addTrue("inline", inline)
	out.addTrue("embedded", embedded)
	if proto, ok := protoOf(structTag, name, goName, message); ok {
		out.add("proto", proto)
	}
	if hasJSON && !inline {
		if zero, ok := k.zero(owner, field.Type, node, omitempty, omitzero); ok {
			out.add("zero", zero)
		}
	}
	if value, ok := findTag(tags, "default"); ok {
		resolved, reference := k.defaultValue(owner, value)
		out.add("default", resolved)
		out.addText("defaultRef", reference)
	}
	out.addText("patchStrategy", structTag.Get("patchStrategy"))
	out.addText("patchMergeKey", structTag.Get("patchMergeKey"))
	for _, marker := range []string{"listType", "mapType", "structType"} {
		if value, ok := findTag(tags, marker); ok {
			out.add(marker, value)
		}
		if keys := allTags(tags, "listMapKey"); marker == "listType" && len(keys) > 0 {
			out.add("listMapKeys", keys)
		}
	}
	out.addTrue("unionDiscriminator", hasTag(tags, "unionDiscriminator"))
	if gates := gatesOf(tags); len(gates) > 0 {
		out.add("featureGate", gates)
	}
	if value, ok := findTag(tags, "oneOf"); ok {
		out.add("oneOf", value)
	}
	if value, ok := findTag(tags, "zeroOrOneOf"); ok {
		out.add("zeroOrOneOf", value)
	}
	if validation := validationOf(tags); len(validation) > 0 {
		out.add("validation", validation)
	}
	out.addTrue("noDoc", hasJSON && !inline && !hasDescription(field.Doc))
	return out
}

// gatesOf reads `+featureGate=A` and `+featureGate=A,B`; some markers have words after the name.
func gatesOf(tags []tag) []string {
	var gates []string
	for _, value := range allTags(tags, "featureGate") {
		name, _, _ := strings.Cut(value, " ")
		gates = append(gates, strings.Split(name, ",")...)
	}
	return gates
}

func contains(list []string, word string) bool {
	for _, each := range list {
		if each == word {
			return true
		}
	}
	return false
}

func findTag(tags []tag, name string) (string, bool) {
	for _, each := range tags {
		if each.name == name {
			return strings.TrimSpace(each.value), true
		}
	}
	return "", false
}

func hasTag(tags []tag, name string) bool {
	_, ok := findTag(tags, name)
	return ok
}

func allTags(tags []tag, name string) []string {
	var out []string
	for _, each := range tags {
		if each.name == name {
			out = append(out, strings.TrimSpace(each.value))
		}
	}
	return out
}

// hasDescription follows the OpenAPI generator: markers and what follows a line of dashes are no description, nor are lines of TODO.
func hasDescription(doc *ast.CommentGroup) bool {
	for _, line := range commentLines(doc) {
		line = strings.TrimSpace(line)
		if line == "---" {
			return false
		}
		if line != "" && !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "TODO") {
			return true
		}
	}
	return false
}

func protoOf(structTag reflect.StructTag, jsonName, goName string, message *message) (protoField, bool) {
	text, ok := structTag.Lookup("protobuf")
	if !ok || message == nil {
		return protoField{}, false
	}
	name := jsonName
	if name == "" {
		name = strings.ToLower(goName[:1]) + goName[1:]
	}
	for _, part := range strings.Split(text, ",") {
		if value, found := strings.CutPrefix(part, "name="); found {
			name = value
		}
	}
	found, ok := message.fields[name]
	if !ok {
		return protoField{}, false
	}
	if name != jsonName {
		found.Name = name
	}
	return found, true
}

// zero is what Go prints for the unset field; false when it prints nothing.
func (k *maker) zero(owner *typeDecl, expr ast.Expr, node members, omitempty, omitzero bool) (any, bool) {
	if omitzero {
		return nil, false
	}
	if _, pointer := expr.(*ast.StarExpr); pointer || node.get("list") != nil || node.get("map") != nil || node.get("scalar") == "bytes" || node.get("scalar") == "any" {
		return nil, !omitempty
	}
	if name, ok := node.get("special").(string); ok { // structs are printed whether omitempty or not
		switch name {
		case "Quantity":
			return "0", true
		case "Duration":
			return "0s", true
		case "IntOrString":
			return 0, true
		}
		return nil, true
	}
	if node.get("ref") != nil {
		return members{}, true
	}
	if omitempty {
		return nil, false
	}
	switch node.get("scalar") {
	case "string":
		return "", true
	case "bool":
		return false, true
	}
	return 0, true
}

// defaultValue reads `+default=JSON` or `+default=ref(Constant)`.
func (k *maker) defaultValue(owner *typeDecl, text string) (any, string) {
	if strings.HasPrefix(text, "ref(") {
		name := strings.TrimSuffix(strings.TrimPrefix(text, "ref("), ")")
		short := name[strings.LastIndex(name, ".")+1:]
		if value, ok := owner.pkg.constantNamed(short); ok {
			return value, short
		}
		return nil, name
	}
	return rawJSON(text), ""
}
