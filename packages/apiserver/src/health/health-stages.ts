import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { HealthCheck } from './health.ts'

/**
 * The checks of kube-apiserver after `ping`, `log` and the storage, in its order, by the names that monitors and kubeadm query. The work of
 * these start-up hooks is complete before the server serves its first request, so the checks always pass.
 */
const stages: readonly Stage[] = [
  hook('start-apiserver-admission-initializer'),
  hook('generic-apiserver-start-informers'),
  hook('priority-and-fairness-config-consumer', 'flowControl'),
  hook('priority-and-fairness-filter', 'flowControl'),
  hook('storage-object-count-tracker-hook'),
  hook('start-apiextensions-informers'),
  hook('start-apiextensions-controllers'),
  hook('crd-informer-synced'),
  hook('start-system-namespaces-controller'),
  gatedHook('start-kube-apiserver-coordinated-leader-election-controller', ['CoordinatedLeaderElection']),
  gatedHook('peer-endpoint-reconciler-controller', ['UnknownVersionInteroperabilityProxy']),
  hook('start-cluster-authentication-info-controller'),
  hook('start-kube-apiserver-identity-lease-controller'),
  hook('start-kube-apiserver-identity-lease-garbage-collector'),
  gatedHook('storage-readiness', ['WatchCacheInitializationPostStartHook']),
  hook('start-legacy-token-tracking-controller'),
  hook('start-service-ip-repair-controllers'),
  hook('rbac/bootstrap-roles', 'roles'),
  hook('scheduling/bootstrap-system-priority-classes'),
  hook('priority-and-fairness-config-producer', 'flowControl'),
  hook('bootstrap-controller'),
  gatedHook('start-kubernetes-service-cidr-controller', ['MultiCIDRServiceAllocator']),
  hook('start-kube-aggregator-informers', 'aggregation'),
  { ...hook('apiservice-status-available-controller', 'aggregation'), until: '1.31' },
  { ...hook('apiservice-status-local-available-controller', 'aggregation'), since: '1.31' },
  { ...hook('apiservice-status-remote-available-controller', 'aggregation'), since: '1.31' },
  hook('apiservice-registration-controller', 'aggregation'),
  hook('apiservice-discovery-controller', 'aggregation'),
  gatedHook('built-in-resources-storage-version-updater', ['StorageVersionAPI', 'APIServerIdentity'], 'aggregation'),
  hook('kube-apiserver-autoregistration', 'aggregation'),
  { name: 'autoregister-completion', part: 'aggregation' },
  hook('apiservice-openapi-controller', 'aggregation'),
  hook('apiservice-openapiv3-controller', 'aggregation'),
]

/** Optional parts of a server. */
type Part = 'aggregation' | 'flowControl' | 'roles'

interface Stage {
  readonly name: string
  /** The stage exists only with this part. */
  readonly part?: Part | undefined
  /** The stage exists only with these feature gates enabled. */
  readonly gates?: readonly string[]
  /** The first release with the stage, and the first release without it. */
  readonly since?: string
  readonly until?: string
}

function hook(name: string, part?: Part): Stage {
  return { name: `poststarthook/${name}`, part }
}

function gatedHook(name: string, gates: readonly string[], part?: Part): Stage {
  return { ...hook(name, part), gates }
}

/**
 * Checks of the start-up hooks of a server with these optional parts.
 *
 * @param started checks of hooks that finish after start; each replaces the stage of the same name
 */
export function stageChecks(
  parts: Readonly<Record<Part, boolean>>,
  started: readonly HealthCheck[],
  features: Features,
): readonly HealthCheck[] {
  const { release } = features
  return stages
    .filter(({ part, gates = [] }) => (part === undefined || parts[part]) && gates.every((gate) => gateEnabled(gate, features)))
    .filter(
      ({ since, until }) => (since === undefined || release.atLeast(since)) && !(until !== undefined && release.atLeast(until)),
    )
    .map(({ name }) => started.find((each) => each.name === name) ?? { name, check: () => {} })
}
