import type { JsonObject } from '@krmkit/meta'
import type { FieldFacts, NodeFacts, ProtoFacts, TypeFacts, VersionFacts } from './facts.ts'

/**
 * The compact text of a group's types, a fifth of their JSON form. A type is parsed on first use.
 *
 *     apps                                             the group; empty for core
 *     /v1 k8s.io/api/apps/v1                           a version and its Go package
 *     DeploymentSpec replicas?*:i template:/PodTemplateSpec;n3   a struct and its fields
 *     DeploymentStrategyType|Recreate,RollingUpdate    an enumeration; `||` where OpenAPI omits the values
 *     Old>core/v1.Other                                an alias
 *     Same^v1                                          reads as the line of the same name in another version of the group
 *
 * An unqualified type name is in the version of the line; `.Name` is in `meta/v1`, `/Name` in `core/v1`; other names are
 * written in full.
 *
 * A field is `name`, `=GoName`, flags, `:type`, and marks, each begun by `;`. Omitted parts have defaults: the type is a
 * string, the name in Go is the JSON name with a capital letter, the protobuf number is one more than that of the previous
 * field, and the printed zero value is that of the type. An inline field has no name.
 *
 * | flag | | type | | mark | |
 * |---|---|---|---|---|---|
 * | `*` | pointer | `s b i l f y a` | string, bool, int32, int64, float64, bytes, any | `n3`, `n` | protobuf number; no protobuf |
 * | `?` | optional, omitted when empty | `s<Name`, `s\|Name` | of a named type, of an enumeration | `z` | nothing is printed when unset |
 * | `~` | optional | `@Time` | special type | `a` `s` `m` | atomic list, set, or map (`mkey,key`) |
 * | `^` | omitted when empty | `[T`, `{T` | list, map | `pkey` | merged by the key in patches |
 * | `!` | required | `[!T` | in a message by itself | `d` `o` `u` | undocumented; one of; union discriminator |
 * | | | `[<Name>T`, `{(Key)T` | of a named type, with named keys | `j{}` | members as JSON |
 *
 * Marks of a struct: `a` and `g` for atomic and granular, `u` for a union, `p` without protobuf, `o` without OpenAPI, `sTime` special.
 * packages/tools/src/generate-types writes the text.
 */
export interface PackedGroup {
  readonly group: string
  readonly versions: ReadonlyMap<string, PackedVersion>
}

/** A version whose types are parsed one by one. */
export interface PackedVersion extends Pick<VersionFacts, 'goPackage' | 'protoPackage' | 'openapiPrefix'> {
  type(name: string): TypeFacts | undefined
  /** Returns the full name of the target of an alias. */
  alias(name: string): string | undefined
  enumeration(name: string): { readonly values: readonly string[]; readonly hidden: boolean } | undefined
}

/** @param folder group folder, the first part of its type names */
export function readPackedGroup(text: string, folder: string): PackedGroup {
  const [group = '', ...lines] = text.split('\n')
  const versions = new Map<string, LineVersion>()
  let current: LineVersion | undefined
  for (const line of lines) {
    if (line.startsWith('/')) {
      const [version = '', goPackage = ''] = line.slice(1).split(' ')
      current = versions.get(version) ?? new LineVersion(goPackage, { folder, version }, versions)
      versions.set(version, current)
    } else current?.add(line)
  }
  return { group, versions }
}

/** The folder and version in which names of types stand. */
export interface Place {
  readonly folder: string
  readonly version: string
}

const nameEnd = /[ ;|>^]|$/

class LineVersion implements PackedVersion {
  readonly goPackage: string
  readonly #lines = new Map<string, string>()
  readonly #types = new Map<string, TypeFacts>()
  readonly #at: Place
  readonly #versions: ReadonlyMap<string, LineVersion>

  constructor(goPackage: string, at: Place, versions: ReadonlyMap<string, LineVersion>) {
    this.goPackage = goPackage
    this.#at = at
    this.#versions = versions
  }

  get protoPackage(): string {
    return this.goPackage.replaceAll('/', '.').replaceAll('-', '_')
  }

  get openapiPrefix(): string {
    const [host = '', ...rest] = this.goPackage.split('/')
    return [...host.split('.').reverse(), ...rest].join('.')
  }

  add(line: string): void {
    const end = line.search(nameEnd)
    this.#lines.set(line.slice(0, end), line.slice(end))
  }

