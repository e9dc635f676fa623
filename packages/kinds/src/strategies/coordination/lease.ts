/** Leases. */
import type { DeepReadonly } from '@krmkit/meta'
import type { Lease } from '../../types/coordination-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { checkNotNegative, checkPositive } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet } from '../shared/values.ts'

function checkSpec(lease: DeepReadonly<Lease>, report: Report): void {
  const at = report.at('spec')
  checkPositive(lease.spec?.leaseDurationSeconds, at.child('leaseDurationSeconds'))
  checkNotNegative(lease.spec?.leaseTransitions, at.child('leaseTransitions'))
}

/** Members of coordinated elections, which are behind a gate. */
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
    return findings(context, (report) => {
      checkMetadata(lease, report, { namespaced: true })
      checkSpec(lease, report)
    })
  },
  validateUpdate(lease, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(lease, old, report)
      checkSpec(lease, report)
    })
  },
})
