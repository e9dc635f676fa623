import { type NodeFacts, type TypePlace as Place, type ProtoFacts, readField } from '@krmkit/schema/model'
import type { FieldFile } from './facts.ts'

/**
 * Fields in the notation of packages/schema/src/model/packed-facts.ts, which describes it and reads it. Here it is written, in two forms:
 * whole, with all facts and all protobuf numbers, and lean, with the facts that code reads and the numbers that do not follow.
 */

export type { Place }

/** Members of fields that no code reads. */
const unread: ReadonlySet<string> = new Set(['embedded', 'noJSONTag', 'validation', 'defaultRef'])

/** Members of a field in the order of the extractor. */
const memberOrder = [
  ...[
    'json',
    'go',
    'type',
    'noJSONTag',
    'pointer',
    'optional',
    'required',
    'omitempty',
    'omitzero',
    'inline',
    'embedded',
    'proto',
  ],
  ...['zero', 'default', 'defaultRef', 'patchStrategy', 'patchMergeKey', 'listType', 'listMapKeys', 'mapType', 'structType'],
  ...['unionDiscriminator', 'featureGate', 'oneOf', 'zeroOrOneOf', 'validation', 'noDoc'],
]

/** All facts of a field. */
export function wholeFieldText(field: FieldFile, at: Place): string {
  return fieldText(field, at, Number.NaN)
}

/** The inverse of {@link wholeFieldText}. */
export function readWholeField(text: string, at: Place): FieldFile {
  const read: Record<string, unknown> = { ...readField(text, at, Number.NaN) }
  if (read['embedded'] === undefined && isEmbedded(read as unknown as FieldFile)) read['embedded'] = true
  const members = Object.entries(read).filter(([name, value]) => name !== 'embedded' || value === true)
  const rank = ([name]: readonly [string, unknown]) => memberOrder.indexOf(name)
  return Object.fromEntries(members.sort((a, b) => rank(a) - rank(b))) as unknown as FieldFile
}

/** The facts of a field that code reads. @param previous protobuf number of the field before; NaN in a type without protobuf. */
export function leanFieldText({ oneOf, zeroOrOneOf, ...field }: FieldFile, at: Place, previous: number): string {
  const read = Object.fromEntries(Object.entries(field).filter(([name]) => !unread.has(name))) as unknown as FieldFile
  const isOne = oneOf !== undefined || zeroOrOneOf !== undefined
  return fieldText(isOne ? { ...read, oneOf: true } : read, at, previous, true)
}

function isEmbedded({ inline, json, type }: FieldFile): boolean {
  return inline === true || (json === 'metadata' && type.ref?.startsWith('meta/') === true)
}

function fieldText(field: FieldFile, at: Place, previous: number, isLean = false): string {
  const { json: written, go, type, pointer, optional, required, omitempty, inline, embedded, proto, zero, ...rest } = field
  const isNameless = written === '' && !inline
  // Fields without a name are inline, except those of types with a hand-written form.
  const json = isNameless ? 'nameless' : written
  const others: Record<string, unknown> = isNameless ? { json: '' } : {}
  const goName = isEmbedded(field) ? lastName(type.ref!) : json.charAt(0).toUpperCase() + json.slice(1)
  const emptiness = optional ? (omitempty ? '?' : '~') : omitempty ? '^' : ''
  const flags = `${pointer ? '*' : ''}${emptiness}${required ? '!' : ''}`
  if (!isLean && (embedded ?? false) !== isEmbedded(field)) others['embedded'] = embedded ?? false
  const marks: string[] = []
  const expected = type.ref === 'meta/v1.TypeMeta' ? Number.NaN : previous + 1
  if (proto === undefined) {
    if (!Number.isNaN(expected)) marks.push('n')
  } else {
    if (proto.number !== expected) marks.push(`n${proto.number}`)
    if (!isEqual(proto, protoOf(type, proto.number))) others['proto'] = proto
  }
  if (!isEqual(zero, zeroOf(field))) {
    if (zero === undefined) marks.push('z')
    else others['zero'] = zero
  }
  marks.push(...otherMarks(rest, others, json))
  const node = nodeText(type, at)
  const last = Object.keys(others).length === 0 ? [] : [`j${JSON.stringify(others)}`]
  if (isLean && / /.test(last.join(''))) throw new Error(`${json}: ${last.join('')} has a space`)
  const head = `${json}${go === goName ? '' : `=${go}`}${flags}${node === 's' ? '' : `:${node}`}`
  return [head, ...marks, ...last].join(';')
}

