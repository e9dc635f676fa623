import { MutatingAdmissionPolicyPart } from '../../../handles/parts/admissionregistration-v1alpha1.generated.ts'
import { genericStrategy } from '../../generic/strategy.ts'

export const mutatingAdmissionPolicyStrategy = /* @__PURE__ */ genericStrategy({
  part: MutatingAdmissionPolicyPart,
  namespaced: false,
  generation: true,
})
