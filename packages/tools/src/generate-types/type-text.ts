/** The TypeScript types of one group version. */
import type { NodeFacts } from '@krmkit/schema/model'
import type { KindFile } from '../release-facts/facts.ts'
import { type Facts, type GroupAt, promoted } from './facts.ts'

/** Descriptions by type, then by member; that of the type has the empty name. */
export type Docs = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TypesText {
  /** Declarations. */
  readonly body: readonly string[]
  /** Names to import by module, with their local names. */
  readonly imports: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Types that @krmkit/meta provides. */
export const fromMeta = new Set(['ObjectMeta', 'ListMeta', 'OwnerReference', 'ManagedFieldsEntry'])
/** Lists that are never null in a valid object, although an unset one is null on the wire. */
const neverNull = new Set(['core/v1.PodSpec.containers'])
const specials: Readonly<Record<string, string>> = {
  Time: 'Time',
  MicroTime: 'MicroTime',
  Duration: 'Duration',
  Quantity: 'Quantity',
  QuantityValue: 'Quantity',
  IntOrString: 'IntOrString',
  RawExtension: 'RawObject',
  FieldsV1: 'RawObject',
  JSON: 'AnyValue',
  Unknown: 'AnyValue',
}
const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
  bytes: 'Base64',
  any: 'AnyValue',
}

export function typesText(at: GroupAt, { locate }: Facts, docs: Docs): TypesText {
  const imports = new Map<string, Map<string, string>>()
  const local = new Set([
    ...Object.keys(at.facts.types),
    ...Object.keys(at.facts.named ?? {}),
    ...Object.keys(at.facts.enums),
    ...Object.keys(at.facts.constants ?? {}),
  ])
  if (at.folder === 'meta') for (const name of fromMeta) local.delete(name)
  /** The local name of `type` of `module`. */
  const use = (module: string, type: string): string => {
    const known = imports.get(module) ?? new Map<string, string>()
    imports.set(module, known)
    if (!known.has(type)) known.set(type, local.has(type) ? prefixed(module, type) : type)
    return known.get(type)!
  }
  const reference = (name: string): string => {
    const found = locate(name)
    if (!found) return 'string'
    if (found.folder === 'meta' && found.version === 'v1' && fromMeta.has(found.type)) return use('@krmkit/meta', found.type)
    const alias = found.facts.named?.[found.type]?.aliasOf
    if (alias) return reference(alias)
    if (found.folder === at.folder && found.version === at.version) return found.type
    return use(`./${found.folder}-${found.version}.generated.ts`, found.type)
  }
  const scalar = (name: string) => (['Base64', ...Object.values(specials)].includes(name) ? use('./scalars.ts', name) : name)
  const node = (type: NodeFacts, owner: string): string => {
    if (type.ref) {
      const special = locate(type.ref)?.facts.types[type.ref.slice(type.ref.lastIndexOf('.') + 1)]?.special
      if (special === 'JSONSchemaPropsOrArray') return 'JSONSchemaProps | JSONSchemaProps[]'
      if (special === 'JSONSchemaPropsOrBool') return 'JSONSchemaProps | boolean'
      if (special === 'JSONSchemaPropsOrStringArray') return 'JSONSchemaProps | string[]'
      if (special === 'GroupVersion') return 'string'
      if (special) return scalar(specials[special] ?? fail(`${owner}: ${special}`))
      return reference(type.ref)
    }
    if (type.special) return scalar(specials[type.special] ?? fail(`${owner}: ${type.special}`))
    if (type.list) {
      const of = node(type.list, owner)
      return /[ |]/.test(of) ? `(${of})[]` : `${of}[]`
    }
    if (type.map) return `Record<string, ${node(type.map, owner)}>`
    const words = type.enum ?? type.named
    if (words && type.scalar === 'string') {
      const found = locate(words)
      if (found?.facts.enums[found.type] || found?.facts.constants?.[found.type]) return reference(words)
    }
    return scalar(scalars[type.scalar ?? ''] ?? fail(`${owner}: ${JSON.stringify(type)}`))
  }
  const body: string[] = []
  for (const [name, type] of Object.entries(at.facts.types)) {
    if (at.folder === 'meta' && (fromMeta.has(name) || name === 'TypeMeta')) continue
    if (type.special || type.copyOf) continue
    body.push(typeText(at, name, { node, locate, docs: docs[name] ?? {} }))
  }
  for (const [name, named] of Object.entries(at.facts.named ?? {})) {
    if (named.type) body.push(`export type ${name} = ${node(named.type, name)}\n`)
  }
  for (const [name, type] of Object.entries(at.facts.types)) {
    if (type.copyOf) body.push(`export type ${name} = ${reference(type.copyOf)}\n`)
  }
  for (const words of [at.facts.enums, at.facts.constants ?? {}]) {
    for (const [name, values] of Object.entries(words)) {
      if (at.facts.types[name]) continue
      const literals = values.map((value) => `'${value.replace(/\\/g, '\\\\').replace(/'/g, "\\'")}'`)
      body.push(`${comment(docs[name]?.[''])}export type ${name} = ${[...literals, '(string & {})'].join(' | ')}\n`)
    }
  }
  return { body, imports }
}

