import type { OptionKinds } from '@krmkit/base/arguments'
import type { ApiObject, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { requireObjects, requireOptions } from '../arguments.ts'
import { fieldElement } from '../fieldpath/element.ts'
import { FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { lastAppliedAnnotation } from '../managed-fields/last-applied.ts'
import { withManagedFields } from '../managed-fields/type-converter.ts'
import { entriesOf } from './apply.ts'

export interface MigrateOptions {
  /** Managers of client-side apply; `kubectl-client-side-apply` by default. */
  readonly from?: readonly string[]
  /** Manager of future applies; `kubectl` by default. */
  readonly to?: string
  readonly subresource?: string
  readonly annotation?: string
  /** Whether to remove the last-applied annotation as well. */
  readonly removeAnnotation?: boolean
}

/**
 * Migrates an object from client-side to server-side apply: the fields of the old managers move to the applier, so that its next
 * configuration removes the fields that it omits.
 *
 * The entry of each old manager in the applier's version is merged; its other entries are dropped.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be decoded.
 * @example
 * ```ts
 * import { migrate } from '@krmkit/fieldmanager'
 *
 * const entry = { manager: 'kubectl-client-side-apply', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }
 * const managedFields = [{ ...entry, fieldsV1: { 'f:data': { 'f:color': {} } } }]
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop', managedFields }, data: { color: 'blue' } }
 * migrate(object, { to: 'ci' }) // metadata.managedFields: [{ manager: 'ci', operation: 'Apply', ... }]
 * ```
 */
export function migrate(object: JsonObject, options: MigrateOptions = {}): JsonObject {
  requireObjects('migrate', { object })
  requireOptions('migrate', options, optionKinds)
  const { from = ['kubectl-client-side-apply'], to = 'kubectl', subresource = '', annotation = lastAppliedAnnotation } = options
  let entries = [...entriesOf(object)]
  for (const name of from) entries = handOver(entries, name, to, { subresource, annotation })
  const migrated = options.removeAnnotation ? withoutAnnotation(object, annotation) : object
  return withManagedFields(migrated as unknown as ApiObject, entries as unknown as JsonValue[]) as unknown as JsonObject
}

const optionKinds = {
  from: 'any',
  to: 'text',
  subresource: 'text',
  annotation: 'text',
  removeAnnotation: 'flag',
} as const satisfies OptionKinds<MigrateOptions>

function handOver(
  entries: ManagedFieldsEntry[],
  from: string,
  to: string,
  { subresource, annotation }: { subresource: string; annotation: string },
): ManagedFieldsEntry[] {
  const isEntry = (entry: ManagedFieldsEntry, manager: string, operation: string): boolean =>
    entry.manager === manager && entry.operation === operation && (entry.subresource ?? '') === subresource
  const isOld = (entry: ManagedFieldsEntry): boolean => isEntry(entry, from, 'Update')
  const target = entries.find((entry) => isEntry(entry, to, 'Apply')) ?? entries.find(isOld)
  if (target === undefined) return entries
  const old = entries.find((entry) => isOld(entry) && entry.apiVersion === target.apiVersion)
  const own = decodeFieldsV1(target.fieldsV1)
  const both = old === undefined ? own : own.union(decodeFieldsV1(old.fieldsV1))
  const gone = FieldSet.of([fieldElement('metadata'), fieldElement('annotations'), fieldElement(annotation)])
  const joined = { ...target, manager: to, operation: 'Apply', fieldsV1: encodeFieldsV1(both.difference(gone)) }
  return entries.flatMap((entry) => (entry === target ? [joined] : isOld(entry) ? [] : [entry]))
}

function withoutAnnotation(object: JsonObject, annotation: string): JsonObject {
  const metadata = object.metadata as JsonObject
  const { [annotation]: _, ...annotations } = (metadata?.annotations ?? {}) as JsonObject
  return { ...object, metadata: { ...metadata, annotations } }
}
