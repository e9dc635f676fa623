import type { Strategy } from '../../../interfaces.ts'
import type { ClusterTrustBundle } from '../../../types/certificates-v1beta1.generated.ts'
import { lazyModule } from '../../shared/lazy-module.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { trustBundleName } from '../../shared/trust-bundle-name.ts'

/** The rules with the decoder of certificates. */
const lazyRules = /* @__PURE__ */ lazyModule('the rules of trust bundles', () => import('./validation.ts'))

export const clusterTrustBundleStrategy: Strategy = /* @__PURE__ */ trustBundleStrategy(lazyRules)

/** @param rules present for a handle, loaded by `ready` in a server */
export function trustBundleStrategy(rules: typeof lazyRules): Strategy {
  return defineStrategy<ClusterTrustBundle>({
    allowUnconditionalUpdate: false,
    ready: rules.load,
    validate: creationRules(function* (errors, bundle) {
      yield* validateMetadata(bundle, errors, { namespaced: false, name: trustBundleName(bundle.spec?.signerName ?? '') })
      yield* rules.loaded().validateTrustBundle(bundle.spec, errors.child('spec'))
    }),
    validateUpdate: updateRules(function* (errors, bundle, old) {
      const { signerName = '' } = bundle.spec ?? {}
      const at = errors.child('spec')
      yield* validateMetadata(bundle, errors, { namespaced: false, name: trustBundleName(signerName) })
      yield* rules.loaded().validateTrustBundle(bundle.spec, at, old.spec)
      yield* validateMetadataUpdate(bundle, old, errors)
      if (signerName !== (old.spec?.signerName ?? '')) at.child('signerName').invalid(signerName, 'field is immutable')
    }),
    selectableFields: { 'spec.signerName': ({ spec }) => spec?.signerName ?? '' },
  })
}