  type(name: string): TypeFacts | undefined {
    const known = this.#types.get(name)
    if (known !== undefined) return known
    const line = this.#line(name)
    if (line === undefined || line.startsWith('|') || line.startsWith('>')) return undefined
    const facts = readType(line, this.#at)
    this.#types.set(name, facts)
    return facts
  }

  alias(name: string): string | undefined {
    const line = this.#line(name)
    return line?.startsWith('>') ? line.slice(1) : undefined
  }

  enumeration(name: string): { readonly values: readonly string[]; readonly hidden: boolean } | undefined {
    const line = this.#line(name)
    if (!line?.startsWith('|')) return undefined
    const hidden = line.startsWith('||')
    return { values: line.slice(hidden ? 2 : 1).split(','), hidden }
  }

  /** Returns the rest of the line of a type after its name, resolving references to another version. */
  #line(name: string): string | undefined {
    const line = this.#lines.get(name)
    return line?.startsWith('^') ? this.#versions.get(line.slice(1))!.#line(name) : line
  }
}

function readType(line: string, at: Place): TypeFacts {
  const [head = '', ...texts] = line.split(' ')
  const facts: Record<string, unknown> = {}
  for (const mark of head.split(';').slice(1)) {
    if (mark === 'a' || mark === 'g') facts['structType'] = mark === 'a' ? 'atomic' : 'granular'
    else if (mark === 'u') facts['union'] = true
    else if (mark === 'p') facts['noProto'] = true
    else if (mark === 'o') facts['noOpenAPI'] = true
    else facts['special'] = mark.slice(1)
  }
  let number = facts['noProto'] === true ? Number.NaN : 0
  facts['fields'] = texts.map((text) => {
    const field = readField(text, at, number)
    number = field.proto?.number ?? number
    return field
  })
  return facts
}

/** name, name in Go, flags, type */
const fieldHead = /^([\w$-]*)=?(\w*)([*?~^!]*):?(.*)$/

/**
 * Reads a field of the compact text.
 *
 * @param at the folder and version of its type, in which its names stand
 * @param previous the protobuf number of the field before; NaN where the text has all numbers
 * @example
 * import { readField } from '@krmkit/schema/model'
 * readField('replicas?*:i', { folder: 'apps', version: 'v1' }, 0).proto // { number: 1, type: 'varint', rep: 'opt' }
 */
export function readField(text: string, at: Place, previous: number): FieldFacts {
  // JSON is the last mark, as it may contain semicolons.
  const jsonAt = text.indexOf(';j')
  const [head = '', ...marks] = (jsonAt < 0 ? text : text.slice(0, jsonAt)).split(';')
  const [, json = '', go = '', flags = '', code = ''] = fieldHead.exec(head) ?? []
  const type = readNode(code === '' ? 's' : code, at)
  const inline = json === ''
  const isEmbedded = inline || (json === 'metadata' && type.ref?.startsWith('meta/'))
  const known = {
    json,
    go: go !== '' ? go : isEmbedded ? lastName(type.ref) : json.charAt(0).toUpperCase() + json.slice(1),
    type,
    ...(inline ? { inline } : {}),
    ...(flags.includes('*') ? { pointer: true } : {}),
    ...(/[?~]/.test(flags) ? { optional: true } : {}),
    ...(flags.includes('!') ? { required: true } : {}),
    ...(/[?^]/.test(flags) ? { omitempty: true } : {}),
  }
  const number = numberOf(marks, type, previous)
  return {
    ...known,
    ...(Number.isNaN(number) ? {} : { proto: protoOf(type, number) }),
    ...zeroOf(known, marks.includes('z')),
    ...marksOf(marks),
    ...(jsonAt < 0 ? {} : (JSON.parse(text.slice(jsonAt + 2)) as JsonObject)),
  }
}

/** The protobuf number of a field; NaN if it has none. */
function numberOf(marks: readonly string[], type: NodeFacts, previous: number): number {
  const explicit = marks.find((mark) => mark.startsWith('n'))
  if (explicit !== undefined) return explicit === 'n' ? Number.NaN : Number(explicit.slice(1))
  return type.ref === 'meta/v1.TypeMeta' ? Number.NaN : previous + 1
}

