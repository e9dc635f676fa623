// Facts in parts: one constant for each struct and enumeration, with what it is made of, so that a bundle that uses one kind
// carries the facts of its types and of no others.
import { fileOf, header, quote } from './facts.mjs'

export const partFile = (at) => `parts/${fileOf(at)}`

/** Name of the constant of a type. */
export const partName = (type) => `${type}Part`

export function partsText(at, { locate }) {
  const imports = new Map()
  const use = (found) => {
    if (found.folder !== at.folder || found.version !== at.version) {
      const file = `./${fileOf(found)}`
      imports.set(file, (imports.get(file) ?? new Set()).add(found.type))
    }
    return found.folder === at.folder && found.version === at.version
      ? partName(found.type)
      : `${found.folder}${found.version}${partName(found.type)}`
  }
  const { goPackage, protoPackage, openapiPrefix } = at.facts
  const lines = [
    `const at = { folder: '${at.folder}', group: '${at.group}', version: '${at.version}', facts: ${quote(
      JSON.stringify({ goPackage, protoPackage, openapiPrefix }).slice(1, -1),
    )} } as const`,
  ]
  const declare = (type, { member, facts, uses = [] }) => {
    const names = [...uses].map(use).sort()
    const list = names.length === 0 ? '' : `, uses: () => [${names.join(', ')}]`
    lines.push(
      `export const ${partName(type)}: TypePart = { at, ${member}: '${type}', facts: ${quote(JSON.stringify(facts))}${list} }`,
    )
  }
  const enums = at.facts.enums ?? {}
  for (const [name, facts] of Object.entries(at.facts.types)) {
    declare(name, { member: 'type', facts, uses: usedBy(facts, { locate, at }) })
  }
  for (const [name, named] of Object.entries(at.facts.named ?? {})) {
    if (named.aliasOf && !at.facts.types[name]) {
      const target = locate(named.aliasOf)
      declare(name, { member: 'named', facts: named, uses: target ? [target] : [] })
    }
  }
  for (const [name, values] of Object.entries(enums)) {
    if (at.facts.types[name]) continue
    const hidden = at.facts.enumsNotInOpenAPI?.includes(name) ? { member: 'hiddenEnum' } : { member: 'enum' }
    declare(name, { ...hidden, facts: values })
  }
  const head = [`import type { TypePart } from '../../handles/lazy-types.ts'\n`]
  for (const [file, types] of [...imports].sort()) {
    const [, folder, version] = /^\.\/([a-z]+)-([a-z0-9]+)\./.exec(file)
    const names = [...types].sort().map((type) => `${partName(type)} as ${folder}${version}${partName(type)}`)
    head.push(`import { ${names.join(', ')} } from '${file}'\n`)
  }
  return `${header}${head.join('')}\n${lines.join('\n')}\n`
}

/** Types and enumerations that the members of a struct reference. */
function usedBy(facts, { locate, at }) {
  const found = new Map()
  const add = (name) => {
    const place = locate(name)
    const known =
      place && (place.facts.types[place.type] || place.facts.enums?.[place.type] || place.facts.named?.[place.type]?.aliasOf)
    if (known) found.set(`${place.folder}/${place.version}.${place.type}`, place)
  }
  const walk = (node) => {
    for (const name of [node.ref, node.enum]) if (name) add(name)
    if (node.list) walk(node.list)
    if (node.map) walk(node.map)
  }
  for (const field of facts.fields ?? []) walk(field.type)
  // The schema inside `JSONSchemaPropsOr...` is not referenced by a member.
  if (facts.special?.startsWith('JSONSchemaPropsOr')) add(`${at.folder}/${at.version}.JSONSchemaProps`)
  return found.values()
}
