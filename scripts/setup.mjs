#!/usr/bin/env node
// Installs the dependencies of the workspace once: a stamp of the lock file and the Node version skips later runs.
// `npm run setup`; `npm run setup -- --filter=PACKAGE` installs the packages that the filter of pnpm selects.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const stampFile = `${root}node_modules/.cache/setup.stamp`
const pnpm = 'pnpm@10.34.9'
/** Package of executables of other runtimes, some 250 MB. */
const runtimes = '@krmkit-tests/runtimes'

/** Installs the dependencies of the lock file, but not the runtimes of tests/runtimes (`npm run runtimes`). Exits the process on failure. */
export function setup() {
  const stamp = createHash('sha256')
    .update(readFileSync(`${root}pnpm-lock.yaml`))
    .update(`${pnpm} ${process.version} ${process.arch}`)
    .digest('hex')
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return
  console.error('krmkit: installing dependencies')
  install(`--filter=!${runtimes}`)
  mkdirSync(`${root}node_modules/.cache`, { recursive: true })
  writeFileSync(stampFile, stamp)
}

/** Installs packages as the lock file has them. Exits the process on failure. */
function install(filter) {
  const npx = process.platform === 'win32' ? 'npx.cmd' : 'npx'
  const args = ['--yes', pnpm, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', filter]
  const { status, error } = spawnSync(npx, args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
  if (status === 0) return
  console.error(`krmkit: installation of dependencies failed${error === undefined ? '' : `: ${error.message}`}`)
  process.exit(status ?? 1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup()
  for (const filter of process.argv.slice(2)) install(filter)
}
