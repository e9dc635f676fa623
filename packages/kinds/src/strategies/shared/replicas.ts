/** Replica counts in the status of controllers. */

import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { FieldPath } from './field-path.ts'
import { validateNotNegative } from './numbers.ts'
import { isSet } from './values.ts'

/** Counts of a controller with one pod template. */
export interface ReplicaCounts {
  readonly replicas?: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
}

/** Drops a count that the release does not have, unless the stored status has it. */
export function dropTerminatingReplicas(
  status: { terminatingReplicas?: number } | undefined,
  old: ReplicaCounts | undefined,
  features: Features,
): void {
  if (gateEnabled('DeploymentReplicaSetTerminatingReplicas', features) || isSet(old?.terminatingReplicas)) return
  delete status?.terminatingReplicas
}

/** Counts must not be negative, nor exceed the number of replicas. */
export function validateReplicaStatus(status: ReplicaCounts, at: FieldPath): void {
  const { replicas = 0, fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  validateNotNegative(replicas, at.child('replicas'))
  validateNotNegative(fullyLabeledReplicas, at.child('fullyLabeledReplicas'))
  validateNotNegative(readyReplicas, at.child('readyReplicas'))
  validateNotNegative(availableReplicas, at.child('availableReplicas'))
  validateNotNegative(status.observedGeneration, at.child('observedGeneration'))
  validateNotNegative(status.terminatingReplicas, at.child('terminatingReplicas'))
  const tooMany = 'cannot be greater than status.replicas'
  if (fullyLabeledReplicas > replicas) at.child('fullyLabeledReplicas').invalid(fullyLabeledReplicas, tooMany)
  if (readyReplicas > replicas) at.child('readyReplicas').invalid(readyReplicas, tooMany)
  if (availableReplicas > replicas) at.child('availableReplicas').invalid(availableReplicas, tooMany)
  if (availableReplicas > readyReplicas)
    at.child('availableReplicas').invalid(availableReplicas, 'cannot be greater than readyReplicas')
}
