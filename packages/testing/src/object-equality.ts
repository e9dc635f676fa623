import { type Change, diffObjects, type OfflineSchema, typedSchemaFromOpenApi } from '@krmkit/fieldmanager'
import { typedSchemaOf } from '@krmkit/fieldmanager/typed'
import { type Catalog, createCatalog } from '@krmkit/kinds'
import type { CustomResourceDefinition } from '@krmkit/kinds/apiextensions/v1'
import { type ApiObject, type DeepReadonly, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { formatValue } from './explanation.ts'
import type { ObjectReference } from './field-history.ts'
import { locate, parseFieldPath } from './field-path.ts'
import { checkMembers } from './known-members.ts'

/** Equality of objects: keyed lists and sets are compared in any order, and fields set by the server are ignored. */

/** An object as a client returns it. */
export type MatchedObject = DeepReadonly<ApiObject>

export interface EqualObjectOptions {
  /** Paths of fields to leave out: `.status`, `.metadata.labels["app.kubernetes.io/name"]`, `.spec.containers[name="web"].image`. */
  readonly ignore?: readonly string[]
  /** Definition of a custom resource, whose schema names the keys of its lists. Without one its lists are compared in order. */
  readonly definition?: DeepReadonly<CustomResourceDefinition>
}

/** `Pod default/web` */
export function titleOf({ kind, metadata: { namespace, name = '' } }: ObjectReference): string {
  return `${kind ?? 'the object'} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** Members of metadata that the server sets. */
const serverMembers = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink']

/** The differences between the expected and the received object; `added` are fields that only the received object has. */
export function differences(object: MatchedObject, expected: object, options: EqualObjectOptions): readonly Change[] {
  checkMembers('the options of an equality', options, { ignore: true, definition: true })
  const { ignore = [], definition } = options
  const wanted = plainCopy(expected)
  const received = plainCopy(object)
  for (const member of ['apiVersion', 'kind']) if (!Object.hasOwn(wanted, member)) delete received[member]
  const { metadata } = received
  const wantedMetadata = (wanted['metadata'] ?? {}) as JsonObject
  for (const member of serverMembers) {
    if (!Object.hasOwn(wantedMetadata, member) && metadata !== undefined) delete (metadata as JsonObject)[member]
  }
  for (const path of ignore) for (const each of [wanted, received]) removeAt(each, path)
  return diffObjects(wanted, received, schemaOf(object, definition))
}

/** Returns a mutable copy without undefined members. */
function plainCopy(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

function removeAt(object: JsonObject, path: string): void {
  const { pointer, value } = locate(object, parseFieldPath(path))
  if (value === undefined) return
  const steps = pointer.slice(1).split('/')
  const last = steps.pop() ?? ''
  const holder = locate(
    object,
    parseFieldPath(`/${steps.join('/')}`).filter((step) => step !== ''),
  ).value
  if (Array.isArray(holder)) holder.splice(Number(last), 1)
  else delete (holder as JsonObject)[last.replaceAll('~1', '/').replaceAll('~0', '~')]
}

export function describeChanges(what: string, object: MatchedObject, changes: readonly Change[]): string {
  if (changes.length === 0) return `expected ${titleOf(object)} not to ${what}, but it does`
  const lines = changes.map(({ kind, field, before, after }) => {
    if (kind === 'added') return `  ${field}: unexpected ${formatValue(after)}`
    return `  ${field}: expected ${formatValue(before)}, received ${formatValue(after)}`
  })
  return `expected ${titleOf(object)} to ${what}\n${lines.join('\n')}`
}

/**
 * Returns the schema of a built-in kind, or of a custom resource with a definition. Without a schema, lists are compared in
 * order.
 */
export function schemaOf({ apiVersion, kind }: MatchedObject, definition: EqualObjectOptions['definition']): OfflineSchema {
  if (apiVersion === undefined || kind === undefined) return undefined
  const { group, version } = parseApiVersion(apiVersion)
  if (definition === undefined) return knownKinds().kind({ group, version, kind })?.type()
  const served = definition.spec.versions?.find(({ name }) => name === version)
  const schema = served?.schema?.openAPIV3Schema
  if (schema === undefined) return undefined
  const metadata = typedSchemaOf(knownKinds().types.struct('meta/v1.ObjectMeta'))
  return typedSchemaFromOpenApi(schema as unknown as JsonObject, { root: { metadata } })
}

let catalog: Catalog | undefined

/** A cache of the built-in kinds, which never change. */
function knownKinds(): Catalog {
  catalog ??= createCatalog()
  return catalog
}
