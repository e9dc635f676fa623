import type { HealthCheck } from './health.ts'

/**
 * Start-up hooks by the names that monitors and kubeadm query. Their work is complete before the server serves its first request, so
 * the checks always pass.
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

/** Checks of the start-up hooks, those of aggregation included when it is enabled. */
export function stageChecks(parts: { readonly aggregation: boolean }): readonly HealthCheck[] {
  const hooks = parts.aggregation ? [...stages, ...aggregationStages] : stages
  const names = hooks.map((hook) => `poststarthook/${hook}`)
  if (parts.aggregation) names.push('autoregister-completion')
  return names.map((name) => ({ name, check: () => {} }))
}
