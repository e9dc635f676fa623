import { type NameRule, nameRules } from '@krmkit/meta'
import { ClusterTrustBundlePart } from '../../../handles/parts/certificates-v1beta1.generated.ts'
import type { Strategy } from '../../../interfaces.ts'
import { genericStrategy, specText } from '../../generic/strategy.ts'
import { lazyModule } from '../../shared/lazy-module.ts'

/** The rules with the decoder of certificates. */
const lazyRules = /* @__PURE__ */ lazyModule('the rules of trust bundles', () => import('./validation.ts'))

export const clusterTrustBundleStrategy: Strategy = /* @__PURE__ */ trustBundleStrategy(lazyRules)

/** @param rules present for a handle, loaded by `ready` in a server */
export function trustBundleStrategy(rules: typeof lazyRules): Strategy {
  return genericStrategy({
    part: ClusterTrustBundlePart,
    namespaced: false,
    name: (bundle) => trustBundleName(specText(bundle, 'signerName')),
    ready: rules.load,
    validate: (bundle, old, errors) => rules.loaded().validateTrustBundle(bundle, old, errors),
    selectableFields: { 'spec.signerName': (bundle) => specText(bundle, 'signerName') },
  })
}

/** Names of bundles start with their signer: `example.com/signer` has `example.com:signer:a`. */
function trustBundleName(signer: string): NameRule {
  const prefix = `${signer.replaceAll('/', ':')}:`
  return (name, isPrefix) => {
    if (signer === '' && name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name']
    if (signer === '') return nameRules.dns1123Subdomain(name, isPrefix)
    if (!name.startsWith(prefix)) {
      return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
    }
    return nameRules.dns1123Subdomain(name.slice(prefix.length), isPrefix)
  }
}
