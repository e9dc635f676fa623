import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../source-files.ts'

describe('docs/errors.md', () => {
  it('has cause and cure of every code of every error class', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/errors.mjs', '--check'], { cwd: root, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })
})

describe('docs/tasks.md', () => {
  it('names a page for each of 25 tasks', () => {
    const rows = readFileSync(join(root, 'docs/tasks.md'), 'utf8').match(/^\| \d+\. .*$/gm) ?? []
    expect(rows).toHaveLength(25)
    expect(rows.filter((row) => !/\]\([^)]+\.md(#[\w-]+)?\)/.test(row))).toEqual([])
  })
})
