import { MutatingAdmissionPolicyBindingPart } from '../../handles/parts/admissionregistration-v1alpha1.generated.ts'
import { genericStrategy } from '../generic/strategy.ts'

export const mutatingAdmissionPolicyBindingStrategy = /* @__PURE__ */ genericStrategy({
  part: MutatingAdmissionPolicyBindingPart,
  namespaced: false,
  generation: true,
})
