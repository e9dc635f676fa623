/** Claims that a stateful set makes for each of its pods. */
import type { PersistentVolumeClaim } from '../../../types/core-v1.generated.ts'
import { roundUp } from '../../shared/pod-defaults.ts'
import { warnAmounts } from '../../shared/pod-warnings.ts'
import { isEmpty, type R } from '../../shared/values.ts'

/** A template is a whole claim, and is defaulted as one. */
export function defaultClaimTemplate(claim: PersistentVolumeClaim): void {
  claim.apiVersion = 'v1'
  claim.kind = 'PersistentVolumeClaim'
  claim.spec ??= {}
  claim.spec.volumeMode ??= 'Filesystem'
  roundUp(claim.spec.resources?.limits)
  roundUp(claim.spec.resources?.requests)
  claim.status ??= {}
  if (isEmpty(claim.status.phase)) claim.status.phase = 'Pending'
}

/** Adds what is to be said of the amounts that the claim asks for. */
export function warnClaimTemplate(texts: string[], claim: R<PersistentVolumeClaim>, path: string): void {
  warnAmounts(texts, claim.spec?.resources?.requests, `${path}.spec.resources.requests`)
  warnAmounts(texts, claim.spec?.resources?.limits, `${path}.spec.resources.limits`)
}
