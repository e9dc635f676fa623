package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// releaseFacts are the facts of a release that belong to no group: feature gates with their history, what depends on what, the flags of
// kube-apiserver, the admission plugins in their order and which of them are on.
func releaseFacts(m *modules) ([]byte, error) {
	var out strings.Builder
	out.WriteString("{" + `"release":` + string(plain(m.release)) + ",\n")
	out.WriteString(`"modules":` + string(plain(m.version)) + ",\n")
	out.WriteString(`"featureGates":` + lines(featureGates(m)) + ",\n")
	out.WriteString(`"featureGateDependencies":` + lines(gateDependencies(m)) + ",\n")
	out.WriteString(`"priorities":` + lines(priorities(m)) + ",\n")
	out.WriteString(`"storageVersions":` + lines(storageVersions(m)) + ",\n")
	out.WriteString(`"columns":` + lines(tableColumns(m)) + ",\n")
	all, on := admissionPlugins(m)
	out.WriteString(`"admissionPlugins":` + string(plain(all)) + ",\n")
	out.WriteString(`"admissionPluginsOn":` + string(plain(on)) + ",\n")
	if _, resources := enabledByDefault(m); len(resources) > 0 {
		out.WriteString(`"enabledResources":` + string(plain(resources)) + ",\n")
	}
	out.WriteString(`"flags":` + lines(flagsOf(m)) + "}\n")
	return []byte(out.String()), nil
}

var gateFiles = []struct{ module, glob, component string }{
	{"k8s.io/kubernetes", "pkg/features/*.go", "kubernetes"},
	{"k8s.io/apiserver", "pkg/features/*.go", "apiserver"},
	{"k8s.io/apiextensions-apiserver", "pkg/features/*.go", "apiextensions"},
	{"k8s.io/kube-aggregator", "pkg/features/*.go", "aggregator"},
	{"k8s.io/component-base", "*/features/*.go", "component-base"},
	{"k8s.io/component-base", "logs/api/v1/*features.go", "component-base"},
	{"k8s.io/component-base", "*/api/v1/*features.go", "component-base"},
	{"k8s.io/component-base", "zpages/features/*.go", "component-base"},
	{"k8s.io/component-base", "compatibility/*.go", "component-base"},
	{"k8s.io/controller-manager", "pkg/features/*.go", "controller-manager"},
	{"k8s.io/client-go", "features/*.go", "client-go"},
}

func eachGateFile(m *modules, visit func(component string, file *ast.File)) {
	seen := map[string]bool{}
	for _, each := range gateFiles {
		files, _ := filepath.Glob(filepath.Join(m.folder[each.module], each.glob))
		for _, name := range files {
			if seen[name] || strings.HasSuffix(name, "_test.go") {
				continue
			}
			seen[name] = true
			if file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0); err == nil {
				visit(each.component, file)
			}
		}
	}
}

type gate struct {
	component string
	history   []members
}

// featureGates reads every map of versioned specs: name → history of stage, default, lock.
func featureGates(m *modules) members {
	gates := map[string]*gate{}
	names := gateNames(m)
	eachGateFile(m, func(component string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			pair, ok := node.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			name := names[lastName(pair.Key)]
			literal, ok := pair.Value.(*ast.CompositeLit)
			if !ok || name == "" {
				return true
			}
			history := specsOf(literal)
			if len(history) == 0 {
				return true
			}
			if gates[name] == nil || len(history) > len(gates[name].history) {
				gates[name] = &gate{component, history}
			}
			return false
		})
	})
	var out members
	for _, name := range sortedKeys(gates) {
		out.add(name, members{{"in", gates[name].component}, {"history", gates[name].history}})
	}
	return out
}

// gateNames reads `Constant featuregate.Feature = "Name"`: a few constants have another name than their gate.
func gateNames(m *modules) map[string]string {
	names := map[string]string{}
	eachGateFile(m, func(_ string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 {
				value := spec.Values[0]
				if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
					value = call.Args[0]
				}
				if text := literal(value); text != "" {
					names[spec.Names[0].Name] = text
				}
			}
			return true
		})
	})
	return names
}

// specsOf reads one spec, or a list of them with their versions.
func specsOf(literal *ast.CompositeLit) []members {
	if spec, ok := specOf(literal); ok {
		return []members{spec}
	}
	var history []members
	for _, element := range literal.Elts {
		if inner, ok := element.(*ast.CompositeLit); ok {
			if spec, ok := specOf(inner); ok {
				history = append(history, spec)
			}
		}
	}
	return history
}

func specOf(literal *ast.CompositeLit) (members, bool) {
	values := map[string]ast.Expr{}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			values[lastName(pair.Key)] = pair.Value
		}
	}
	stage, ok := values["PreRelease"]
	if !ok {
		return nil, false
	}
	var out members
	if call, ok := values["Version"].(*ast.CallExpr); ok && len(call.Args) > 0 {
		if text, ok := call.Args[0].(*ast.BasicLit); ok {
			since, _ := strconv.Unquote(text.Value)
			out.add("since", since)
		} else if len(call.Args) == 2 {
			out.add("since", text2(call.Args))
		}
	}
	if name := lastName(stage); name != "" {
		out.add("stage", name)
	} else {
		out.add("stage", "Alpha")
	}
	out.add("default", lastName(values["Default"]) == "true")
	out.addTrue("locked", values["LockToDefault"] != nil && lastName(values["LockToDefault"]) == "true")
	return out, true
}

