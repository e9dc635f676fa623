import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documentPages, root } from '../source-files.ts'

/** Package managers that hoist nothing let a program import only what its project names. */

const guides = documentPages()

/** The packages of the commands `npm install` of a page. */
function installedBy(text: string): string[] {
  return [...text.matchAll(/^npm install (.*)$/gm)].flatMap(([, rest = '']) =>
    rest
      .replace(/#.*/, '')
      .split(/\s+/)
      .filter((word) => word !== '' && !word.startsWith('-')),
  )
}

function importedBy(text: string): string[] {
  const programs = [...text.matchAll(/^```(?:ts|js)\b.*\n([\s\S]*?)^```$/gm)].map(([, body = '']) => body)
  const specifiers = programs.flatMap((body) =>
    [...body.matchAll(/(?: from |import\()'([^'.][^']*)'/g)].map(([, name = '']) => name),
  )
  const packages = specifiers
    .filter((name) => !name.startsWith('node:'))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name)
  return [...new Set(packages)]
}

const gettingStarted = readFileSync(join(root, 'docs/guide/getting-started.md'), 'utf8')
/** What the first command of the first page installs, for all pages. */
const first = installedBy(/^npm install .*$/m.exec(gettingStarted)?.[0] ?? '')

it('the first page and README.md install the same packages', () => {
  expect(first).toEqual(['krmkit', '@krmkit/cli', '@krmkit/kinds', 'zod'])
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`\n    npm install ${first.join(' ')}\n`)
})

it.each(['README.md', ...guides])('the programs of %s import only packages that it or the first page installs', (file) => {
  const text = readFileSync(join(root, file), 'utf8')
  const installed = new Set([...first, ...installedBy(text)])
  expect(importedBy(text).filter((name) => !installed.has(name))).toEqual([])
})
