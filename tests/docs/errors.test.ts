import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'

describe('docs/reference/generated/errors.md', () => {
  it('has cause and cure of every code of every error class', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/run.mjs', 'errors', '--check'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})
