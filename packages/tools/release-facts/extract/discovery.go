package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// discovery is what api/discovery of k8s.io/kubernetes records: every group version served when all of alpha and beta is on.
type discovery struct {
	lists               map[string]apiResourceList // by group/version
	namespacedElsewhere map[string]bool            // scope of kinds that are only sub-resources of another group's resource, by core/v1.Kind
}

type apiResourceList struct {
	GroupVersion string
	Resources    []apiResource
}

type apiResource struct {
	Name, SingularName, Kind, Group, Version, StorageVersionHash string
	Namespaced                                                   bool
	ShortNames, Categories, Verbs                                []string
}

type namedMembers struct {
	name    string
	members members
}

func readDiscovery(m *modules) *discovery {
	found := &discovery{lists: map[string]apiResourceList{}, namespacedElsewhere: map[string]bool{}}
	files, _ := filepath.Glob(filepath.Join(m.folder["k8s.io/kubernetes"], "api/discovery/*__*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var list apiResourceList
		if json.Unmarshal(text, &list) == nil && list.GroupVersion != "" && list.Resources != nil {
			found.lists[list.GroupVersion] = list
		}
	}
	if _, isComplete := found.lists["v1"]; !isComplete {
		found.readSwagger(m)
	}
	return found
}

func (d *discovery) key(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

func (d *discovery) has(group, version string) bool {
	_, ok := d.lists[d.key(group, version)]
	return ok
}

func (d *discovery) resources(all *sources, pkg *source) []namedMembers {
	var out []namedMembers
	for _, each := range d.lists[d.key(pkg.group, pkg.version)].Resources {
		var members members
		kind := each.Kind
		if each.Version != "" && (each.Group != pkg.group || each.Version != pkg.version) {
			if other := all.find(each.Group, each.Version); other != nil {
				kind = other.short() + "." + kind
				d.namespacedElsewhere[kind] = each.Namespaced
			}
		}
		members.add("kind", kind)
		members.add("namespaced", each.Namespaced)
		members.addText("singular", each.SingularName)
		if len(each.ShortNames) > 0 {
			members.add("shortNames", each.ShortNames)
		}
		if len(each.Categories) > 0 {
			members.add("categories", each.Categories)
		}
		members.add("verbs", each.Verbs)
		out = append(out, namedMembers{each.Name, members})
	}
	return out
}

func (s *sources) find(group, version string) *source {
	for _, path := range s.order {
		if each := s.packages[path]; !each.isMeta() && groupName(each) == group && each.version == version {
			return each
		}
	}
	return nil
}

// enabledByDefault reads the packages of the group versions that the control plane enables, and the resources that it enables of others.
func enabledByDefault(m *modules) (versions map[string]bool, resources []string) {
	versions = map[string]bool{
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1": true,
		"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1":       true,
	}
	if m.minor < 22 {
		versions["k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"] = true
		versions["k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"] = true
	}
	dir := filepath.Join(m.folder[kubernetes], "pkg/controlplane")
	for _, name := range []string{"instance.go", "apiserver/config.go", "apiserver/server.go", "apiserver/apis.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			continue
		}
		imports := importsOf(file)
		enable := func(expr ast.Expr) {
			if path := packageOf(expr, imports); path != "" {
				versions[path] = true
			} else if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) == 1 {
				if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "WithResource" {
					resources = append(resources, strings.TrimPrefix(packageOf(selector.X, imports), "k8s.io/api/")+"/"+literal(call.Args[0]))
				}
			}
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ValueSpec:
				if list := enabledList(node.Names, node.Values); list != nil {
					each(list.Elts, enable)
				}
			case *ast.CallExpr: // before 1.24
				if selector, ok := node.Fun.(*ast.SelectorExpr); ok && (selector.Sel.Name == "EnableVersions" || selector.Sel.Name == "EnableResources") {
					each(node.Args, enable)
				}
			}
			return true
		})
	}
	sort.Strings(resources)
	return versions, resources
}

func enabledList(names []*ast.Ident, values []ast.Expr) *ast.CompositeLit {
	if len(names) != 1 || len(values) != 1 {
		return nil
	}
	name := names[0].Name
	if !strings.HasSuffix(name, "EnabledByDefault") && name != "legacyBetaEnabledByDefaultResources" {
		return nil
	}
	list, _ := values[0].(*ast.CompositeLit)
	return list
}

func each(exprs []ast.Expr, visit func(ast.Expr)) {
	for _, expr := range exprs {
		visit(expr)
	}
}

// packageOf is the package of `appsv1.SchemeGroupVersion`.
func packageOf(expr ast.Expr, imports map[string]string) string {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "SchemeGroupVersion" {
		return ""
	}
	path := imports[lastName(selector.X)]
	if rest, ok := strings.CutPrefix(path, "k8s.io/kubernetes/pkg/apis/"); ok {
		return "k8s.io/api/" + rest
	}
	return path
}

var clientCall = regexp.MustCompile(`(?s)gentype\.New\w+\[\*\w+\.(\w+)[^(]*\]\(\s*"([a-z]+)"`)
var clientResource = regexp.MustCompile(`(?s)\*\w+\.(\w+), (?:err )?error\) \{.{0,300}?Resource\("([a-z]+)"\)`)

// readClients reads the plurals of client-go: by core/v1, then by kind.
func readClients(m *modules) map[string]map[string]string {
	plurals := map[string]map[string]string{}
	files, _ := filepath.Glob(filepath.Join(m.folder["k8s.io/client-go"], "kubernetes/typed/*/*/*.go"))
	for _, file := range files {
		if strings.HasSuffix(file, "_expansion.go") || strings.HasSuffix(file, "_client.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		version := filepath.Base(filepath.Dir(file))
		folder := filepath.Base(filepath.Dir(filepath.Dir(file)))
		if found := clientCall.FindSubmatch(text); found != nil {
			put(plurals, folder+"/"+version, string(found[1]), string(found[2]))
		} else if found := clientResource.FindSubmatch(text); found != nil {
			put(plurals, folder+"/"+version, string(found[1]), string(found[2]))
		}
	}
	return plurals
}

func put(in map[string]map[string]string, outer, inner, value string) {
	if in[outer] == nil {
		in[outer] = map[string]string{}
	}
	in[outer][inner] = value
}
