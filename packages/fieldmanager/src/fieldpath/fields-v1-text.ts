import { isJsonObject } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { parseJsonText } from '../value/json.ts'
import type { FieldSet } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.direct.ts'

/**
 * Parses the JSON text of a FieldsV1 object; `null` is the empty set.
 *
 * @throws FieldManagerError as `decodeFieldsV1`
 * @example
 * ```ts
 * import { parseFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * parseFieldsV1('{"f:spec":{"f:replicas":{}}}').paths() // [['f:spec', 'f:replicas']]
 * ```
 */
export function parseFieldsV1(text: string): FieldSet {
  const value = parseJsonText(text)
  if (value !== null && !isJsonObject(value))
    throw new FieldManagerError({ code: 'InvalidFieldSet', message: 'a field set must be an object' })
  return decodeFieldsV1(value)
}

/**
 * JSON text of the FieldsV1 object, byte for byte as kube-apiserver stores it.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { formatFieldsV1 } from '@krmkit/fieldmanager/fieldpath'
 *
 * formatFieldsV1(FieldSet.of(['f:spec', 'f:replicas'])) // '{"f:spec":{"f:replicas":{}}}'
 * ```
 */
export function formatFieldsV1(set: FieldSet): string {
  return JSON.stringify(encodeFieldsV1(set))
}
