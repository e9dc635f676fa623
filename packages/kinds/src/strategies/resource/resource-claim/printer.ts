import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { ResourceClaim } from '../../../types/resource-v1beta1.generated.ts'

export const resourceClaimPrinter: Printer<ResourceClaim> = {
  columns: [nameColumn, column('State', 'string', 'Whether the claim is pending, allocated, reserved or deleted.'), ageColumn],
  cells: (claim, { now }) => [claim.metadata.name ?? '', claimState(claim), since(claim.metadata.creationTimestamp, now)],
}

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
