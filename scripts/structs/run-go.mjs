// Runs a Go program of this folder against the modules of a release of kube-apiserver.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @param edit changes the source of the program
 * @returns what the program prints
 */
export function runGo(program, release, edit = (source) => source) {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-structs-'))
  try {
    writeFileSync(join(folder, 'go.mod'), goMod(release, folder))
    const source = readFileSync(fileURLToPath(new URL(program, import.meta.url)), 'utf8')
    writeFileSync(join(folder, 'main.go'), edit(source))
    go(folder, 'mod', 'tidy')
    return go(folder, 'run', '.')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The modules of the staging area stand in go.mod of kube-apiserver without a version; theirs is derived from the release. */
function goMod(release, folder) {
  const { GoMod } = JSON.parse(go(folder, 'mod', 'download', '-json', `k8s.io/kubernetes@v${release}`))
  const text = readFileSync(GoMod, 'utf8')
  const staging = new Set([...text.matchAll(/^\s*(?:replace )?(k8s\.io\/[a-z-]+) => \.\/staging/gm)].map(([, name]) => name))
  for (const [, name] of text.matchAll(/^\s*(k8s\.io\/[a-z-]+) v0\.0\.0$/gm)) staging.add(name)
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

function go(cwd, ...args) {
  return execFileSync('go', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] })
}
