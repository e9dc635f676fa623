import type { Strategy } from '../../interfaces.ts'
import { validatingAdmissionPolicyBindingStrategy, validatingAdmissionPolicyStrategy } from './validating-admission-policy.ts'
import { mutatingWebhookConfigurationStrategy, validatingWebhookConfigurationStrategy } from './webhooks.ts'

/** Policies of the group, by `group/Kind`. */
export const admissionRegistrationStrategies: Readonly<Record<string, Strategy>> = {
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': mutatingWebhookConfigurationStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': validatingAdmissionPolicyStrategy,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': validatingAdmissionPolicyBindingStrategy,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': validatingWebhookConfigurationStrategy,
}
