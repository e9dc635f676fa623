/** Lease. */
import type { DeepReadonly } from '@krmkit/meta'
import type { Lease } from '../../../types/coordination-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative, validatePositive } from '../../shared/numbers.ts'
import { defineStrategy, validateStepsWith } from '../../shared/strategy.ts'

function validateSpec(lease: DeepReadonly<Lease>, errors: ContextErrorList): void {
  const at = errors.child('spec')
  validatePositive(lease.spec?.leaseDurationSeconds, at.child('leaseDurationSeconds'))
  validateNotNegative(lease.spec?.leaseTransitions, at.child('leaseTransitions'))
}

const table: readonly GatedFields[] = ['spec.strategy', 'spec.preferredHolder'].map((path) => {
  return { gate: 'CoordinatedLeaderElection', paths: [path] }
})

export const leaseStrategy = defineStrategy<Lease>({
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  prepareForCreate(lease, { features }) {
    dropGatedFields(lease, undefined, { table, features })
  },
  prepareForUpdate(lease, old, { features }) {
    dropGatedFields(lease, old, { table, features })
  },
  validate(lease, context) {
    return validateStepsWith(context, function* (errors) {
      yield* validateMetadata(lease, errors, { namespaced: true, bareFinalizers: true })
      validateSpec(lease, errors)
    })
  },
  validateUpdate(lease, old, context) {
    return validateStepsWith(context, function* (errors) {
      yield* validateMetadataUpdate(lease, old, errors, { bareFinalizers: true })
      validateSpec(lease, errors)
    })
  },
})
