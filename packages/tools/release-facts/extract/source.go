package main

import (
	"fmt"
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

// sources are the packages of one release that hold versioned API types, by import path.
type sources struct {
	packages map[string]*source
	order    []string
}

// source is one package of API types: a version of a group.
type source struct {
	path    string // k8s.io/api/core/v1
	folder  string // core
	version string // v1
	group   string // "" for core
	dir     string

	types      []*typeDecl // in source order: files by name, declarations by place
	byName     map[string]*typeDecl
	constants  []constant
	registered []string        // names given to AddKnownTypes
	objects    map[string]bool // types with DeepCopyObject
	messages   map[string]*message
	lifecycles map[string]*lifecycle
}

type typeDecl struct {
	name    string
	pkg     *source
	expr    ast.Expr
	alias   bool
	tags    []tag
	inside  []tag             // markers of comments in the body of a struct that belong to no field
	imports map[string]string // of the file: name → path
}

// constant has its text, or where the constant is whose text it has.
type constant struct {
	name, typeName, value string
	path, other           string
}

// tag is one marker of a comment: `+name=value`.
type tag struct{ name, value string }

// readSources parses the packages of the built-in API types.
func readSources(m *modules) (*sources, error) {
	all := &sources{packages: map[string]*source{}}
	roots := []struct{ module, path, folder string }{
		{"k8s.io/api", "k8s.io/api", ""},
		{"k8s.io/apiextensions-apiserver", "k8s.io/apiextensions-apiserver/pkg/apis", "apiextensions"},
		{"k8s.io/apiextensions-api", "k8s.io/apiextensions-api/pkg/apis", "apiextensions"}, // since 1.38; the former then only has aliases
		{"k8s.io/kube-aggregator", "k8s.io/kube-aggregator/pkg/apis", "apiregistration"},
		{"k8s.io/apimachinery", "k8s.io/apimachinery/pkg/apis", "meta"},
	}
	version := regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
	for _, root := range roots {
		if m.folder[root.module] == "" || // not downloaded
			root.module == "k8s.io/apiextensions-apiserver" && m.folder["k8s.io/apiextensions-api"] != "" {
			continue
		}
		base := filepath.Join(m.folder[root.module], strings.TrimPrefix(root.path, root.module))
		found, err := filepath.Glob(filepath.Join(base, "*", "v*", "register.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			dir := filepath.Dir(file)
			folder := filepath.Base(filepath.Dir(dir))
			if !version.MatchString(filepath.Base(dir)) || root.folder != "" && root.folder != folder {
				continue
			}
			each := &source{path: root.path + "/" + folder + "/" + filepath.Base(dir), folder: folder, version: filepath.Base(dir), dir: dir}
			if err := each.read(); err != nil {
				return nil, err
			}
			all.packages[each.path] = each
			all.order = append(all.order, each.path)
		}
	}
	sort.Strings(all.order)
	return all, nil
}

func (s *source) read() error {
	files, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return err
	}
	sort.Strings(files)
	s.byName, s.objects = map[string]*typeDecl{}, map[string]bool{}
	for _, name := range files {
		base := filepath.Base(name)
		switch {
		case strings.HasSuffix(base, "_test.go"), base == "generated.pb.go", base == "types_swagger_doc_generated.go":
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		switch {
		case base == "zz_generated.deepcopy.go":
			s.readObjects(file)
		case base == "zz_generated.prerelease-lifecycle.go":
			s.lifecycles = readLifecycles(file)
		case strings.HasPrefix(base, "zz_generated"):
		default:
			s.readFile(set, file)
		}
	}
	if s.messages, err = readProto(filepath.Join(s.dir, "generated.proto")); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (s *source) readObjects(file *ast.File) {
	for _, decl := range file.Decls {
		if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil && method.Name.Name == "DeepCopyObject" {
			s.objects[receiver(method)] = true
		}
	}
}

func receiver(method *ast.FuncDecl) string {
	expr := method.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if name, ok := expr.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func (s *source) readFile(set *token.FileSet, file *ast.File) {
	imports := importsOf(file)
	endsAt := map[int]*ast.CommentGroup{}
	for _, group := range file.Comments {
		endsAt[set.Position(group.End()).Line] = group
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.GenDecl:
			switch decl.Tok {
			case token.TYPE:
				for _, spec := range decl.Specs {
					s.addType(set, decl, spec.(*ast.TypeSpec), imports, endsAt)
					if len(s.types) > 0 {
						s.types[len(s.types)-1].addInside(spec.(*ast.TypeSpec), file.Comments)
					}
				}
			case token.CONST:
				s.addConstants(decl, imports)
			}
		case *ast.FuncDecl:
			s.addRegistered(decl)
		}
	}
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, each := range file.Imports {
		path, _ := strconv.Unquote(each.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if each.Name != nil {
			name = each.Name.Name
		}
		imports[name] = path
	}
	return imports
}

// addType keeps a type with the markers of the comment above it and of the one before that, which an empty line separates.
func (s *source) addType(set *token.FileSet, decl *ast.GenDecl, spec *ast.TypeSpec, imports map[string]string, endsAt map[int]*ast.CommentGroup) {
	if !spec.Name.IsExported() {
		return
	}
	start := set.Position(decl.Pos()).Line
	doc := decl.Doc
	if spec.Doc != nil {
		doc, start = spec.Doc, set.Position(spec.Pos()).Line
	}
	var tags []tag
	if doc != nil {
		start = set.Position(doc.Pos()).Line
	}
	if earlier := endsAt[start-2]; earlier != nil {
		tags = append(tags, tagsOf(earlier)...)
	}
	tags = append(tags, tagsOf(doc)...)
	each := &typeDecl{name: spec.Name.Name, pkg: s, expr: spec.Type, alias: spec.Assign.IsValid(), tags: tags, imports: imports}
	s.types = append(s.types, each)
	s.byName[each.name] = each
}

func tagsOf(group *ast.CommentGroup) []tag {
	var tags []tag
	for _, line := range commentLines(group) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "+") {
			continue
		}
		name, value := splitTag(line[1:])
		tags = append(tags, tag{name, value})
	}
	return tags
}

// splitTag cuts `name(arguments)=value` at the first equals sign outside the parentheses.
func splitTag(text string) (string, string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case '=':
			if depth == 0 {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// commentLines are the lines of a comment without their slashes; unlike CommentGroup.Text it keeps every line.
func commentLines(group *ast.CommentGroup) []string {
	var lines []string
	if group == nil {
		return nil
	}
	for _, comment := range group.List {
		text := comment.Text
		if strings.HasPrefix(text, "//") {
			lines = append(lines, strings.TrimPrefix(text, "//"))
			continue
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "/*"), "*/"), "\n")...)
	}
	return lines
}

// addInside reads the free comments in the body of a struct: they hold markers of fields that were dropped.
func (t *typeDecl) addInside(spec *ast.TypeSpec, comments []*ast.CommentGroup) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok || t.name != spec.Name.Name {
		return
	}
	ofFields := map[*ast.CommentGroup]bool{}
	for _, field := range structure.Fields.List {
		ofFields[field.Doc] = true
	}
	for _, group := range comments {
		if group.Pos() > structure.Pos() && group.End() < structure.End() && !ofFields[group] {
			t.inside = append(t.inside, tagsOf(group)...)
		}
	}
}

