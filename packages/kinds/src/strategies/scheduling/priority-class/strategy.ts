/** PriorityClass. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { PriorityClass } from '../../../types/scheduling-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { startGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'

const maxUserPriority = 1_000_000_000
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** System classes and their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])

/** The difference from the system class of the same name; undefined if there is none. */
function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const wanted = systemClasses.get(name)
  if (wanted === undefined) return `${name} is not a known system priority class`
  if (value !== wanted) return `value of ${name} PriorityClass must be ${wanted}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function* validateClass(object: DeepReadonly<PriorityClass>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false })
  const name = object.metadata.name ?? ''
  const { value = 0, globalDefault = false, preemptionPolicy: policy } = object
  if (name.startsWith('system-')) {
    const error = systemClassError(name, value, globalDefault)
    const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: "
    if (error !== undefined)
      errors
        .child('metadata')
        .child('name')
        .forbidden(reserved + error)
  } else if (value > maxUserPriority) {
    errors.child('value').forbidden(`maximum allowed value of a user defined priority is ${maxUserPriority}`)
  }
  if (!isSet(policy)) return
  if (policy === '') errors.child('preemptionPolicy').required()
  else if (!preemptionPolicies.includes(policy)) errors.child('preemptionPolicy').notSupported(policy, preemptionPolicies)
}

export const priorityClassStrategy = defineStrategy<PriorityClass>({
  keepInMemory: true,
  defaults(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  prepareForCreate: startGeneration,
  validate: creationRules((errors, object) => validateClass(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateMetadataUpdate(object, old, errors)
    if ((object.value ?? 0) !== (old.value ?? 0)) errors.child('value').forbidden('may not be changed in an update.')
    if (object.preemptionPolicy !== old.preemptionPolicy) {
      errors.child('preemptionPolicy').invalid(object.preemptionPolicy, 'field is immutable')
    }
  }),
})
