import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('the generated modules are those that the generator writes today', () => {
  const script = fileURLToPath(new URL('../../../../scripts/generate-types.mjs', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect([status, stdout.trim(), stderr]).toEqual([0, 'types are up to date', ''])
}, 30_000)
