package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// openapi is what the generated OpenAPI of k8s.io/kubernetes defines. Modules before 1.24 do not contain it: all types count as defined.
type openapi struct {
	isAbsent bool
	enumOf   map[string]map[string]bool // function name → property → has an enum
}

var schemaFunction = regexp.MustCompile(`^schema_\w+$`)

func readOpenAPI(m *modules) *openapi {
	found := &openapi{enumOf: map[string]map[string]bool{}}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(m.folder["k8s.io/kubernetes"], "pkg/generated/openapi/zz_generated.openapi.go"), nil, 0)
	if err != nil {
		found.isAbsent = true
		return found
	}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !schemaFunction.MatchString(function.Name.Name) {
			continue
		}
		found.enumOf[function.Name.Name] = propertiesWithEnum(function)
	}
	return found
}

func propertiesWithEnum(function *ast.FuncDecl) map[string]bool {
	with := map[string]bool{}
	ast.Inspect(function, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if name, ok := pair.Key.(*ast.Ident); !ok || name.Name != "Properties" {
			return true
		}
		literal, ok := pair.Value.(*ast.CompositeLit)
		if !ok {
			return true
		}
		for _, element := range literal.Elts {
			property, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, ok := property.Key.(*ast.BasicLit)
			if !ok {
				continue
			}
			name, _ := strconv.Unquote(key.Value)
			ast.Inspect(property.Value, func(inner ast.Node) bool {
				if each, ok := inner.(*ast.KeyValueExpr); ok {
					if ident, ok := each.Key.(*ast.Ident); ok && ident.Name == "Enum" {
						with[name] = true
					}
				}
				return true
			})
		}
		return false
	})
	return with
}

// functionOf is the name that the generator gives: the last parts of the package's path and the type.
func functionOf(pkg *source, name string) string {
	parts := strings.Split(pkg.path, "/")
	if len(parts) > 4 {
		parts = parts[len(parts)-4:]
	}
	for i := range parts {
		parts[i] = strings.NewReplacer(".", "", "-", "").Replace(parts[i])
	}
	return "schema_" + strings.Join(parts, "_") + "_" + name
}

func (o *openapi) has(pkg *source, name string) bool {
	_, ok := o.enumOf[functionOf(pkg, name)]
	return ok || o.isAbsent
}

// enumsLeftOut lists the enums of the package's sources that no generated property prints.
func (o *openapi) enumsLeftOut(k *maker, enums members) []string {
	var left []string
	for _, each := range enums {
		reference := k.pkg.short() + "." + each.key
		used, printed := false, false
		for _, decl := range k.pkg.types {
			structure, from := k.structOf(decl)
			properties, ok := o.enumOf[functionOf(k.pkg, decl.name)]
			if structure == nil || !ok {
				continue
			}
			for _, field := range structure.Fields.List {
				if field.Tag == nil || !usesEnum(k.node(from, field.Type), reference) {
					continue
				}
				used = true
				printed = printed || properties[jsonName(field)]
			}
		}
		if used && !printed {
			left = append(left, each.key)
		}
	}
	return left
}

func usesEnum(node members, reference string) bool {
	if node.get("enum") == reference {
		return true
	}
	for _, inside := range []string{"list", "map"} {
		if inner, ok := node.get(inside).(members); ok && usesEnum(inner, reference) {
			return true
		}
	}
	return false
}

func jsonName(field *ast.Field) string {
	text, _ := strconv.Unquote(field.Tag.Value)
	_, rest, _ := strings.Cut(text, `json:"`)
	name, _, _ := strings.Cut(rest, `"`)
	name, _, _ = strings.Cut(name, ",")
	return name
}
