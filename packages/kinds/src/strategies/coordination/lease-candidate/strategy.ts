/** LeaseCandidate. */
import { validateConfigMapKey } from '@krmkit/meta/names'
import type { LeaseCandidate } from '../../../types/coordination-v1alpha2.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'

/** Few servers have the kind. */
const rules = /* @__PURE__ */ lazyModule('the rules of lease candidates', () => import('./validation.ts'))

export const leaseCandidateStrategy = defineStrategy<LeaseCandidate>({
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  ready: rules.load,
  validate: creationRules(function* (errors, candidate) {
    yield* validateMetadata(candidate, errors, {
      namespaced: true,
      name: (name) => validateConfigMapKey(name),
      bareFinalizers: true,
    })
    rules.loaded().validateSpec(candidate, errors)
  }),
  validateUpdate: updateRules(function* (errors, candidate, old) {
    yield* validateMetadataUpdate(candidate, old, errors, { bareFinalizers: true })
    rules.loaded().validateSpec(candidate, errors)
    const { leaseName = '' } = candidate.spec ?? {}
    if (leaseName !== (old.spec?.leaseName ?? ''))
      errors.child('spec').child('leaseName').invalid(leaseName, 'field is immutable')
  }),
})
