import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { ResourceClaim } from '../../../types/resource-v1beta1.generated.ts'

export const resourceClaimPrinter: Printer<ResourceClaim> = /* @__PURE__ */ agedPrinter(
  [column('State', 'string', 'Whether the claim is pending, allocated, reserved or deleted.')],
  (claim) => [claimState(claim)],
)

function claimState({ metadata, status }: DeepReadonly<ResourceClaim>): string {
  const deleted = metadata.deletionTimestamp !== undefined
  const allocated = status?.allocation !== undefined
  const states = [
    ...(deleted ? ['deleted'] : []),
    ...(allocated ? ['allocated'] : deleted ? [] : ['pending']),
    ...(allocated && status.reservedFor?.length ? ['reserved'] : []),
  ]
  return states.join(',')
}
