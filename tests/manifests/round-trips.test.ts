import { builtInTypes } from '@krmkit/kinds'
import { formerKinds } from '@krmkit/kinds/former-versions'
import type { ApiObject } from '@krmkit/meta'
import { decode, parseYaml, printYaml, type StructType } from '@krmkit/schema'
import { convertManifest } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { generateObject } from '../../packages/kinds/src/round-trips/generate-object.ts'

/**
 * Manifests of generated objects, with a comment after every other line, survive the conversion to the current version and back:
 * values, comments, and the text where nothing changes. `ROUND_TRIPS` and `ROUND_TRIPS_SEED` as in the other round trips.
 */

const count = Number(process.env['ROUND_TRIPS'] ?? 12)
const firstSeed = Number(process.env['ROUND_TRIPS_SEED'] ?? 1)
const seeds = Array.from({ length: count }, (_, i) => firstSeed + i * 7919)

const types = builtInTypes()

const cases = formerKinds.flatMap(({ group, kind, hub, versions }) =>
  Object.keys(versions).flatMap((name): [string, string, string, StructType][] => {
    const [inGroup, version] = name.includes('/') ? (name.split('/') as [string, string]) : [group, name]
    const apiVersion = `${inGroup}/${version}`
    const type = typeOf(inGroup, version, kind)
    return type === undefined ? [] : [[`${apiVersion} ${kind}`, apiVersion, `${group}/${hub}`, type]]
  }),
)

function typeOf(group: string, version: string, kind: string): StructType | undefined {
  try {
    return types.struct(`${group.replace(/\..*/, '')}/${version}.${kind}`)
  } catch {
    return undefined
  }
}

/** YAML with comments: after scalars on one line, and before members. Lines within block texts get none. */
function commented(yaml: string): string {
  let next = 0
  let block: number | undefined
  return yaml
    .split('\n')
    .flatMap((line, index) => {
      const indent = line.length - line.trimStart().length
      if (block !== undefined && (line.trim() === '' || indent > block)) return [line]
      block = /[|>][-+0-9]*$/.test(line) ? blockIndent(line) : undefined
      // Folded texts continue on the next line.
      const isMember = /^\s*(?:- )*(?:[\w.$-]+):(?: [\w.:/-]+)?$/.test(line)
      if (!isMember) return [line]
      if (index % 3 === 0) return [`${line} # c${next++}`]
      return index % 3 === 1 && /^\s*[\w.$-]+:/.test(line) ? [`${' '.repeat(indent)}# c${next++}`, line] : [line]
    })
    .join('\n')
}

/** Column of the dash or the name that a block text belongs to. */
function blockIndent(line: string): number {
  const dashes = /^\s*(?:- )*/.exec(line)?.[0] ?? ''
  return /^[|>]/.test(line.slice(dashes.length)) ? dashes.length - 2 : dashes.length
}

function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, withoutZeros(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)))
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true
  return typeof value === 'object' && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
}

/** A schema that is copied into several versions takes its comments along. */
const commentsOf = (text: string) => [...new Set(text.match(/# c\d+/g))].sort()

describe('convertManifest', () => {
  it.each(cases)('%s: keeps values and comments on the way to the current version and back [P331]', (_, former, hub, type) => {
    let comments = 0
    for (const seed of seeds) {
      const { object } = decode<ApiObject>(type, generateObject(type, { seed, breadth: 10 }))
      const text = commented(printYaml(withoutZeros(object)))
      expect(parseYaml(text).value, `seed ${seed}`).toEqual(parseYaml(printYaml(withoutZeros(object))).value)
      const there = convertManifest(text, { to: hub })
      expect(there.converted, `seed ${seed}: ${JSON.stringify(there.problems)}`).toHaveLength(1)
      expect(commentsOf(there.text), `seed ${seed}`).toEqual(commentsOf(text))
      const back = convertManifest(there.text, { to: former })
      expect(back.converted, `seed ${seed}: ${JSON.stringify(back.problems)}`).toHaveLength(1)
      expect(commentsOf(back.text), `seed ${seed}`).toEqual(commentsOf(text))
      comments += commentsOf(text).length
      const again = convertManifest(back.text, { to: hub })
      expect(withoutZeros(parseYaml(again.text).value), `seed ${seed}`).toEqual(withoutZeros(parseYaml(there.text).value))
      if (type.typeName !== 'CustomResourceDefinition')
        expect(withoutZeros(parseYaml(back.text).value), `seed ${seed}`).toMatchObject(withoutZeros(object) as object)
    }
    expect(comments).toBeGreaterThan(count)
  })
})
