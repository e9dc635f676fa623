import { type NameRule, nameRules } from '@krmkit/meta'
import {
  MutatingAdmissionPolicyBindingPart,
  MutatingAdmissionPolicyPart,
} from '../../types/parts/admissionregistration-v1alpha1.generated.ts'
import { StorageVersionPart } from '../../types/parts/apiserverinternal-v1alpha1.generated.ts'
import { ClusterTrustBundlePart } from '../../types/parts/certificates-v1beta1.generated.ts'
import { LeaseCandidatePart } from '../../types/parts/coordination-v1alpha2.generated.ts'
import { DeviceTaintRulePart } from '../../types/parts/resource-v1alpha3.generated.ts'
import {
  DeviceClassPart,
  ResourceClaimPart,
  ResourceClaimTemplatePart,
  ResourceSlicePart,
} from '../../types/parts/resource-v1beta1.generated.ts'
import { StorageVersionMigrationPart } from '../../types/parts/storagemigration-v1alpha1.generated.ts'
import { checkTrustBundle, textAt } from '../certificates/trust-bundle.ts'
import { plainPolicy } from './plain-policy.ts'

/** Kinds that few clusters serve: alpha and beta versions that are off unless asked for. */

export const clusterTrustBundlePolicy = /* @__PURE__ */ plainPolicy({
  part: ClusterTrustBundlePart,
  namespaced: false,
  name: (bundle) => trustBundleName(textAt(bundle, 'signerName')),
  check: checkTrustBundle,
  selectableFields: { 'spec.signerName': (bundle) => textAt(bundle, 'signerName') },
})
export const mutatingAdmissionPolicyPolicy = /* @__PURE__ */ plainPolicy({
  part: MutatingAdmissionPolicyPart,
  namespaced: false,
  generation: true,
})
export const mutatingAdmissionPolicyBindingPolicy = /* @__PURE__ */ plainPolicy({
  part: MutatingAdmissionPolicyBindingPart,
  namespaced: false,
  generation: true,
})
export const leaseCandidatePolicy = /* @__PURE__ */ plainPolicy({ part: LeaseCandidatePart, namespaced: true })
export const storageVersionPolicy = /* @__PURE__ */ plainPolicy({ part: StorageVersionPart, namespaced: false, status: true })
export const storageVersionMigrationPolicy = /* @__PURE__ */ plainPolicy({
  part: StorageVersionMigrationPart,
  namespaced: false,
  status: true,
})
export const deviceClassPolicy = /* @__PURE__ */ plainPolicy({ part: DeviceClassPart, namespaced: false, generation: true })
export const deviceTaintRulePolicy = /* @__PURE__ */ plainPolicy({
  part: DeviceTaintRulePart,
  namespaced: false,
  generation: true,
})
export const resourceClaimPolicy = /* @__PURE__ */ plainPolicy({ part: ResourceClaimPart, namespaced: true, status: true })
export const resourceClaimTemplatePolicy = /* @__PURE__ */ plainPolicy({ part: ResourceClaimTemplatePart, namespaced: true })
export const resourceSlicePolicy = /* @__PURE__ */ plainPolicy({
  part: ResourceSlicePart,
  namespaced: false,
  generation: true,
  selectableFields: {
    'spec.nodeName': (slice) => textAt(slice, 'nodeName'),
    'spec.driver': (slice) => textAt(slice, 'driver'),
  },
})

/** Bundles of a signer are named after it: `example.com/signer` has `example.com:signer:a`. */
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
