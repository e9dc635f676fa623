/** Config maps. @see Configuration and storage specification, 2.1 */
import { type DeepReadonly, utf8Length, validateConfigMapKey } from '@krmkit/meta'
import type { ConfigMap } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { base64Bytes, isEmptyMap, own, semanticEqual, sortedKeys } from '../shared/values.ts'

/** Bytes that all values of a config map or secret may have together. */
export const maxDataSize = 1024 * 1024

const frozen = 'field is immutable when `immutable` is set'

function checkConfigMap(map: DeepReadonly<ConfigMap>, report: Report): void {
  checkMetadata(map, report, { namespaced: true })
  let size = 0
  const data = report.at('data')
  for (const key of sortedKeys(map.data)) {
    checkDataKey(key, data)
    if (own(map.binaryData, key) !== undefined) data.key(key).invalid(key, 'duplicate of key present in binaryData')
    size += utf8Length(own(map.data, key) ?? '')
  }
  const binaryData = report.at('binaryData')
  for (const key of sortedKeys(map.binaryData)) {
    checkDataKey(key, binaryData)
    size += base64Bytes(own(map.binaryData, key) ?? '')
  }
  // The stock server names no member here, and prints the empty path like this.
  if (size > maxDataSize) report.at('[]').tooLong('', maxDataSize)
}

/** Keys of config maps and secrets; `at` is the map. */
export function checkDataKey(key: string, at: FieldPath): void {
  const messages = validateConfigMapKey(key)
  if (messages.length > 0) at.key(key).invalidAll(key, messages)
}

/** Whether two maps hold the same; an absent one is empty. */
export function sameData(a: object | undefined, b: object | undefined): boolean {
  return isEmptyMap(a) ? isEmptyMap(b) : semanticEqual(a, b)
}

export const configMapStrategy = defineStrategy<ConfigMap>({
  validate(map, context) {
    return findings(context, (report) => checkConfigMap(map, report))
  },
  validateUpdate(map, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(map, old, report)
      if (old.immutable === true) {
        if (map.immutable !== true) report.at('immutable').forbidden(frozen)
        if (!sameData(map.data, old.data)) report.at('data').forbidden(frozen)
        if (!sameData(map.binaryData, old.binaryData)) report.at('binaryData').forbidden(frozen)
      }
      checkConfigMap(map, report)
    })
  },
  deleteAnswer: 'StatusAlways',
})
