import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { handWrittenFiles } from './hand-written.ts'
import suites from './long-suites.json' with { type: 'json' }
import { root } from './source-files.ts'

/** `npm test` and `npm test -- --long` together run every test file, each once. */

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const { stdout } = spawnSync(process.execPath, [vitest, 'list', '--filesOnly', '--json'], { cwd: root, encoding: 'utf8' })
const listed = (JSON.parse(stdout) as { readonly file: string; readonly projectName: string }[]).map(({ file, projectName }) => ({
  file: relative(root, file).replaceAll('\\', '/'),
  isLong: projectName.startsWith('long'),
}))

it('every test file is in one project', () => {
  const files = handWrittenFiles().sources.filter((path) => path.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(500)
  expect(listed.map(({ file }) => file).sort()).toEqual(files)
})

it.each(Object.entries(suites))('the long suite %s has files', (_, { files }) => {
  for (const pattern of files) {
    const [folder = ''] = pattern.split(/[*!]/)
    expect(
      listed.some(({ file, isLong }) => isLong && file.startsWith(folder)),
      pattern,
    ).toBe(true)
  }
})
