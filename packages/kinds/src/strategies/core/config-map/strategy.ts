/** ConfigMap. @see Configuration and storage specification, 2.1 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { utf8Length } from '@krmkit/meta/go-text'
import { validateConfigMapKey } from '@krmkit/meta/names'
import type { ConfigMap } from '../../../types/core-v1.generated.ts'
import { deepEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { forEachKey, forEachMember } from '../../shared/for-each.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { base64Bytes, own } from '../../shared/values.ts'

/** Maximum size of all values of a config map or secret together, in bytes. */
export const maxDataSize = 1024 * 1024

const frozen = 'field is immutable when `immutable` is set'

function* validateConfigMap(map: DeepReadonly<ConfigMap>, errors: ContextErrorList): Work {
  yield* validateMetadata(map, errors, { namespaced: true })
  let size = 0
  const data = errors.child('data')
  yield* forEachKey(map.data, (key, value) => {
    validateDataKey(key, data)
    if (own(map.binaryData, key) !== undefined) data.key(key).invalid(key, 'duplicate of key present in binaryData')
    size += utf8Length(value)
  })
  const binaryData = errors.child('binaryData')
  yield* forEachKey(map.binaryData, (key, value) => {
    validateDataKey(key, binaryData)
    size += base64Bytes(value)
  })
  // kube-apiserver reports this error without a field and prints the empty path as `[]`.
  if (size > maxDataSize) errors.child('[]').tooLong('', maxDataSize)
}

/** Validates a key of a config map or secret; `at` is the map. */
export function validateDataKey(key: string, at: FieldPath): void {
  const messages = validateConfigMapKey(key)
  if (messages.length > 0) at.key(key).invalidAll(key, messages)
}

/** Replaces null by empty bytes, as kube-apiserver stores them: before, null is another value than empty bytes. */
export function fillNulls(bytes: Record<string, string | null> | null | undefined): Work {
  return forEachMember(bytes, (map, key) => {
    if (map[key] === null) map[key] = ''
  })
}

export const configMapStrategy = defineStrategy<ConfigMap>({
  validate: creationRules((errors, map) => validateConfigMap(map, errors)),
  validateUpdate: updateRules(function* (errors, map, old) {
    yield* validateMetadataUpdate(map, old, errors)
    if (old.immutable === true) {
      if (map.immutable !== true) errors.child('immutable').forbidden(frozen)
      if (!(yield* deepEqual(map.data, old.data))) errors.child('data').forbidden(frozen)
      if (!(yield* deepEqual(map.binaryData, old.binaryData))) errors.child('binaryData').forbidden(frozen)
    }
    yield* validateConfigMap(map, errors)
  }),
  canonicalize: (map) => fillNulls(map.binaryData),
  // `data` is an empty map by default.
  distinctEmpties: [['binaryData']],
  deleteResponse: 'StatusAlways',
})
