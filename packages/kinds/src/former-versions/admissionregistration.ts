import type { FormerKind } from './interfaces.ts'
import { defaults, type Step } from './shape.ts'

/** Webhook configurations: `v1beta1` implies other values than `v1` for members that are not set. */
const webhooks: readonly Step[] = [
  defaults(
    'webhooks[]',
    {
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      sideEffects: 'Unknown',
      timeoutSeconds: 30,
      admissionReviewVersions: ['v1beta1'],
    },
    { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 },
  ),
]

const group = 'admissionregistration.k8s.io'

export const admissionregistration: readonly FormerKind[] = [
  { group, kind: 'MutatingWebhookConfiguration', hub: 'v1', versions: { v1beta1: webhooks } },
  { group, kind: 'ValidatingWebhookConfiguration', hub: 'v1', versions: { v1beta1: webhooks } },
  { group, kind: 'MutatingAdmissionPolicy', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group, kind: 'MutatingAdmissionPolicyBinding', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group, kind: 'ValidatingAdmissionPolicy', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
  { group, kind: 'ValidatingAdmissionPolicyBinding', hub: 'v1', versions: { v1alpha1: [], v1beta1: [] } },
]
