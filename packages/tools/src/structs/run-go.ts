/** Runs Go programs against the published modules of a release of kube-apiserver. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../lib/workspace.ts'

/**
 * @param program name of a file of packages/tools/struct-diffs
 * @param edit changes the source of the program
 * @returns the lines that the program prints
 */
export function runGo(program: string, release: string, edit: (source: string) => string = (source) => source): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-structs-'))
  try {
    writeFileSync(join(folder, 'go.mod'), goMod(release, folder))
    const source = readFileSync(join(root, 'packages/tools/struct-diffs', program), 'utf8')
    writeFileSync(join(folder, 'main.go'), edit(source))
    go(folder, 'mod', 'tidy')
    return go(folder, 'run', '.').trim().split('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The modules of the staging area stand in go.mod of kube-apiserver without a version; theirs is derived from the release. */
function goMod(release: string, folder: string): string {
  const { GoMod } = JSON.parse(go(folder, 'mod', 'download', '-json', `k8s.io/kubernetes@v${release}`)) as {
    readonly GoMod: string
  }
  const text = readFileSync(GoMod, 'utf8')
  const names = [/^\s*(?:replace )?(k8s\.io\/[a-z-]+) => \.\/staging/gm, /^\s*(k8s\.io\/[a-z-]+) v0\.0\.0$/gm]
  const staging = new Set(names.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name)))
  const version = `v${release.replace(/^1\./, '0.')}`
  const settings = text.split('\n').filter((line) => /^go(debug)? /.test(line))
  return [
    'module krmkit.example/structs',
    ...settings,
    `require k8s.io/kubernetes v${release}`,
    ...[...staging].map((name) => `replace ${name} => ${name} ${version}`),
    '',
  ].join('\n')
}

function go(cwd: string, ...args: readonly string[]): string {
  return execFileSync('go', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] })
}
