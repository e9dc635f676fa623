/** Priority classes. */
import type { DeepReadonly } from '@krmkit/meta'
import type { PriorityClass } from '../../types/scheduling-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, startGeneration } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet } from '../shared/values.ts'

const highestOfUsers = 1_000_000_000
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** Classes of the system and their values. */
const systemClasses: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])

/** What distinguishes the class from that of the system; undefined when nothing does. */
function systemClassError(name: string, value: number, globalDefault: boolean): string | undefined {
  const wanted = systemClasses.get(name)
  if (wanted === undefined) return `${name} is not a known system priority class`
  if (value !== wanted) return `value of ${name} PriorityClass must be ${wanted}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

function checkClass(object: DeepReadonly<PriorityClass>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  const name = object.metadata.name ?? ''
  const { value = 0, globalDefault = false, preemptionPolicy: policy } = object
  if (name.startsWith('system-')) {
    const error = systemClassError(name, value, globalDefault)
    const reserved = "priority class names with 'system-' prefix are reserved for system use only. error: "
    if (error !== undefined)
      report
        .at('metadata')
        .child('name')
        .forbidden(reserved + error)
  } else if (value > highestOfUsers) {
    report.at('value').forbidden(`maximum allowed value of a user defined priority is ${highestOfUsers}`)
  }
  if (!isSet(policy)) return
  if (policy === '') report.at('preemptionPolicy').required()
  else if (!preemptionPolicies.includes(policy)) report.at('preemptionPolicy').notSupported(policy, preemptionPolicies)
}

export const priorityClassStrategy = defineStrategy<PriorityClass>({
  keepInMemory: true,
  defaults(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  prepareForCreate: startGeneration,
  validate(object, context) {
    return findings(context, (report) => checkClass(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      if ((object.value ?? 0) !== (old.value ?? 0)) report.at('value').forbidden('may not be changed in an update.')
      if (object.preemptionPolicy !== old.preemptionPolicy) {
        report.at('preemptionPolicy').invalid(object.preemptionPolicy, 'field is immutable')
      }
    })
  },
})
