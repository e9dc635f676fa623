/** ControllerRevision: a former specification of a controller. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import { stringifyJson } from '@krmkit/schema'
import type { ControllerRevision } from '../../../types/apps-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'

function* validateRevision(revision: DeepReadonly<ControllerRevision>, errors: ContextErrorList): Work {
  yield* validateMetadata(revision, errors, { namespaced: true })
  validateNotNegative(revision.revision, errors.child('revision'))
}

function validateData(revision: DeepReadonly<ControllerRevision>, errors: ContextErrorList): void {
  const data: unknown = revision.data
  if (!isSet(data)) errors.child('data').required('data is mandatory')
  else if (typeof data !== 'object' || Array.isArray(data)) errors.child('data').required('data must be a valid JSON object')
}

function printBytes(data: unknown): string {
  if (!isSet(data)) return 'runtime.RawExtension{Raw:[]uint8(nil), Object:runtime.Object(nil)}'
  const bytes = [...new TextEncoder().encode(JSON.stringify(data))].map((byte) => `0x${byte.toString(16)}`)
  return `runtime.RawExtension{Raw:[]uint8{${bytes.join(', ')}}, Object:runtime.Object(nil)}`
}

export const controllerRevisionStrategy = defineStrategy<ControllerRevision>({
  validate: creationRules(function* (errors, revision) {
    yield* validateRevision(revision, errors)
    validateData(revision, errors)
  }),
  validateUpdate: updateRules(function* (errors, revision, old) {
    yield* validateMetadataUpdate(revision, old, errors)
    yield* validateRevision(revision, errors)
    // The order of keys counts: kube-apiserver compares the bytes.
    if (stringifyJson(revision.data) !== stringifyJson(old.data))
      errors.child('data').invalid(goText(printBytes(revision.data)), 'field is immutable')
  }),
})
