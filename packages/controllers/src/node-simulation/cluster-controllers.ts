import { builtInControllers } from '../built-in.ts'
import { resolveAlias } from '../controller-aliases.ts'
import type { Controller } from '../interfaces.ts'
import type { NodeSimulation } from './simulation.ts'

/** Controllers that `*` does not enable and that workloads do not need. */
const unneeded: ReadonlySet<string> = new Set([
  'bootstrap-signer-controller',
  'kube-apiserver-serving-clustertrustbundle-publisher-controller',
  'storage-version-migrator-controller',
  'token-cleaner-controller',
])

/** The controllers of a simulated cluster. */
export interface ClusterControllers {
  readonly available: readonly Controller[]
  /** Names for `runControllers`. */
  readonly names: readonly string[]
}

/**
 * Returns the controllers of a cluster with simulated nodes: those that `requested` selects, all workload controllers that it does not
 * exclude, the scheduler and the nodes.
 *
 * @example
 * import { clusterControllers, NodeSimulation } from '@krmkit/controllers'
 * const { available, names } = clusterControllers(new NodeSimulation({ nodes: 3 }), ['*', '-cronjob-controller'])
 */
export function clusterControllers({ controller }: NodeSimulation, requested: readonly string[] = ['*']): ClusterControllers {
  const optional = builtInControllers.filter(({ name, isDefault }) => isDefault === false && !unneeded.has(name))
  const added = [...optional.map(({ name }) => name), controller.name]
  const excluded = requested.map(resolveAlias)
  const names = added.filter((name) => !excluded.includes(`-${name}`))
  return { available: [...builtInControllers, controller], names: [...requested, ...names] }
}
