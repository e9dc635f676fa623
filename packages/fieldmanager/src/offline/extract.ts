import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { requireManager, requireObjects, requireOptions } from '../arguments.ts'
import { decodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { extractItems } from '../typed/remove.ts'
import { entriesOf } from './apply.ts'
import { type OfflineSchema, typeOf } from './schema.ts'

export interface ExtractOptions {
  readonly schema?: OfflineSchema
  /** Empty for the main resource. */
  readonly subresource?: string
}

/**
 * The configuration that a manager applied last, reconstructed from its owned fields, to be changed and applied again. When the manager
 * owns nothing, the result contains only the identity of the object.
 *
 * @throws FieldManagerError `InvalidFieldSet` when its entry cannot be decoded, `InvalidArgument`.
 * @example
 * ```ts
 * import { apply, extract } from '@krmkit/fieldmanager'
 *
 * const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const { object } = apply({ applied, manager: 'ci' })
 * extract(object, 'ci') // { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * ```
 */
export function extract(object: JsonObject, manager: string, options: ExtractOptions = {}): JsonObject {
  requireObjects('extract', { object })
  requireManager('extract(object, manager)', manager)
  requireOptions('extract', options, { schema: 'any', subresource: 'text' })
  const { schema, subresource = '' } = options
  const entry = entriesOf(object).find(
    (each) => each.manager === manager && each.operation === 'Apply' && (each.subresource ?? '') === subresource,
  )
  const set = decodeFieldsV1(entry?.fieldsV1).leaves()
  const extracted = set.empty ? null : extractItems(object, set, typeOf(schema))
  const metadata = isJsonObject(extracted) && isJsonObject(extracted.metadata) ? extracted.metadata : {}
  const { name, namespace } = (object.metadata ?? {}) as JsonObject
  const identity: JsonObject = {}
  if (typeof name === 'string') identity.name = name
  if (typeof namespace === 'string' && namespace !== '') identity.namespace = namespace
  const { apiVersion, kind } = object
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...(isJsonObject(extracted) ? extracted : {}),
    metadata: { ...identity, ...metadata },
  }
}
