/** Lease. */
import type { DeepReadonly } from '@krmkit/meta'
import type { Lease } from '../../../types/coordination-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative, validatePositive } from '../../shared/numbers.ts'
import { defineStrategy, validateStepsWith } from '../../shared/strategy.ts'
import { isSet } from '../../shared/values.ts'

function validateSpec(lease: DeepReadonly<Lease>, errors: ContextErrorList): void {
  const at = errors.child('spec')
  validatePositive(lease.spec?.leaseDurationSeconds, at.child('leaseDurationSeconds'))
  validateNotNegative(lease.spec?.leaseTransitions, at.child('leaseTransitions'))
}

/** Drops the members of coordinated leader election if its feature gate is off. */
function dropCoordination(lease: Lease, old: DeepReadonly<Lease> | undefined, enabled: boolean): void {
  if (enabled || !isSet(lease.spec)) return
  if (!isSet(old?.spec?.strategy)) delete lease.spec.strategy
  if (!isSet(old?.spec?.preferredHolder)) delete lease.spec.preferredHolder
}

export const leaseStrategy = defineStrategy<Lease>({
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  prepareForCreate(lease, { features }) {
    dropCoordination(lease, undefined, features.enabled('CoordinatedLeaderElection'))
  },
  prepareForUpdate(lease, old, { features }) {
    dropCoordination(lease, old, features.enabled('CoordinatedLeaderElection'))
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
