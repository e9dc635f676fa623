import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** The walks of docs/internals/architecture.md follow the code: each file exists, and imports the next or shares a contract with it. */

const root = fileURLToPath(new URL('..', import.meta.url))
const document = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8')

interface Step {
  readonly file: string
  /** Name of the contract through which the step before reaches this one; absent: it imports the file. */
  readonly through: string | undefined
}

const walks = (/\n## Walks\n(.*?)\n## /s.exec(document)?.[1] ?? '')
  .split('\n### ')
  .slice(1)
  .map((section) => ({
    verb: section.slice(0, section.indexOf('\n')),
    steps: [...section.matchAll(/^\d+\. `([^`]+)`(?: \(through `(\w+)`\))?:/gm)].map(
      ([, file = '', through]): Step => ({ file, through }),
    ),
  }))

const sources = new Map<string, string>()
function source(file: string): string {
  let text = sources.get(file)
  if (text === undefined) {
    text = readFileSync(join(root, file), 'utf8')
    sources.set(file, text)
  }
  return text
}

function relativeImports(file: string): string[] {
  return [...source(file).matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path))
}

/** Whether a file or one of its direct imports uses a name. */
function knows(file: string, name: string): boolean {
  return [file, ...relativeImports(file)].some((each) => new RegExp(`\\b${name}\\b`).test(source(each)))
}

describe('walks', () => {
  it('exist for every verb', () => {
    expect(walks.map(({ verb }) => verb)).toEqual(['POST', 'GET', 'LIST', 'WATCH', 'PUT', 'PATCH by apply', 'DELETE'])
  })

  it.each(walks)('$verb leads from the socket to storage in at most ten files', ({ steps }) => {
    expect(steps.length).toBeLessThanOrEqual(10)
    expect(steps[0]?.file).toMatch(/^packages\/http\//)
    expect(steps.at(-1)?.file).toMatch(/^packages\/storage\//)
    for (const { file } of steps) expect(existsSync(join(root, file)), file).toBe(true)
  })

  it.each(walks)('$verb: each file imports the next or shares its contract', ({ steps }) => {
    for (const [index, { file, through }] of steps.entries()) {
      const before = steps[index - 1]?.file
      if (before === undefined) continue
      const edge = `${before} -> ${file}`
      if (through === undefined) expect(relativeImports(before), edge).toContain(file)
      else expect([knows(before, through), knows(file, through)], `${edge} through ${through}`).toEqual([true, true])
    }
  })
})

it('names existing files for every concept', () => {
  const table = /\n## Where things live\n(.*?)\n- /s.exec(document)?.[1] ?? ''
  const files = [...table.matchAll(/`(packages\/[^`]+)`/g)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThanOrEqual(7)
  for (const file of files) expect(existsSync(join(root, file)), file).toBe(true)
})