/** The marks of the remaining members; those without a mark are added to `others`. */
function otherMarks(
  members: Omit<FieldFile, 'json' | 'go' | 'type'>,
  others: Record<string, unknown>,
  name: string,
): readonly string[] {
  const { listType, listMapKeys, patchStrategy, patchMergeKey, noDoc, oneOf, unionDiscriminator, featureGate, ...rest } = members
  const marks: string[] = []
  if (listType === 'map') marks.push(`m${listed(listMapKeys ?? [], name)}`)
  else if (listType !== undefined) {
    marks.push(listType.charAt(0))
    if (listMapKeys !== undefined) Object.assign(others, { listMapKeys })
  }
  if (patchStrategy === 'merge') marks.push(`p${patchMergeKey ?? ''}`)
  else Object.assign(others, defined({ patchStrategy, patchMergeKey }))
  if (noDoc) marks.push('d')
  // The whole form names the union.
  if (oneOf === true) marks.push('o')
  else Object.assign(others, defined({ oneOf }))
  if (unionDiscriminator) marks.push('u')
  if (featureGate) marks.push(`g${listed(featureGate, name)}`)
  Object.assign(others, rest)
  return marks
}

function defined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function listed(values: readonly string[], name: string): string {
  if (values.length === 0 || values.some((value) => /[,;\s]/.test(value))) {
    throw new Error(`${name}: ${JSON.stringify(values)} cannot be listed`)
  }
  return values.join(',')
}

const scalars = { string: 's', bool: 'b', int32: 'i', int64: 'l', float64: 'f', bytes: 'y', any: 'a' } as const

export function nodeText(node: NodeFacts, at: Place): string {
  if (node.scalar !== undefined) {
    const code = scalars[node.scalar]
    if (code === undefined) throw new Error(`no code for the scalar ${node.scalar}`)
    const known = node.enum ? `|${shortName(node.enum, at)}` : node.named ? `<${shortName(node.named, at)}` : ''
    return code + known
  }
  if (node.special !== undefined) return `@${node.special}`
  if (node.ref !== undefined) return shortName(node.ref, at)
  const of = node.list ?? node.map
  if (of === undefined) throw new Error(`unknown type ${JSON.stringify(node)}`)
  const wrapped = node.protoWrapped ? '!' : ''
  const named = node.named ? `<${shortName(node.named, at)}>` : ''
  const key = node.keyNamed ? `(${shortName(node.keyNamed, at)})` : ''
  return `${node.list ? '[' : '{'}${wrapped}${named}${key}${nodeText(of, at)}`
}

function shortName(name: string, { folder, version }: Place): string {
  if (name.startsWith(`${folder}/${version}.`)) return name.slice(folder.length + version.length + 2)
  if (name.startsWith('meta/v1.')) return name.slice('meta/v1'.length)
  return name.startsWith('core/v1.') ? `/${name.slice('core/v1.'.length)}` : name
}

const lastName = (name: string) => name.slice(name.lastIndexOf('.') + 1)

// What packed-facts.ts adds. The round trip of every release proves that both sides agree.

function protoOf(type: NodeFacts, number: number): ProtoFacts {
  if (type.map !== undefined) return { number, type: 'bytes', rep: 'rep', map: ['string', messageOf(type.map)] }
  const scalar = (type.list ?? type).scalar ?? ''
  const wire = scalar === 'float64' ? 'fixed64' : ['bool', 'int32', 'int64'].includes(scalar) ? 'varint' : 'bytes'
  return { number, type: wire, rep: type.list !== undefined && !type.protoWrapped ? 'rep' : 'opt' }
}

function messageOf({ named, ref, special, scalar }: NodeFacts): string {
  return (
    special ?? (ref === undefined && (named === undefined || scalar !== undefined) ? (scalar ?? '') : lastName(ref ?? named!))
  )
}

function zeroOf({ type, inline, pointer, omitempty }: FieldFile): unknown {
  if (inline) return undefined
  if (type.ref && !pointer) return {}
  if (type.special && !pointer) return { Quantity: '0', IntOrString: 0 }[type.special] ?? null
  if (omitempty) return undefined
  if (pointer) return null
  const zeros: Readonly<Record<string, unknown>> = { string: '', bool: false, int32: 0, int64: 0, float64: 0 }
  return zeros[type.scalar ?? ''] ?? null
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (one !== undefined && other !== undefined && stable(one) === stable(other))
}

/** As JSON, with the members of objects by name. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner === null || typeof inner !== 'object' || Array.isArray(inner)
      ? inner
      : Object.fromEntries(Object.entries(inner as object).sort()),
  )
}