func text2(args []ast.Expr) string {
	var parts []string
	for _, each := range args {
		if literal, ok := each.(*ast.BasicLit); ok {
			parts = append(parts, literal.Value)
		}
	}
	return strings.Join(parts, ".")
}

// gateDependencies reads `map[Feature][]Feature`: gates that a gate needs.
func gateDependencies(m *modules) members {
	needs := map[string][]string{}
	names := gateNames(m)
	eachGateFile(m, func(_ string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Names) == 0 || !strings.HasSuffix(spec.Names[0].Name, "Dependencies") || len(spec.Values) == 0 {
				return true
			}
			literal, ok := spec.Values[0].(*ast.CompositeLit)
			if !ok {
				return true
			}
			for _, element := range literal.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				if list, ok := pair.Value.(*ast.CompositeLit); ok {
					for _, each := range list.Elts {
						name := names[lastName(pair.Key)]
						needs[name] = append(needs[name], names[lastName(each)])
					}
				}
			}
			return false
		})
	})
	var out members
	for _, name := range sortedKeys(needs) {
		if len(needs[name]) > 0 {
			out.add(name, needs[name])
		}
	}
	return out
}

// admissionPlugins reads the ordered list of plugins and those that are on.
func admissionPlugins(m *modules) (all, on []string) {
	dir := filepath.Join(m.folder["k8s.io/kubernetes"], "pkg/kubeapiserver/options")
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "plugins.go"), nil, parser.ParseComments)
	all, on = []string{}, []string{}
	if err != nil {
		return all, on
	}
	imports := importsOf(file)
	name := func(expr ast.Expr) string {
		return pluginName(m, imports[lastName(expr.(*ast.SelectorExpr).X)], lastName(expr))
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && spec.Names[0].Name == "AllOrderedPlugins" {
			for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
				all = append(all, name(element))
			}
		}
		if call, ok := node.(*ast.CallExpr); ok && len(on) == 0 && len(call.Args) > 10 {
			for _, argument := range call.Args {
				if _, ok := argument.(*ast.SelectorExpr); ok {
					on = append(on, name(argument))
				}
			}
		}
		return true
	})
	sort.Strings(on)
	return all, on
}

var pluginConstant = regexp.MustCompile(`(\w+)\s*(?:=|string =)\s*"(\w+)"`)

func pluginName(m *modules, path, constant string) string {
	for module, dir := range m.folder {
		rest, ok := strings.CutPrefix(path, module+"/")
		if !ok {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(dir, rest, "*.go"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			for _, found := range pluginConstant.FindAllSubmatch(text, -1) {
				if string(found[1]) == constant {
					return string(found[2])
				}
			}
		}
	}
	return path + "." + constant
}

var flagFolders = []struct{ module, path string }{
	{"k8s.io/kubernetes", "cmd/kube-apiserver/app/options"},
	{"k8s.io/kubernetes", "pkg/controlplane/apiserver/options"},
	{"k8s.io/kubernetes", "pkg/kubeapiserver/options"},
	{"k8s.io/apiserver", "pkg/server/options"},
	{"k8s.io/apiserver", "pkg/server/options/encryptionconfig"},
	{"k8s.io/apiserver", "pkg/admission/plugin/webhook"},
	{"k8s.io/component-base", "metrics"},
	{"k8s.io/component-base", "logs/api/v1"},
	{"k8s.io/component-base", "logs"},
	{"k8s.io/component-base", "featuregate"},
	{"k8s.io/component-base", "compatibility"},
	{"k8s.io/component-base", "cli/flag"},
	{"k8s.io/component-base", "version/verflag"},
}

var flagCall = regexp.MustCompile(`^(Bool|Int|Int32|Int64|Float32|Float64|String|StringSlice|StringArray|Duration|IP|IPNet|Var|Uint\d*|StringToString)(Var)?P?$`)

// flagsOf reads the names of the flags from the calls that define them, with the words of their deprecation.
func flagsOf(m *modules) members {
	found := map[string]members{}
	for _, each := range flagFolders {
		files, _ := filepath.Glob(filepath.Join(m.folder[each.module], each.path, "*.go"))
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				continue
			}
			ast.Inspect(file, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || len(call.Args) < 2 {
					return true
				}
				selector, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if selector.Sel.Name == "MarkDeprecated" {
					if flag := literal(call.Args[0]); flag != "" {
						found[flag] = append(found[flag], entry{"deprecated", true})
					}
				}
				if !flagCall.MatchString(selector.Sel.Name) {
					return true
				}
				for _, argument := range call.Args[:2] {
					if flag := literal(argument); flag != "" && regexp.MustCompile(`^[a-z][a-z0-9-]+$`).MatchString(flag) {
						if _, ok := found[flag]; !ok {
							found[flag] = nil
						}
						found[flag] = append(members{{"type", selector.Sel.Name}}, found[flag]...)
						break
					}
				}
				return true
			})
		}
	}
	var out members
	for _, name := range sortedKeys(found) {
		out.add(name, found[name])
	}
	return out
}

func literal(expr ast.Expr) string {
	if literal, ok := expr.(*ast.BasicLit); ok && literal.Kind == token.STRING {
		text, _ := strconv.Unquote(literal.Value)
		return text
	}
	return ""
}
