/** The compact text of types that packages/schema/src/model/packed-facts.ts reads, and describes. */
import type { GroupFile, TypeFile, VersionFile } from '../release-facts/facts.ts'
import { leanFieldText } from '../release-facts/field-text.ts'
import type { GroupAt } from './facts.ts'

/** Members of types that no code reads. */
const unread = new Set(['validation', 'protoGaps', 'reserved', 'root', 'copyOf'])

/** The text of a group: its types, without kinds and resources. */
export function packFacts(folder: string, { group, versions }: GroupFile): string {
  const lines = [group]
  const known = new Map<string, string>()
  for (const [version, facts] of Object.entries(versions)) {
    lines.push(versionLine(version, facts))
    for (const [name, rest] of packedTypes({ folder, version, facts })) {
      const before = known.get(name + rest)
      lines.push(name + (before === undefined || rest.length <= before.length + 1 ? rest : `^${before}`))
      known.set(name + rest, before ?? version)
    }
  }
  return lines.join('\n')
}

export const versionLine = (version: string, { goPackage }: VersionFile): string => `/${version} ${goPackage}`

type Place = Pick<GroupAt, 'folder' | 'version' | 'facts'>

/** Name and rest of the line of each type, in source order. */
export function packedTypes(at: Place): ReadonlyMap<string, string> {
  const { types, named = {}, enums, enumsNotInOpenAPI = [] } = at.facts
  const lines = new Map<string, string>()
  for (const [name, facts] of Object.entries(types)) lines.set(name, typeText(name, facts, at))
  for (const [name, { aliasOf }] of Object.entries(named)) {
    if (aliasOf !== undefined && !lines.has(name)) lines.set(name, `>${aliasOf}`)
  }
  for (const [name, values] of Object.entries(enums)) {
    if (lines.has(name)) throw new Error(`${name} is a struct and an enumeration`)
    lines.set(name, `${enumsNotInOpenAPI.includes(name) ? '||' : '|'}${listed(values, name)}`)
  }
  for (const [name, line] of lines) {
    if (/[\n`\\]|\$\{/.test(name + line)) throw new Error(`${name} has a character of the notation`)
  }
  return lines
}

function listed(values: readonly string[], name: string): string {
  if (values.length === 0 || values.some((value) => /[,\n]/.test(value))) {
    throw new Error(`${name}: ${JSON.stringify(values)} cannot be listed`)
  }
  return values.join(',')
}

function typeText(name: string, facts: TypeFile, at: Place): string {
  const { structType, union, special, noProto, noOpenAPI, fields, ...rest } = facts
  for (const member of Object.keys(rest)) {
    if (!unread.has(member)) throw new Error(`${name}: the text has no place for ${member}`)
  }
  const marks = [structType?.[0], union && 'u', noProto && 'p', noOpenAPI && 'o', special && `s${special}`]
  let number = noProto ? Number.NaN : 0
  const texts = fields
    .filter(({ json }) => json !== '-')
    .map((field) => {
      const text = leanFieldText(field, at, number)
      number = field.proto?.number ?? number
      return text
    })
  return [marks.flatMap((mark) => (mark ? [`;${mark}`] : [])).join(''), ...texts].join(' ')
}
