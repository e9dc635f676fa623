/** Counts of replicas in the status of controllers. */

import type { FieldPath } from './field-path.ts'
import { checkNotNegative } from './numbers.ts'

/** The counts of a controller that makes pods of one template. */
export interface ReplicaCounts {
  readonly replicas?: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
}

/** Counts are not negative, and none is above the number of replicas. */
export function checkReplicaStatus(status: ReplicaCounts, at: FieldPath): void {
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  checkNotNegative(replicas, at.child('replicas'))
  checkNotNegative(fullyLabeledReplicas, at.child('fullyLabeledReplicas'))
  checkNotNegative(readyReplicas, at.child('readyReplicas'))
  checkNotNegative(availableReplicas, at.child('availableReplicas'))
  checkNotNegative(status.observedGeneration, at.child('observedGeneration'))
  checkNotNegative(status.terminatingReplicas, at.child('terminatingReplicas'))
  const tooMany = 'cannot be greater than status.replicas'
  if (fullyLabeledReplicas > replicas) at.child('fullyLabeledReplicas').invalid(fullyLabeledReplicas, tooMany)
  if (readyReplicas > replicas) at.child('readyReplicas').invalid(readyReplicas, tooMany)
  if (availableReplicas > replicas) at.child('availableReplicas').invalid(availableReplicas, tooMany)
  if (availableReplicas > readyReplicas)
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than readyReplicas')
}
