import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../packages/cli/src/testing/run-command.ts'
import { manifestMistakes } from '../../packages/krmkit/src/validate/testing/manifest-mistakes.ts'
import { extractMarkers } from '../../packages/krmkit/src/validate/testing/position-markers.ts'
import { widgetDefinition } from '../../packages/krmkit/src/validate/testing/templates.ts'
import { validManifests } from '../../packages/krmkit/src/validate/testing/valid-manifests.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const folder = temporaryFolder()

let made = 0
/** Writes files to a new folder. */
const files = (contents: Readonly<Record<string, string>>): string => {
  const path = join(folder, `case-${made++}`)
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

const run = (flags: readonly string[]) => runCommand(['validate', ...flags])

interface ReportedFinding {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly severity: string
  readonly rule: string
  readonly path: string
}

describe('krmkit validate', () => {
  it('reports every mistake in a folder of a thousand manifests', async () => {
    const random = seededRandom(4)
    const byte = (): number => random.bytes(1)[0] ?? 0
    const contents: Record<string, string> = { 'crds/widgets.yaml': widgetDefinition }
    const expected: string[] = []
    const planted = new Set<string>()
    for (let i = 0; i < 1000; i++) {
      const name = `app-${i}`
      // Each kind of mistake at least once, then about one file in ten.
      const mistake =
        i < manifestMistakes.length
          ? manifestMistakes[i]
          : byte() < 26
            ? manifestMistakes[byte() % manifestMistakes.length]
            : undefined
      const marked = (mistake?.text ?? validManifests[i % validManifests.length] ?? '').replaceAll('NAME', name)
      const { text, places } = extractMarkers(distinct(marked, i))
      const extension = mistake?.extension ?? (text.startsWith('{') ? '.json' : '.yaml')
      const file = `team-${i % 7}/${name}${extension}`
      contents[file] = text
      if (mistake === undefined) continue
      planted.add(mistake.title)
      for (const [index, { rule, path, severity = 'error' }] of mistake.expected.entries())
        expected.push(`${file}:${places[index]} ${severity} ${rule} ${path}`)
    }
    const path = files(contents)
    const { out, code } = await run([path, '-o', 'json'])
    const { findings, summary } = JSON.parse(out) as { findings: ReportedFinding[]; summary: object }
    const found = findings.map(
      ({ file, line, column, severity, rule, path: field }) =>
        `${file.slice(path.length + 1)}:${line}:${column} ${severity} ${rule} ${field}`,
    )
    expect(found.sort()).toEqual(expected.sort())
    expect(planted.size).toBe(manifestMistakes.length)
    expect(summary).toMatchObject({ files: 1001 })
    expect(code).toBe(1)
  })

  it('accepts valid manifests', async () => {
    const contents = Object.fromEntries(validManifests.map((text, i) => [`${i}.yaml`, text.replaceAll('NAME', `n${i}`)]))
    const { out, code } = await run([files({ ...contents, 'crd.yaml': widgetDefinition }), '--fail-on=warning'])
    expect(out).toBe('28 objects in 19 files: valid\n')
    expect(code).toBe(0)
  })
})

/** Distinguishes objects with fixed names by their namespace. */
function distinct(marked: string, index: number): string {
  return marked.replace('name: 10.0.0.1', `name: 10.0.${index >> 8}.${index & 255}`)
}
