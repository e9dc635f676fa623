import type { KindPolicy } from '../../interfaces.ts'
import { validatingAdmissionPolicyBindingPolicy, validatingAdmissionPolicyPolicy } from './validating-admission-policy.ts'
import { mutatingWebhookConfigurationPolicy, validatingWebhookConfigurationPolicy } from './webhooks.ts'

/** Policies of the group, by `group/Kind`. */
export const admissionRegistrationPolicies: Readonly<Record<string, KindPolicy>> = {
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingWebhookConfigurationPolicy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyPolicy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validatingAdmissionPolicyBindingPolicy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingWebhookConfigurationPolicy,
}
