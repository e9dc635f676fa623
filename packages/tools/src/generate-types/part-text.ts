/**
 * Facts in parts: one constant per struct and enumeration, with references to the types it uses, so that a bundle of one kind contains the
 * facts of its types only.
 */
import type { NodeFacts } from '@krmkit/schema/model'
import type { TypeFile } from '../release-facts/facts.ts'
import { type Facts, fileOf, type GroupAt, header, quote, type TypeAt } from './facts.ts'
import { packedTypes, versionLine } from './packed-text.ts'

export const partFile = (at: GroupAt): string => `parts/${fileOf(at)}`

/** Name of a type's constant. */
export const partName = (type: string): string => `${type}Part`

export function partsText(at: GroupAt, { locate }: Facts): string {
  const imports = new Map<string, Set<string>>()
  const use = (found: TypeAt) => {
    if (found.folder === at.folder && found.version === at.version) return partName(found.type)
    const file = `./${fileOf(found)}`
    imports.set(file, (imports.get(file) ?? new Set()).add(found.type))
    return `${found.folder}${found.version}${partName(found.type)}`
  }
  const lines = [
    `const at = { folder: '${at.folder}', group: '${at.group}', version: ${quote(versionLine(at.version, at.facts))} } as const`,
  ]
  for (const [name, rest] of packedTypes(at)) {
    const list = usesOf(name, at, locate).map(use).sort()
    const uses = list.length === 0 ? '' : `, uses: () => [${list.join(', ')}]`
    lines.push(`export const ${partName(name)}: TypePart = { at, line: ${quote(name + rest)}${uses} }`)
  }
  const head = [`import type { TypePart } from '../lazy-types.ts'\n`]
  for (const [file, types] of [...imports].sort()) {
    const [, folder = '', version = ''] = /^\.\/([a-z]+)-([a-z0-9]+)\./.exec(file) ?? []
    const names = [...types].sort().map((type) => `${partName(type)} as ${folder}${version}${partName(type)}`)
    head.push(`import { ${names.join(', ')} } from '${file}'\n`)
  }
  return `${header}${head.join('')}\n${lines.join('\n')}\n`
}

/** Types and enumerations that a type refers to. */
function usesOf(name: string, at: GroupAt, locate: Facts['locate']): TypeAt[] {
  const struct = at.facts.types[name]
  if (struct !== undefined) return [...usedBy(struct, at, locate)]
  const target = at.facts.named?.[name]?.aliasOf
  const found = target === undefined ? undefined : locate(target)
  return found === undefined ? [] : [found]
}

/** Types and enumerations that the members of a struct refer to. */
function usedBy(facts: TypeFile, at: GroupAt, locate: Facts['locate']): Iterable<TypeAt> {
  const found = new Map<string, TypeAt>()
  const add = (name: string) => {
    const place = locate(name)
    if (place === undefined) return
    const { types, enums, named } = place.facts
    if (types[place.type] || enums[place.type] || named?.[place.type]?.aliasOf) {
      found.set(`${place.folder}/${place.version}.${place.type}`, place)
    }
  }
  const walk = (node: NodeFacts) => {
    for (const name of [node.ref, node.enum]) if (name) add(name)
    if (node.list) walk(node.list)
    if (node.map) walk(node.map)
  }
  for (const field of facts.fields) walk(field.type)
  // No member refers to the schema in `JSONSchemaPropsOr...`.
  if (facts.special?.startsWith('JSONSchemaPropsOr')) add(`${at.folder}/${at.version}.JSONSchemaProps`)
  return found.values()
}
