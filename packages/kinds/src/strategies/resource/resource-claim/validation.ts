/** Rules of claims. */
import type { DeepReadonly } from '@krmkit/meta'
import type { ResourceClaim } from '../../../types/resource-v1beta1.generated.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, updateRules } from '../../shared/strategy.ts'
import { validateAdminRequests, validateAdminResults } from '../admin-access.ts'
import { isSameClaimSpec, validateClaimSpec } from '../claim-spec.ts'
import { goClaimSpec } from '../go-form.ts'
import { SelectorChecks } from '../selectors.ts'
import { validateClaimStatus } from './status.ts'

type Claim = DeepReadonly<ResourceClaim>

export const validate = /* @__PURE__ */ creationRules(function* (errors, claim: Claim, context) {
  validateAdminRequests(claim, claim.spec, errors)
  yield* validateMetadata(claim, errors, { namespaced: true })
  yield* validateClaimSpec(claim.spec, errors.child('spec'), new SelectorChecks(context, false))
})

/** kube-apiserver validates an update as a creation first. */
export const validateUpdate = /* @__PURE__ */ updateRules(function* (errors, claim: Claim, old, context) {
  const at = errors.child('spec')
  // kube-apiserver before 1.35 validates the claim twice on update.
  if (!context.features.release.atLeast('1.35')) {
    yield* validateMetadata(claim, errors, { namespaced: true })
    yield* validateClaimSpec(claim.spec, at, new SelectorChecks(context, false))
  }
  yield* validateMetadataUpdate(claim, old, errors)
  if (!(yield* isSameClaimSpec(claim.spec, old.spec))) at.invalid(goClaimSpec(claim.spec), 'field is immutable')
  // Since 1.35 a specification, which cannot change, is not validated again.
  if (!context.features.release.atLeast('1.35')) yield* validateClaimSpec(claim.spec, at, new SelectorChecks(context, true))
})

const resultsOf = ({ status }: Claim) => status?.allocation?.devices?.results

export const validateStatusUpdate = /* @__PURE__ */ updateRules(function* (errors, claim: Claim, old: Claim) {
  const at = errors.child('status')
  const results = at.child('allocation').child('devices').child('results')
  validateAdminResults(claim, resultsOf(claim), resultsOf(old), results)
  yield* validateMetadataUpdate(claim, old, errors)
  yield* validateClaimStatus(claim, old, at)
})
