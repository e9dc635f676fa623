/** Members of resource claims and their templates behind feature gates, in the storage version. */
import type { GatedFields } from '../shared/gated-fields.ts'

/** @param at path of the specification of the claim. */
export function claimSpecGates(at: string): readonly GatedFields[] {
  const requests = `${at}.devices.requests.*`
  return [
    { gate: 'DRAPrioritizedList', paths: [`${requests}.firstAvailable`] },
    { gate: 'DRAAdminAccess', paths: [`${requests}.adminAccess`, 'status.allocation.devices.results.*.adminAccess'] },
  ]
}
