package main

import (
	"crypto/sha256"
	"encoding/base64"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// How a release orders, stores and prints its resources.

var priorityEntry = regexp.MustCompile(`\{Group: "([^"]*)", Version: "([^"]+)"\}:\s*\{(?:Group|group): (\d+), (?:Version|version): (\d+)\}`)

// priorities reads the priorities of groups and versions in discovery: group/version → [of the group, of the version].
func priorities(m *modules) members {
	found := map[string][]int{}
	for _, file := range []string{"pkg/controlplane/apiserver/aggregator.go", "cmd/kube-apiserver/app/aggregator.go", "pkg/controlplane/apiserver/apis.go"} {
		text, err := os.ReadFile(filepath.Join(m.folder["k8s.io/kubernetes"], file))
		if err != nil {
			continue
		}
		for _, entry := range priorityEntry.FindAllStringSubmatch(string(text), -1) {
			group, _ := strconv.Atoi(entry[3])
			version, _ := strconv.Atoi(entry[4])
			found[entry[1]+"/"+entry[2]] = []int{group, version}
		}
	}
	var out members
	for _, key := range sortedKeys(found) {
		out.add(key, found[key])
	}
	return out
}

// storageVersions returns the version in which each resource is stored: the one whose hash the discovery document has.
func storageVersions(m *modules) members {
	found := map[string]string{}
	for _, list := range readDiscovery(m).lists {
		group := groupOf(list.GroupVersion)
		for _, each := range list.Resources {
			if each.StorageVersionHash == "" {
				continue
			}
			for _, version := range versionNames {
				for _, storedIn := range []string{group, "", "apps", "networking.k8s.io"} { // the objects of some groups are stored in another
					sum := sha256.Sum256([]byte(storedIn + "/" + version + "/" + each.Kind))
					if base64.StdEncoding.EncodeToString(sum[:8]) == each.StorageVersionHash {
						found[group+"/"+each.Name] = strings.TrimPrefix(storedIn+"/"+version, "/")
					}
				}
			}
		}
	}
	var out members
	for _, key := range sortedKeys(found) {
		out.add(key, found[key])
	}
	return out
}

var versionNames = func() []string {
	names := []string{}
	for major := 1; major <= 3; major++ {
		base := "v" + strconv.Itoa(major)
		names = append(names, base)
		for minor := 1; minor <= 9; minor++ {
			names = append(names, base+"alpha"+strconv.Itoa(minor), base+"beta"+strconv.Itoa(minor))
		}
	}
	return names
}()

// tableColumns reads the columns that the server prints: core.Pod → [name, type, format, priority] of each.
func tableColumns(m *modules) members {
	name := filepath.Join(m.folder["k8s.io/kubernetes"], "pkg/printers/internalversion/printers.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return members{}
	}
	imports := importsOf(file)
	printed := map[string]string{} // function → kind
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(function.Name.Name, "print") || len(function.Type.Params.List) == 0 {
			continue
		}
		pointer, ok := function.Type.Params.List[0].Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if selector, ok := pointer.X.(*ast.SelectorExpr); ok {
			path := strings.TrimPrefix(imports[lastName(selector.X)], "k8s.io/kubernetes/pkg/apis/")
			printed[function.Name.Name] = path + "." + selector.Sel.Name
		}
	}
	defined := map[string][][]string{}
	found := map[string][][]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec: // since 1.38
			if len(node.Names) == 1 && len(node.Values) == 1 {
				if list, ok := node.Values[0].(*ast.CompositeLit); ok {
					defined[node.Names[0].Name] = columnsOf(list)
				}
			}
		case *ast.AssignStmt:
			if list, ok := node.Rhs[0].(*ast.CompositeLit); ok && len(node.Lhs) == 1 {
				if columns := columnsOf(list); len(columns) > 0 {
					defined[lastName(node.Lhs[0])] = columns
				}
			}
		case *ast.CallExpr:
			selector, ok := node.Fun.(*ast.SelectorExpr)
			if ok && selector.Sel.Name == "TableHandler" && len(node.Args) == 2 {
				columns := defined[lastName(node.Args[0])]
				if kind := printed[lastName(node.Args[1])]; kind != "" && !strings.HasSuffix(kind, "List") && len(columns) > 0 {
					found[kind] = columns
				}
			}
		}
		return true
	})
	var out members
	for _, kind := range sortedKeys(found) {
		out.add(kind, found[kind])
	}
	return out
}

func columnsOf(list *ast.CompositeLit) [][]string {
	var columns [][]string
	for _, element := range list.Elts {
		column, ok := element.(*ast.CompositeLit)
		if !ok {
			return nil
		}
		row := []string{"", "", "", "0"}
		for _, each := range column.Elts {
			pair, ok := each.(*ast.KeyValueExpr)
			if !ok {
				return nil
			}
			for i, key := range []string{"Name", "Type", "Format", "Priority"} {
				if value, ok := pair.Value.(*ast.BasicLit); ok && lastName(pair.Key) == key {
					row[i] = strings.Trim(value.Value, `"`)
				}
			}
		}
		if row[1] == "" {
			return nil
		}
		columns = append(columns, row)
	}
	return columns
}

func groupOf(groupVersion string) string {
	group, _, found := strings.Cut(groupVersion, "/")
	if !found {
		return ""
	}
	return group
}
