// Command extract reads the published Go modules of one Kubernetes release and writes the facts about its built-in types: one JSON file
// per group (README.md describes them), special.json for types with a hand-written wire form, release.json with the facts that belong to
// no group, and the default roles.
//
// It imports and compiles no code of Kubernetes: it parses the sources (types.go and its comment markers), generated.proto,
// zz_generated.prerelease-lifecycle.go, the generated OpenAPI and the discovery documents that the modules contain. So one binary reads
// every release, whatever Go version a release requires.
//
//	extract -release 1.37 -out DIR   # downloads missing modules with `go mod download`
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	release := flag.String("release", "", "0.37.2 (k8s.io/kubernetes is then 1.37.2), or 1.37: the newest patch")
	partial := flag.Bool("partial", false, "continue without modules that cannot be downloaded: old releases, pre-releases")
	out := flag.String("out", "", "folder for the JSON files")
	flag.Parse()
	if *release == "" || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*release, *out, *partial); err != nil {
		log.Fatal(err)
	}
}

func run(release, out string, partial bool) error {
	modules, err := modulesOf(release, partial)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	sources, err := readSources(modules)
	if err != nil {
		return err
	}
	groups := modelOf(sources, modules)
	for _, group := range groups {
		if err := os.WriteFile(filepath.Join(out, fileName(group.Folder)), group.text(), 0o644); err != nil {
			return err
		}
	}
	special, problems := specialTypes(modules)
	if err := os.WriteFile(filepath.Join(out, "special.json"), special, 0o644); err != nil {
		return err
	}
	for _, each := range problems {
		log.Printf("special.json: %s", each)
	}
	facts, err := releaseFacts(modules)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "release.json"), facts, 0o644); err != nil {
		return err
	}
	if err := writeRoles(modules, out); err != nil {
		return err
	}
	fmt.Printf("%s: %d packages\n", release, len(sources.packages))
	return nil
}

// fileName is that of the folder, but for the group lifecycle.k8s.io: consumers of the facts keep the table of lifecycles in lifecycle.json.
func fileName(folder string) string {
	if folder == "lifecycle" {
		return "lifecycle.k8s.io.json"
	}
	return folder + ".json"
}
