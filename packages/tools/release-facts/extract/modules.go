package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// modules are the folders of one release's modules in the module cache.
type modules struct {
	release string            // 0.37.2
	minor   int               // 37
	folder  map[string]string // by module
	version map[string]string // by module
}

const kubernetes = "k8s.io/kubernetes"

// wanted lists the modules that have facts, k8s.io/kubernetes first: its newest patch is the release.
var wanted = []string{
	kubernetes, "k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/apiextensions-api", "k8s.io/kube-aggregator",
	"k8s.io/client-go", "k8s.io/apiserver", "k8s.io/component-base", "k8s.io/controller-manager", "k8s.io/pod-security-admission",
}

// since has the first minor of modules that were split off others.
var since = map[string]int{"k8s.io/apiextensions-api": 38}

var releaseForm = regexp.MustCompile(`^v?[01]\.(\d+)(?:\.(\d.*))?$`)

// modulesOf finds and downloads the modules of a release: of one patch (0.37.2), or of the newest patch (1.37). A release without patches
// has the newest of its pre-releases.
//
// partial: leave out modules that cannot be downloaded.
func modulesOf(release string, partial bool) (*modules, error) {
	parts := releaseForm.FindStringSubmatch(release)
	if parts == nil {
		return nil, fmt.Errorf("release %q is not of the form 1.MINOR or 0.MINOR.PATCH", release)
	}
	minor, _ := strconv.Atoi(parts[1])
	found := &modules{minor: minor, folder: map[string]string{}, version: map[string]string{}}
	patch := parts[2]
	for _, module := range wanted {
		if minor < since[module] {
			continue
		}
		version, dir, err := find(module, minor, patch)
		if err != nil && !partial {
			return nil, err
		}
		if err != nil {
			log.Print(err)
			continue
		}
		found.folder[module], found.version[module] = dir, version
		if patch == "" {
			_, patch, _ = strings.Cut(strings.TrimPrefix(version, "v"), ".")
			_, patch, _ = strings.Cut(patch, ".")
		}
	}
	found.release = strings.TrimPrefix(found.version["k8s.io/api"], "v")
	return found, nil
}

func find(module string, minor int, patch string) (version, dir string, err error) {
	major := "v0."
	if module == kubernetes {
		major = "v1."
	}
	prefix := major + strconv.Itoa(minor) + "."
	version = prefix + patch
	if patch == "" {
		output, err := goCommand("list", "-m", "-versions", module)
		if err != nil {
			return "", "", err
		}
		if version = newest(strings.Fields(string(output)), prefix); version == "" {
			return "", "", fmt.Errorf("%s has no version of minor %d", module, minor)
		}
	}
	dir, err = download(module, version)
	return version, dir, err
}

// newest returns the last version with the prefix, of a list in ascending order; a pre-release only where there is nothing else.
func newest(versions []string, prefix string) string {
	final, preRelease := "", ""
	for _, version := range versions {
		if patch, ok := strings.CutPrefix(version, prefix); !ok {
			continue
		} else if strings.Contains(patch, "-") {
			preRelease = version
		} else {
			final = version
		}
	}
	if final != "" {
		return final
	}
	return preRelease
}

// download has the go command download a module, and returns its folder.
func download(module, version string) (string, error) {
	output, err := goCommand("mod", "download", "-json", module+"@"+version)
	var answer struct{ Dir, Error string }
	if parsed := json.Unmarshal(output, &answer); parsed != nil && err == nil {
		err = parsed
	}
	if answer.Error != "" {
		return "", fmt.Errorf("%s: %s", module, answer.Error)
	}
	return answer.Dir, err
}

func goCommand(arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=auto")
	command.Dir = os.TempDir()
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		return output.Bytes(), fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, problems.String())
	}
	return output.Bytes(), nil
}
