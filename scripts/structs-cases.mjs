#!/usr/bin/env node
// Writes packages/kinds/testdata/struct-diffs.json: differences of random values as kube-apiserver prints them. Needs Go.
//   node scripts/structs-cases.mjs
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'
import { runGo } from './structs/run-go.mjs'

/** Releases with their own form, and the lines of the program that call it. */
const forms = {
  '1.33.13': {
    call: 'cmp.Diff',
    imports: '"github.com/google/go-cmp/cmp"',
    // go-cmp chooses by chance between kinds of spaces and where it begins to compare; a variable of the library fixes both.
    setUp:
      '//go:linkname deterministic github.com/google/go-cmp/cmp/internal/flags.Deterministic\nvar deterministic bool\n\nfunc setUp() { deterministic = true }',
  },
  '1.37.2': { call: 'diff.Diff', imports: '"k8s.io/apimachinery/pkg/util/diff"', setUp: 'func setUp() {}' },
}

const lines = Object.entries(forms).flatMap(([release, { call, imports, setUp }]) => {
  const edit = (source) => source.replace('//IMPORT', imports).replace('//SETUP', setUp).replace('DIFF(x, y)', `${call}(x, y)`)
  const minor = release.split('.').slice(0, 2).join('.')
  return runGo('cases.go', release, edit)
    .trim()
    .split('\n')
    .map((line) => `{"release":"${minor}",${line.slice(1)}`)
})
writeFileSync(join(root, 'packages/kinds/testdata/struct-diffs.json'), `[\n${lines.join(',\n')}\n]\n`)
