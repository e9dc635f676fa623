#!/usr/bin/env node
// `npm run runtimes [-- --install]`: installs the runtimes of tests/runtimes (Deno, Bun, workerd, versions of Node; some 250 MB) and, but for
// `--install`, runs its suite in each.
import { spawnSync } from 'node:child_process'
import { install, root, runtimes, setup } from './setup.mjs'

setup()
install(`--filter=${runtimes}`)
const args = process.argv.slice(2)
if (!args.includes('--install')) {
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', 'tests/runtimes', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, KRMKIT_RUNTIMES: 'installed' },
  })
  process.exitCode = status ?? 1
}
