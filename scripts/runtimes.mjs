#!/usr/bin/env node
// `npm run runtimes`: installs the runtimes of tests/runtimes (Deno, Bun, workerd, versions of Node; some 250 MB) and runs its suite in each.
import { spawnSync } from 'node:child_process'
import { install, root, runtimes, setup } from './setup.mjs'

setup()
install(`--filter=${runtimes}`)
const { status } = spawnSync(process.execPath, ['scripts/test.mjs', 'tests/runtimes', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, KRMKIT_RUNTIMES: 'installed' },
})
process.exitCode = status ?? 1