func (s *source) addConstants(decl *ast.GenDecl, imports map[string]string) {
	for _, spec := range decl.Specs {
		value := spec.(*ast.ValueSpec)
		for i, name := range value.Names {
			if i >= len(value.Values) {
				continue
			}
			typeName := ""
			expr := value.Values[i]
			if ident, ok := value.Type.(*ast.Ident); ok {
				typeName = ident.Name
			}
			if call, ok := expr.(*ast.CallExpr); ok && len(call.Args) == 1 {
				if ident, ok := call.Fun.(*ast.Ident); ok {
					typeName, expr = ident.Name, call.Args[0]
				}
			}
			if selector, ok := expr.(*ast.SelectorExpr); ok {
				s.constants = append(s.constants, constant{name: name.Name, typeName: typeName, path: imports[lastName(selector.X)], other: selector.Sel.Name})
			} else if text, ok := s.constantValue(expr); ok {
				s.constants = append(s.constants, constant{name: name.Name, typeName: typeName, value: text})
			}
		}
	}
}

func (s *source) constantValue(expr ast.Expr) (string, bool) {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if expr.Kind == token.STRING {
			text, err := strconv.Unquote(expr.Value)
			return text, err == nil
		}
	case *ast.Ident:
		for _, each := range s.constants {
			if each.name == expr.Name {
				return each.value, true
			}
		}
	case *ast.BinaryExpr:
		left, isLeft := s.constantValue(expr.X)
		right, isRight := s.constantValue(expr.Y)
		return left + right, isLeft && isRight && expr.Op == token.ADD
	}
	return "", false
}

// addRegistered reads the types given to AddKnownTypes in register.go, and the name of the group.
func (s *source) addRegistered(function *ast.FuncDecl) {
	if function.Body == nil {
		return
	}
	ast.Inspect(function.Body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "AddKnownTypes" {
			return true
		}
		for _, argument := range call.Args {
			if name := newObject(argument); name != "" {
				s.registered = append(s.registered, name)
			}
		}
		return true
	})
}

func newObject(expr ast.Expr) string {
	pointer, ok := expr.(*ast.UnaryExpr)
	if !ok {
		return ""
	}
	literal, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	if name, ok := literal.Type.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

func (s *source) constantNamed(name string) (string, bool) {
	for _, each := range s.constants {
		if each.name == name {
			return each.value, true
		}
	}
	return "", false
}

func (s *source) isMeta() bool { return s.folder == "meta" }

func (s *source) short() string { return s.folder + "/" + s.version }

func (t *typeDecl) tag(name string) (string, bool) {
	for _, each := range t.tags {
		if each.name == name {
			return each.value, true
		}
	}
	return "", false
}

func (t *typeDecl) String() string { return fmt.Sprintf("%s.%s", t.pkg.short(), t.name) }
