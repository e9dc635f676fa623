package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// specialText describes the types whose wire form is written by hand in Go. No marker states it, so that it is written by hand here as well.
//
//go:embed special.json
var specialText []byte

// specialTypes returns the description, and where the messages of a release differ from it.
func specialTypes(m *modules) ([]byte, []string) {
	var described map[string]struct {
		ProtoMessage string
		ProtoFields  []struct {
			Name   string
			Number int
			Rep    string
		}
	}
	if err := json.Unmarshal(specialText, &described); err != nil {
		return specialText, []string{err.Error()}
	}
	var problems []string
	for _, name := range sortedKeys(described) {
		each := described[name]
		at := strings.LastIndex(each.ProtoMessage, ".")
		found := messageOf(m, each.ProtoMessage[:at], each.ProtoMessage[at+1:])
		if found == nil {
			problems = append(problems, fmt.Sprintf("%s: no message %s", name, each.ProtoMessage))
			continue
		}
		if len(found.fields) != len(each.ProtoFields) {
			problems = append(problems, fmt.Sprintf("%s: %d fields in the message, %d described", name, len(found.fields), len(each.ProtoFields)))
		}
		for _, field := range each.ProtoFields {
			if got, ok := found.fields[field.Name]; !ok || got.Number != field.Number || got.Rep != field.Rep {
				problems = append(problems, fmt.Sprintf("%s.%s: the message differs", name, field.Name))
			}
		}
	}
	return specialText, problems
}

// messageOf reads a message by its protobuf package: k8s.io.apimachinery.pkg.api.resource.
func messageOf(m *modules, pkg, name string) *message {
	for module, dir := range m.folder {
		prefix := strings.NewReplacer("/", ".", "-", "_").Replace(module)
		rest, ok := strings.CutPrefix(pkg, prefix+".")
		if !ok {
			continue
		}
		messages, err := readProto(filepath.Join(dir, strings.ReplaceAll(rest, ".", "/"), "generated.proto"))
		if err == nil {
			return messages[name]
		}
	}
	return nil
}
