/** ResourceClaim. */
import type { DeepReadonly } from '@krmkit/meta'
import type { ResourceClaim } from '../../../types/resource-v1beta1.generated.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { keepMembers, resetStatusMetadata, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationSteps, defineStrategy, updateSteps } from '../../shared/strategy.ts'
import { validateAdminRequests, validateAdminResults } from '../admin-access.ts'
import { claimSpecGates } from '../claim-gates.ts'
import { claimEmpties, claimSpecReady, defaultClaimSpec, isSameClaimSpec, validateClaimSpec } from '../claim-spec.ts'
import { goClaimSpec } from '../go-form.ts'
import { selectorChecks } from '../selectors.ts'
import { dropDeallocated, validateClaimStatus } from './status.ts'

type Claim = DeepReadonly<ResourceClaim>

const table: readonly GatedFields[] = [
  ...claimSpecGates('spec'),
  { gate: 'DRAResourceClaimDeviceStatus', paths: ['status.devices'] },
]

const resultsOf = ({ status }: Claim) => status?.allocation?.devices?.results

export const resourceClaimStrategy = /* @__PURE__ */ defineStrategy<ResourceClaim>({
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
  ready: ({ spec }) => claimSpecReady(spec),
  validate: creationSteps(function* (errors, claim: Claim, context) {
    validateAdminRequests(claim, claim.spec, errors)
    yield* validateMetadata(claim, errors, { namespaced: true })
    yield* validateClaimSpec(claim.spec, errors.child('spec'), selectorChecks(context, false))
  }),
  validateUpdate: updateSteps(function* (errors, claim: Claim, old, context) {
    const at = errors.child('spec')
    yield* validateMetadata(claim, errors, { namespaced: true })
    yield* validateClaimSpec(claim.spec, at, selectorChecks(context, false))
    yield* validateMetadataUpdate(claim, old, errors)
    if (!(yield* isSameClaimSpec(claim.spec, old.spec))) {
      at.invalid(goClaimSpec(claim.spec), 'field is immutable')
    }
    yield* validateClaimSpec(claim.spec, at, selectorChecks(context, true))
  }),
  subresources: {
    status: {
      *prepareForUpdate(claim, old, { features }) {
        yield* keepMembers(claim, old, 'spec')
        yield* resetStatusMetadata(claim, old)
        dropDeallocated(claim, old, features)
        dropGatedFields(claim, old, { table, features })
      },
      validateUpdate: updateSteps(function* (errors, claim: Claim, old) {
        const results = errors.child('status').child('allocation').child('devices').child('results')
        validateAdminResults(claim, resultsOf(claim), resultsOf(old), results)
        yield* validateMetadataUpdate(claim, old, errors)
        yield* validateClaimStatus(claim, old, errors.child('status'))
      }),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
  deleteAnswer: 'Object',
})
