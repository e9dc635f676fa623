import type { HealthCheck } from './health.ts'

/**
 * Stages of a start by the names under which monitors and kubeadm ask for them. The work behind each of these is done, or needs
 * none, before the first request is answered: that there is an answer is the check.
 */
const stages = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'storage-object-count-tracker-hook',
  'storage-readiness',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'start-cluster-authentication-info-controller',
  'start-service-ip-repair-controllers',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
] as const

const aggregationStages = [
  'start-kube-aggregator-informers',
  'apiservice-registration-controller',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
] as const

/** Checks of the stages that a server has gone through; those of aggregation when it has it. */
export function stageChecks(parts: { readonly aggregation: boolean }): readonly HealthCheck[] {
  const hooks = parts.aggregation ? [...stages, ...aggregationStages] : stages
  const names = hooks.map((hook) => `poststarthook/${hook}`)
  if (parts.aggregation) names.push('autoregister-completion')
  return names.map((name) => ({ name, check: () => {} }))
}
