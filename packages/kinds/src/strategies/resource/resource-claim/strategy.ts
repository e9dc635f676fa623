/** ResourceClaim. */
import type { ResourceClaim } from '../../../types/resource-v1beta1.generated.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { keepMembers, resetStatusMetadata } from '../../shared/metadata.ts'
import { claimEmpties, claimSpecGates, defaultClaimSpec } from '../claim-parts.ts'
import { deviceStrategy } from '../device-strategy.ts'
import { dropDeallocated } from './allocated.ts'

const table: readonly GatedFields[] = [
  .../* @__PURE__ */ claimSpecGates('spec'),
  { gate: 'DRAResourceClaimDeviceStatus', paths: ['status.devices'] },
]

const lazyRules = /* @__PURE__ */ lazyModule('the rules of resource claims', () => import('./validation.ts'))

export const resourceClaimStrategy = /* @__PURE__ */ deviceStrategy<ResourceClaim>(lazyRules, {
  distinctEmpties: claimEmpties('spec'),
  defaults: (claim, version) => defaultClaimSpec(claim.spec, version),
  prepareForCreate(claim, { features }) {
    claim.status = {}
    dropGatedFields(claim, undefined, { table, features })
  },
  *prepareForUpdate(claim, old, { features }) {
    yield* keepMembers(claim, old, 'status')
    dropGatedFields(claim, old, { table, features })
  },
  subresources: {
    status: {
      *prepareForUpdate(claim, old, { features }) {
        yield* keepMembers(claim, old, 'spec')
        yield* resetStatusMetadata(claim, old)
        dropDeallocated(claim, old, features)
        dropGatedFields(claim, old, { table, features })
      },
      validateUpdate: (claim, old, context) => lazyRules.loaded().validateStatusUpdate(claim, old, context),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
