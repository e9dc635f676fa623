import { type GroupVersionKind, isJsonObject, type JsonObject, parseApiVersion } from '@krmkit/meta'
import type { ManifestDocument } from '@krmkit/schema/manifest'
import type { ManifestObjectName } from '@krmkit/versioning'
import { printable } from './printable.ts'

/** One object of a document: the document itself, or an item of a list. */
export interface ManifestObject {
  /** The parsed value. */
  readonly value: unknown
  /** Path of the object in the document: empty, or `items[3]`. */
  readonly at: string
  /** The kind of an item without apiVersion and kind in a typed list. */
  readonly implied?: GroupVersionKind
}

const maxNesting = 10

/**
 * Returns the objects of a document; lists are replaced by their items, recursively.
 *
 * @example
 * import { nameOf, objectsOf, objectText } from 'krmkit/validate'
 * const value = { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }] }
 * objectsOf({ value }).map((object) => objectText(nameOf(object))) // ['Secret a']
 */
export function objectsOf({ value }: Pick<ManifestDocument, 'value'>): ManifestObject[] {
  return opened({ value, at: '' }, 0)
}

function opened(object: ManifestObject, depth: number): ManifestObject[] {
  const { value, at } = object
  const implied = depth < maxNesting ? listOf(value) : undefined
  if (implied === undefined) return [object]
  const items = (value as JsonObject).items as readonly unknown[]
  return items.flatMap((item, index) => {
    const place = at === '' ? `items[${index}]` : `${at}.items[${index}]`
    return opened({ value: item, at: place, ...(implied.kind === '' ? {} : { implied }) }, depth + 1)
  })
}

/**
 * Returns the kind of the items of a list; an empty kind for a `List`, whose items have their kind. Undefined for other
 * values.
 */
function listOf(value: unknown): GroupVersionKind | undefined {
  if (!isJsonObject(value) || !Array.isArray(ownMember(value, 'items'))) return undefined
  const [apiVersion, kind] = [ownMember(value, 'apiVersion'), ownMember(value, 'kind')]
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !kind.endsWith('List')) return undefined
  if (apiVersion.split('/').length > 2) return undefined
  return { ...parseApiVersion(apiVersion), kind: kind.slice(0, -'List'.length) }
}

/** Returns the value of an own property. */
export function ownMember(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}

/** Returns the kind and name of an object, see {@link objectsOf}; values of a wrong type count as empty. */
export function nameOf({ value, implied }: ManifestObject): ManifestObjectName {
  const text = (from: unknown, name: string): string => {
    const member = isJsonObject(from) ? ownMember(from, name) : undefined
    return typeof member === 'string' ? member : ''
  }
  const metadata = isJsonObject(value) ? ownMember(value, 'metadata') : undefined
  const impliedVersion =
    implied === undefined ? '' : implied.group === '' ? implied.version : `${implied.group}/${implied.version}`
  return {
    apiVersion: text(value, 'apiVersion') || impliedVersion,
    kind: text(value, 'kind') || (implied?.kind ?? ''),
    namespace: text(metadata, 'namespace'),
    name: text(metadata, 'name') || text(metadata, 'generateName'),
  }
}

/** Formats an object as `Deployment default/web`, without control characters; see {@link objectsOf}. */
export function objectText({ kind, namespace, name }: ManifestObjectName): string {
  return printable(`${kind}${name === '' ? '' : ` ${namespace === '' ? '' : `${namespace}/`}${name}`}`)
}
