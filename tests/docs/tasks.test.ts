import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, taskPages } from '../../packages/tools/src/release/pages.ts'
import { root } from '../source-files.ts'

describe('docs/guide/tasks.md', () => {
  it('names an existing page for each of 25 tasks', () => {
    const rows = readFileSync(join(root, 'docs/guide/tasks.md'), 'utf8').match(/^\| \d+\. .*$/gm) ?? []
    expect(rows).toHaveLength(25)
    expect(rows.filter((row) => !/\]\([^)]+\.md(#[\w-]+)?\)/.test(row))).toEqual([])
    expect(taskPages().filter((page) => !existsSync(join(root, page)))).toEqual([])
  })

  it('leads to pages that name the file of each block with a title in their text', () => {
    const pages = taskPages().filter((page) => page !== 'docs/guide/will-my-cluster-upgrade-break-me.md')
    const unnamed = pages.flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
      const files = blocksOf(page).filter(({ title }) => title !== '' && page.startsWith('docs/'))
      return files.filter(({ title }) => !text.includes(`\`${title}\``)).map(({ title }) => `${page}: ${title}`)
    })
    expect(unnamed).toEqual([])
  })
})
