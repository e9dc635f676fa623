import type { Field, ListNode, MapNode, StructType, TypeNode } from '../interfaces.ts'
import { specialText } from './special.ts'
import { textOf } from './texts/index.ts'

/**
 * Descriptions for `kubectl explain`: a text from the tables, if one exists, then properties from the type model: value
 * format, merge behaviour, default.
 */

/** Describes a type. */
export function describeType(type: StructType): string {
  if (type.root) return `${rootSubject(type)}${versionOf(type)}.`
  const sentences = [sentence(splitCamelCase(type.typeName))]
  if (type.structType === 'atomic') sentences.push('Atomic: owned and replaced as a whole.')
  if (type.union) sentences.push(unionSentence(type))
  return sentences.join(' ')
}

/** Describes a field; never empty. */
export function describeField(type: StructType, field: Field): string {
  const known = type.root ? knownMembers[field.json] : undefined
  const sentences = [known ?? textOf(type.typeName, field.json) ?? sentence(subject(field))]
  const content = contentSentence(field.type)
  if (content !== undefined && known === undefined) sentences.push(content)
  const list = listSentence(field)
  if (list !== undefined) sentences.push(list)
  if (field.mapType === 'atomic' || field.structType === 'atomic') sentences.push('Atomic: owned and replaced as a whole.')
  if (field.unionDiscriminator) sentences.push('Discriminates the union.')
  if (field.default !== undefined) sentences.push(`Default: ${shown(field.default)}.`)
  if (field.featureGates !== undefined && field.featureGates.length > 0) {
    sentences.push(`Requires feature gate ${field.featureGates.join(' and ')}.`)
  }
  return sentences.join(' ')
}

const knownMembers: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  apiVersion: 'APIVersion defines the group and version of this representation of the object, such as v1 or apps/v1.',
  kind: 'Kind of the object.',
  metadata: "Standard object's metadata: name, namespace, labels, annotations and metadata maintained by the server.",
  spec: 'Desired state.',
  status: 'Last observed state; written by controllers.',
  items: 'Objects of the list.',
})

function rootSubject(type: StructType): string {
  const items = type.field.get('items')
  if (!type.typeName.endsWith('List') || items === undefined) return `${type.typeName} is a kind`
  return `${type.typeName} is a list of ${type.typeName.slice(0, -'List'.length)} objects`
}

function versionOf(type: StructType): string {
  return ` of ${type.group === '' ? 'the core group' : type.group}, version ${type.version}`
}

function unionSentence(type: StructType): string {
  const discriminator = type.fields.find((field) => field.unionDiscriminator)
  return discriminator === undefined
    ? 'At most one of its members may be set.'
    : `Only the member selected by ${discriminator.json} may be set.`
}

/** `terminationGracePeriodSeconds` becomes `termination grace period, in seconds`. */
function subject(field: Field): string {
  const name = field.json
  const unit = units.find(([suffix]) => name.endsWith(suffix) && name.length > suffix.length)
  if (unit === undefined) return splitCamelCase(name)
  return `${splitCamelCase(name.slice(0, -unit[0].length))}, in ${unit[1]}`
}

const units: readonly (readonly [suffix: string, unit: string])[] = [
  ['Milliseconds', 'milliseconds'],
  ['Seconds', 'seconds'],
  ['Minutes', 'minutes'],
  ['Percent', 'percent'],
]

/** Splits camel case: `hostIPs` becomes `host IPs`. Names that are not identifiers stay unchanged. */
export function splitCamelCase(name: string): string {
  const parts = name.match(/[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]/g)
  if (parts === null || parts.join('').length !== name.length) return name
  return parts.map((part) => (/^[A-Z][a-z0-9]*$/.test(part) && part.length > 1 ? part.toLowerCase() : part)).join(' ')
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1)
  return first.endsWith('.') ? first : `${first}.`
}

function contentSentence(node: TypeNode): string | undefined {
  if (node.kind === 'special') return specialText(node.special)
  if (node.kind === 'scalar' && node.scalar === 'bytes') return 'Base64-encoded bytes.'
  if (node.kind === 'list' || node.kind === 'map') return elementSentence(node)
  return undefined
}

function elementSentence(node: ListNode | MapNode): string | undefined {
  const inner = contentSentence(node.of)
  if (inner === undefined) return undefined
  return `${node.kind === 'list' ? 'Each element' : 'Each value'}: ${inner.slice(0, 1).toLowerCase()}${inner.slice(1)}`
}

function listSentence(field: Field): string | undefined {
  if (field.type.kind !== 'list') return undefined
  if (field.listType === 'set') return 'Values are unique.'
  if (field.listType === 'map') return `Elements are unique by ${listOf(field.listMapKeys ?? [])}.`
  return field.patchMergeKey === undefined ? undefined : `Strategic merge patches identify elements by ${field.patchMergeKey}.`
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`
}

function shown(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
