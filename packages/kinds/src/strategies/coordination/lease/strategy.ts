/** Lease. */
import type { DeepReadonly } from '@krmkit/meta'
import type { Lease } from '../../../types/coordination-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateNotNegative, validatePositive } from '../../shared/numbers.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'
import { validateStrategyName } from '../lease-strategy-name.ts'

function validateSpec(lease: DeepReadonly<Lease>, errors: ContextErrorList): void {
  const at = errors.child('spec')
  validatePositive(lease.spec?.leaseDurationSeconds, at.child('leaseDurationSeconds'))
  validateNotNegative(lease.spec?.leaseTransitions, at.child('leaseTransitions'))
  const { strategy, preferredHolder } = lease.spec ?? {}
  if (isSet(strategy)) validateStrategyName(strategy, at.child('strategy'))
  if (!isEmpty(preferredHolder) && isEmpty(strategy))
    at.child('preferredHolder').forbidden('may only be specified if `strategy` is defined')
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
  validate: creationRules(function* (errors, lease) {
    yield* validateMetadata(lease, errors, { namespaced: true, bareFinalizers: true })
    validateSpec(lease, errors)
  }),
  validateUpdate: updateRules(function* (errors, lease, old) {
    yield* validateMetadataUpdate(lease, old, errors, { bareFinalizers: true })
    validateSpec(lease, errors)
  }),
})
