import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../lib/workspace.ts'

const hasGo = spawnSync('go', ['version']).status === 0

it.skipIf(!hasGo)('the extractor passes its own tests (needs Go)', () => {
  const cwd = join(root, 'packages/tools/release-facts/extract')
  const { status, stdout, stderr } = spawnSync('go', ['test', './...'], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GOWORK: 'off' },
  })
  expect([status, stderr], stdout).toEqual([0, ''])
})
