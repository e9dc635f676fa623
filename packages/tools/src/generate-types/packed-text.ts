/** The compact text of types that packages/schema/src/model/packed-facts.ts reads, and describes. */
import type { FieldFacts, GroupFacts, GroupVersion, ProtoFacts, StructFacts, TypeNode, VersionFacts } from './model.ts'

type Place = Pick<GroupVersion, 'folder' | 'version' | 'facts'>

/** Members of fields and types that no code reads. */
const unread = new Set(['embedded', 'noJSONTag', 'validation', 'protoGaps', 'reserved', 'defaultRef', 'root', 'copyOf', 'fields'])

/** The text of a group: its types, without kinds and resources. */
export function packFacts(folder: string, { group, versions }: GroupFacts): string {
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

export function versionLine(version: string, { goPackage, protoPackage, openapiPrefix }: VersionFacts): string {
  const [host = '', ...rest] = goPackage.split('/')
  if (
    protoPackage !== goPackage.replaceAll('/', '.').replaceAll('-', '_') ||
    openapiPrefix !== [...host.split('.').reverse(), ...rest].join('.')
  ) {
    throw new Error(`${goPackage}: ${protoPackage} and ${openapiPrefix} do not follow from it`)
  }
  return `/${version} ${goPackage}`
}

/** Name and rest of the line of each type, in source order. */
export function packedTypes(at: Place): Map<string, string> {
  const { types, named = {}, enums = {}, enumsNotInOpenAPI = [] } = at.facts
  const lines = new Map<string, string>()
  for (const [name, facts] of Object.entries(types)) lines.set(name, typeText(name, facts, at))
  for (const [name, { aliasOf }] of Object.entries(named)) {
    if (aliasOf !== undefined && !lines.has(name)) lines.set(name, `>${aliasOf}`)
  }
  for (const [name, values] of Object.entries(enums)) {
    if (lines.has(name)) throw new Error(`${name} is a struct and an enumeration`)
    lines.set(name, `${enumsNotInOpenAPI.includes(name) ? '||' : '|'}${listed(values, name, /[,\n]/)}`)
  }
  for (const [name, line] of lines)
    if (/[\n`\\]|\$\{/.test(name + line)) throw new Error(`${name} has a character of the notation`)
  return lines
}

function listed(values: readonly unknown[], name: string, separators = /[,;\s]/): string {
  if (values.length === 0 || values.some((value) => typeof value !== 'string' || separators.test(value))) {
    throw new Error(`${name}: ${JSON.stringify(values)} cannot be listed`)
  }
  return values.join(',')
}

function typeText(name: string, facts: StructFacts, at: Place): string {
  const { structType, union, special, noProto, noOpenAPI, fields = [], ...rest } = facts
  refuse(name, rest)
  const marks = [structType?.[0], union && 'u', noProto && 'p', noOpenAPI && 'o', special && `s${special}`]
  let number = noProto ? Number.NaN : 0
  const texts = fields
    .filter(({ json }) => json !== '-')
    .map((field) => {
      const text = fieldText(field, { at, previous: number, name })
      number = field.proto?.number ?? number
      return text
    })
  return [marks.flatMap((mark) => (mark ? [`;${mark}`] : [])).join(''), ...texts].join(' ')
}

/** Where a field stands: `previous` is the number of the field before it, `name` that of its type. */
interface FieldPlace {
  readonly at: Place
  readonly previous: number
  readonly name: string
}

function fieldText(field: FieldFacts, { at, previous, name }: FieldPlace): string {
  const { json: written, go, type, pointer, optional, required, omitempty, inline, proto, zero, ...rest } = field
  // Fields without a name are inline, except those of types with a hand-written form.
  const isNameless = written === '' && !inline
  const json = isNameless ? 'nameless' : written
  if (inline && json !== '') throw new Error(`${name}.${json} is inline`)
  const isEmbedded = inline || (json === 'metadata' && type.ref?.startsWith('meta/'))
  const ref = type.ref ?? ''
  const expectedGo = isEmbedded ? ref.slice(ref.lastIndexOf('.') + 1) : json.charAt(0).toUpperCase() + json.slice(1)
  const flags = [pointer ? '*' : '', optional && omitempty ? '?' : optional ? '~' : omitempty ? '^' : '', required ? '!' : '']
  const code = nodeText(type, at)
  const others: Record<string, unknown> = isNameless ? { json: '' } : {}
  const marks: string[] = []
  const expectedProto = type.ref === 'meta/v1.TypeMeta' ? Number.NaN : previous + 1
  if (proto === undefined) {
    if (!Number.isNaN(expectedProto)) marks.push('n')
  } else {
    if (proto.number !== expectedProto) marks.push(`n${proto.number}`)
    if (!equal(proto, protoOf(type, proto.number))) others.proto = proto
  }
  const expectedZero = zeroOf(field)
  if (!equal(zero, expectedZero)) {
    if (zero === undefined) marks.push('z')
    else others.zero = zero
  }
  const { listType, listMapKeys, patchStrategy, patchMergeKey, noDoc, oneOf, unionDiscriminator, featureGate, ...more } = rest
  if (listType === 'map') marks.push(`m${listed(listMapKeys ?? [], name)}`)
  else if (listType) marks.push(listType.charAt(0))
  if (patchStrategy === 'merge') marks.push(`p${patchMergeKey ?? ''}`)
  else if (patchStrategy) Object.assign(others, { patchStrategy }, patchMergeKey === undefined ? {} : { patchMergeKey })
  if (noDoc) marks.push('d')
  if (oneOf) marks.push('o')
  if (unionDiscriminator) marks.push('u')
  if (featureGate) marks.push(`g${listed(featureGate, name)}`)
  const { default: value, mapType, structType, ...unknown } = more
  Object.assign(others, value === undefined ? {} : { default: value }, mapType && { mapType }, structType && { structType })
  refuse(`${name}.${json}`, unknown)
  const json_ = JSON.stringify(others)
  if (/ /.test(json_)) throw new Error(`${name}.${json}: ${json_} has a space`)
  if (json_ !== '{}') marks.push(`j${json_}`)
  return `${json}${go === expectedGo ? '' : `=${go}`}${flags.join('')}${code === 's' ? '' : `:${code}`}${marks.map((mark) => `;${mark}`).join('')}`
}

/** Every member is written, or known to be read by no code. */
function refuse(name: string, members: object): void {
  for (const member of Object.keys(members))
    if (!unread.has(member)) throw new Error(`${name}: the text has no place for ${member}`)
}

const scalars: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int32: 'i',
  int64: 'l',
  float64: 'f',
  bytes: 'y',
  any: 'a',
}

function nodeText(node: TypeNode, at: Place): string {
  if (node.scalar) {
    const known = node.enum ? `|${shortName(node.enum, at)}` : node.named ? `<${shortName(node.named, at)}` : ''
    return `${scalars[node.scalar]}${known}`
  }
  if (node.special) return `@${node.special}`
  if (node.ref) return shortName(node.ref, at)
  const wrapped = node.protoWrapped ? '!' : ''
  const named = node.named ? `<${shortName(node.named, at)}>` : ''
  const key = node.keyNamed ? `(${shortName(node.keyNamed, at)})` : ''
  return `${node.list ? '[' : '{'}${wrapped}${named}${key}${nodeText(node.list ?? node.map ?? {}, at)}`
}

function shortName(name: string, { folder, version }: Place): string {
  if (name.startsWith(`${folder}/${version}.`)) return name.slice(folder.length + version.length + 2)
  if (name.startsWith('meta/v1.')) return name.slice('meta/v1'.length)
  return name.startsWith('core/v1.') ? `/${name.slice('core/v1.'.length)}` : name
}

// What packed-facts.ts adds. A test compares the facts that it reads with those of the model.

function protoOf(type: TypeNode, number: number): ProtoFacts {
  if (type.map) return { number, type: 'bytes', rep: 'rep', map: ['string', messageOf(type.map)] }
  const { scalar } = type.list ?? type
  const wire = scalar === 'float64' ? 'fixed64' : ['bool', 'int32', 'int64'].includes(scalar ?? '') ? 'varint' : 'bytes'
  return { number, type: wire, rep: type.list && !type.protoWrapped ? 'rep' : 'opt' }
}

function messageOf({ named, ref, special, scalar }: TypeNode): string {
  const name = ref ?? (scalar ? undefined : named)
  return special ?? (name === undefined ? (scalar ?? '') : name.slice(name.lastIndexOf('.') + 1))
}

const zerosOfSpecials: Readonly<Record<string, unknown>> = { Quantity: '0', IntOrString: 0 }
const zerosOfScalars: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 }

function zeroOf({ type, inline, pointer, omitempty }: FieldFacts): unknown {
  if (inline) return undefined
  if (type.ref && !pointer) return {}
  if (type.special && !pointer) return zerosOfSpecials[type.special] ?? null
  if (omitempty) return undefined
  if (pointer) return null
  return zerosOfScalars[type.scalar ?? ''] ?? null
}

function equal(one: unknown, other: unknown): boolean {
  return one === other || (one !== undefined && other !== undefined && stable(one) === stable(other))
}

/** As JSON, with the members of objects by name. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner === null || typeof inner !== 'object' || Array.isArray(inner)
      ? inner
      : Object.fromEntries(Object.entries(inner).sort()),
  )
}