/** Local name of a type whose name collides with a type of this module. */
function prefixed(module: string, type: string): string {
  const name = module.replace(
    /^.*?([a-z0-9]+)-(v[a-z0-9]+)\.generated\.ts$/,
    (_, folder: string, version: string) => folder.charAt(0).toUpperCase() + folder.slice(1) + version.toUpperCase(),
  )
  return `${name}${type}`
}

interface TypeSources extends Pick<Facts, 'locate'> {
  readonly node: (type: NodeFacts, owner: string) => string
  /** Descriptions of the type. */
  readonly docs: Readonly<Record<string, string>>
}

function typeText(at: GroupAt, name: string, { node, locate, docs }: TypeSources): string {
  const apiVersion = at.group === '' || at.folder === 'meta' ? at.version : `${at.group}/${at.version}`
  const kinds = at.facts.kinds
  const list = Object.values(kinds).some((kind) => kind.list === name)
  const kind: Partial<KindFile> | undefined = kinds[name] ?? (list ? { metadata: 'list' } : undefined)
  const literal = kind && kind.registeredAs !== '*/*'
  const members: [string, string][] = []
  const push = (member: string, optional: boolean, type: string) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(member) ? member : `'${member}'`
    members.push([member, `${comment(docs[member], '  ')}  ${key}${optional ? '?' : ''}: ${type}\n`])
  }
  const own = kind?.registeredAs && kind.registeredAs !== '*/*' ? kind.registeredAs : apiVersion
  for (const field of promoted(at.facts.types[name]!, locate)) {
    if (field.json === '-' || field.json === '') continue
    if (field.json === 'apiVersion' && field.fromTypeMeta) push('apiVersion', !literal, literal ? `'${own}'` : 'string')
    else if (field.json === 'kind' && field.fromTypeMeta) push('kind', !literal, literal ? `'${name}'` : 'string')
    else {
      const rooted = field.json === 'metadata' && kind?.metadata
      const required = rooted || (!field.optional && (field.required || !field.omitempty))
      const owner = `${at.folder}/${at.version}.${name}.${field.json}`
      const nullable =
        !rooted && 'zero' in field && field.zero === null && !neverNull.has(owner) && !(list && field.json === 'items')
      push(field.json, !required, `${node(field.type, owner)}${nullable ? ' | null' : ''}`)
    }
  }
  for (const member of Object.keys(docs)) {
    if (member !== '' && !members.some(([known]) => known === member)) fail(`documented ${name}.${member}`)
  }
  // A type alias is assignable to ApiObject, whose members are open; an interface is not.
  if (kind?.metadata === 'object' && literal) {
    const scope = kind.namespaced ? 'namespaced' : 'cluster-scoped'
    const about = `${own} ${name}, ${scope}.${docs[''] ? ` ${docs['']}` : ''}`
    return `${comment(about)}export type ${name} = {\n${ordered(members)}}\n`
  }
  return `${comment(docs[''])}export interface ${name} {\n${ordered(members)}}\n`
}

/** apiVersion first, then kind, then the rest in model order. */
function ordered(members: readonly [string, string][]): string {
  const rank = (name: string) => (name === 'apiVersion' ? 0 : name === 'kind' ? 1 : 2)
  return members
    .map(([name, text], i) => [rank(name), i, text] as const)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([, , text]) => text)
    .join('')
}

const lineWidth = 118

/** A docstring, wrapped. */
function comment(text: string | undefined, indent = ''): string {
  if (!text) return ''
  if (indent.length + text.length + 7 <= lineWidth + 12) return `${indent}/** ${text} */\n`
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last !== '' && indent.length + last.length + word.length + 4 > lineWidth) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
}

function fail(what: string): never {
  throw new Error(`no TypeScript type for ${what}`)
}
