import { type GroupVersionKind, isJsonObject, type JsonObject, parseApiVersion } from '@krmkit/meta'

/** The objects within the value of a manifest. */

/** The kind and name of an object in a manifest. */
export interface ManifestObjectName {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for objects without a namespace. */
  readonly namespace: string
  /** Empty for objects without a name. */
  readonly name: string
}

export interface FoundObject extends ManifestObjectName {
  readonly gvk: GroupVersionKind
  readonly object: JsonObject
  /** Path in the value: empty, or `items[3]`. */
  readonly at: string
}

const maxNesting = 10

/**
 * Returns the objects of a value: the value itself, or the items of a list, recursively. Values that are not objects are
 * omitted.
 */
export function objectsIn(value: unknown): FoundObject[] {
  return opened(value, '', undefined, 0)
}

function opened(value: unknown, at: string, implied: ManifestObjectName | undefined, depth: number): FoundObject[] {
  if (!isJsonObject(value)) return []
  const name = nameOf(value, implied)
  const items = ownMember(value, 'items')
  if (name.kind.endsWith('List') && Array.isArray(items) && depth < maxNesting) {
    const kind = name.kind.slice(0, -'List'.length)
    const inner = kind === '' ? undefined : { ...name, kind }
    return items.flatMap((item, index) => opened(item, at === '' ? `items[${index}]` : `${at}.items[${index}]`, inner, depth + 1))
  }
  if (name.apiVersion === '' || name.kind === '' || name.apiVersion.split('/').length > 2) return []
  return [{ ...name, gvk: { ...parseApiVersion(name.apiVersion), kind: name.kind }, object: value, at }]
}

function nameOf(value: JsonObject, implied: ManifestObjectName | undefined): ManifestObjectName {
  const text = (from: unknown, member: string): string => {
    const found = isJsonObject(from) ? ownMember(from, member) : undefined
    return typeof found === 'string' ? found : ''
  }
  const metadata = ownMember(value, 'metadata')
  return {
    apiVersion: text(value, 'apiVersion') || (implied?.apiVersion ?? ''),
    kind: text(value, 'kind') || (implied?.kind ?? ''),
    namespace: text(metadata, 'namespace'),
    name: text(metadata, 'name') || text(metadata, 'generateName'),
  }
}

export function ownMember(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export function joinPath(at: string, path: string): string {
  return at === '' || path === '' ? at || path : `${at}.${path}`
}