function marksOf(marks: readonly string[]): Partial<FieldFacts> {
  const facts: Record<string, unknown> = {}
  for (const mark of marks) {
    const rest = mark.slice(1)
    if (mark[0] === 'a') facts['listType'] = 'atomic'
    else if (mark[0] === 's') facts['listType'] = 'set'
    else if (mark[0] === 'm') Object.assign(facts, { listType: 'map', listMapKeys: rest.split(',') })
    else if (mark[0] === 'p') Object.assign(facts, { patchStrategy: 'merge' }, rest === '' ? {} : { patchMergeKey: rest })
    else if (mark[0] === 'd') facts['noDoc'] = true
    else if (mark[0] === 'o') facts['oneOf'] = true
    else if (mark[0] === 'u') facts['unionDiscriminator'] = true
    else if (mark[0] === 'g') facts['featureGate'] = rest.split(',')
  }
  return facts
}

const scalars = { s: 'string', b: 'bool', i: 'int32', l: 'int64', f: 'float64', y: 'bytes', a: 'any' } as const
const scalarCode = /^([sbilfya])(?:([<|])(.*))?$/
const listCode = /^[[{](!?)(?:<([^>]*)>)?(?:\(([^)]*)\))?(.*)$/

function readNode(code: string, at: Place): NodeFacts {
  const scalar = scalarCode.exec(code)
  if (scalar !== null) {
    const [, letter, sign, name = ''] = scalar
    const full = sign === undefined ? {} : { [sign === '<' ? 'named' : 'enum']: fullName(name, at) }
    return { scalar: scalars[letter as keyof typeof scalars], ...full }
  }
  if (code.startsWith('@')) return { special: code.slice(1) }
  const list = listCode.exec(code)
  if (list === null) return { ref: fullName(code, at) }
  const [, wrapped, named, key, of = ''] = list
  return {
    [code.startsWith('[') ? 'list' : 'map']: readNode(of, at),
    ...(named === undefined ? {} : { named: fullName(named, at) }),
    ...(key === undefined ? {} : { keyNamed: fullName(key, at) }),
    ...(wrapped === '!' ? { protoWrapped: true } : {}),
  }
}

function fullName(name: string, { folder, version }: Place): string {
  if (name.startsWith('.')) return `meta/v1${name}`
  if (name.startsWith('/')) return `core/v1.${name.slice(1)}`
  return name.includes('.') ? name : `${folder}/${version}.${name}`
}

function lastName(name = ''): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** Returns the protobuf encoding of a type, as chosen by the generator of the messages. */
function protoOf(type: NodeFacts, number: number): ProtoFacts {
  if (type.map !== undefined) return { number, type: 'bytes', rep: 'rep', map: ['string', messageOf(type.map)] }
  const { list = type, protoWrapped = false } = type
  return { number, type: wireOf(list), rep: type.list === undefined || protoWrapped ? 'opt' : 'rep' }
}

function wireOf({ scalar }: NodeFacts): ProtoFacts['type'] {
  if (scalar === 'float64') return 'fixed64'
  return scalar === 'bool' || scalar === 'int32' || scalar === 'int64' ? 'varint' : 'bytes'
}

function messageOf({ named, ref, special, scalar }: NodeFacts): string {
  return special ?? (ref === undefined && (named === undefined || scalar !== undefined) ? (scalar ?? '') : lastName(ref ?? named))
}

type Known = Pick<FieldFacts, 'type' | 'inline' | 'pointer' | 'omitempty'>

/** Returns the value that Go prints for an unset field. */
function zeroOf({ type, inline, pointer = false, omitempty = false }: Known, isAbsent: boolean): { readonly zero?: unknown } {
  if (inline || isAbsent) return {}
  if (type.ref !== undefined && !pointer) return { zero: {} }
  // These types are structs in Go, which `omitempty` does not omit.
  if (type.special !== undefined && !pointer) return { zero: specialZeros[type.special] ?? null }
  return omitempty ? {} : { zero: pointer ? null : zeroValue(type) }
}

const specialZeros: Readonly<Record<string, unknown>> = { Quantity: '0', IntOrString: 0 }

function zeroValue({ scalar }: NodeFacts): unknown {
  if (scalar === 'string') return ''
  if (scalar === 'bool') return false
  return scalar === undefined || scalar === 'bytes' || scalar === 'any' ? null : 0
}
