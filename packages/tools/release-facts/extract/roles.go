package main

import (
	"os"
	"path/filepath"
)

// writeRoles copies the default RBAC objects of the release, as the tests of the server hold them, to the folder `roles`.
func writeRoles(m *modules, out string) error {
	dir := filepath.Join(m.folder[kubernetes], "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata")
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		folder := filepath.Join(out, "roles")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
