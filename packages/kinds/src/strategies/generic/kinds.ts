import { type NameRule, nameRules } from '@krmkit/meta'
import {
  MutatingAdmissionPolicyBindingPart,
  MutatingAdmissionPolicyPart,
} from '../../handles/parts/admissionregistration-v1alpha1.generated.ts'
import { StorageVersionPart } from '../../handles/parts/apiserverinternal-v1alpha1.generated.ts'
import { ClusterTrustBundlePart } from '../../handles/parts/certificates-v1beta1.generated.ts'
import { LeaseCandidatePart } from '../../handles/parts/coordination-v1alpha2.generated.ts'
import { DeviceTaintRulePart } from '../../handles/parts/resource-v1alpha3.generated.ts'
import {
  DeviceClassPart,
  ResourceClaimPart,
  ResourceClaimTemplatePart,
  ResourceSlicePart,
} from '../../handles/parts/resource-v1beta1.generated.ts'
import { StorageVersionMigrationPart } from '../../handles/parts/storagemigration-v1alpha1.generated.ts'
import { textAt, validateTrustBundle } from '../certificates/cluster-trust-bundle/validation.ts'
import { genericStrategy } from './strategy.ts'

/** Kinds without rules beyond their type, mostly of alpha and beta versions that are off by default. */

export const clusterTrustBundleStrategy = /* @__PURE__ */ genericStrategy({
  part: ClusterTrustBundlePart,
  namespaced: false,
  name: (bundle) => trustBundleName(textAt(bundle, 'signerName')),
  validate: validateTrustBundle,
  selectableFields: { 'spec.signerName': (bundle) => textAt(bundle, 'signerName') },
})
export const mutatingAdmissionPolicyStrategy = /* @__PURE__ */ genericStrategy({
  part: MutatingAdmissionPolicyPart,
  namespaced: false,
  generation: true,
})
export const mutatingAdmissionPolicyBindingStrategy = /* @__PURE__ */ genericStrategy({
  part: MutatingAdmissionPolicyBindingPart,
  namespaced: false,
  generation: true,
})
export const leaseCandidateStrategy = /* @__PURE__ */ genericStrategy({ part: LeaseCandidatePart, namespaced: true })
export const storageVersionStrategy = /* @__PURE__ */ genericStrategy({
  part: StorageVersionPart,
  namespaced: false,
  status: true,
})
export const storageVersionMigrationStrategy = /* @__PURE__ */ genericStrategy({
  part: StorageVersionMigrationPart,
  namespaced: false,
  status: true,
})
export const deviceClassStrategy = /* @__PURE__ */ genericStrategy({ part: DeviceClassPart, namespaced: false, generation: true })
export const deviceTaintRuleStrategy = /* @__PURE__ */ genericStrategy({
  part: DeviceTaintRulePart,
  namespaced: false,
  generation: true,
})
export const resourceClaimStrategy = /* @__PURE__ */ genericStrategy({ part: ResourceClaimPart, namespaced: true, status: true })
export const resourceClaimTemplateStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceClaimTemplatePart,
  namespaced: true,
})
export const resourceSliceStrategy = /* @__PURE__ */ genericStrategy({
  part: ResourceSlicePart,
  namespaced: false,
  generation: true,
  selectableFields: {
    'spec.nodeName': (slice) => textAt(slice, 'nodeName'),
    'spec.driver': (slice) => textAt(slice, 'driver'),
  },
})

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
