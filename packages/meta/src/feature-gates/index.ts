import type { FeatureGateState, Features } from '../interfaces.ts'
import { featureGateFacts } from './facts.generated.ts'

/** The feature gates of kube-apiserver since 1.33, with the stages of every release that their last version records. */

/** The stage of a gate from a release on. */
export interface FeatureGateStage {
  readonly since: string
  readonly stage: FeatureGateState['stage']
  /** Default: false for alpha and deprecated gates, true otherwise. */
  readonly enabled?: boolean
  /** Whether only the default may be set. Default: true for stable gates, false otherwise. */
  readonly locked?: boolean
}

/** The stages of a feature gate, oldest first. */
export interface FeatureGateLifecycle {
  readonly name: string
  readonly stages: readonly FeatureGateStage[]
  /** First release without the gate. */
  readonly removed?: string
  /** Gates that must be enabled when this one is. */
  readonly requires?: readonly (string | FeatureGateDependency)[]
}

/** A gate that must be enabled in some releases. */
export interface FeatureGateDependency {
  readonly name: string
  /** First release with the dependency. */
  readonly since: string
  /** First release without the dependency. */
  readonly removed?: string
}

const stages: Readonly<Record<string, FeatureGateStage['stage']>> = { a: 'alpha', b: 'beta', s: 'stable', d: 'deprecated' }

/**
 * Gates that are on in every release that has them. Differs: kube-apiserver leaves `WatchList` off in 1.33 and before 1.32; streamed lists
 * cost this server less than others, so clients may always use them.
 */
const alwaysOn: ReadonlySet<string> = /* @__PURE__ */ new Set(['WatchList'])

let parsed: ReadonlyMap<string, FeatureGateLifecycle> | undefined
let listed: readonly FeatureGateLifecycle[] | undefined

function gatesByName(): ReadonlyMap<string, FeatureGateLifecycle> {
  parsed ??= new Map(
    featureGateFacts
      .trim()
      .split('\n')
      .map(lifecycleOf)
      .map((gate) => [gate.name, gate]),
  )
  return parsed
}

/**
 * The feature gates of kube-apiserver, sorted by name. Gates whose last release is before 1.33 are not included.
 *
 * @example
 * import { builtInFeatureGates } from '@krmkit/meta/feature-gates'
 * builtInFeatureGates().find(({ name }) => name === 'JobManagedBy')?.stages.at(-1)
 * // { since: '1.32', stage: 'beta', enabled: true, locked: false }
 */
export function builtInFeatureGates(): readonly FeatureGateLifecycle[] {
  listed ??= Object.freeze([...gatesByName().values()])
  return listed
}

/**
 * Whether a gate of kube-apiserver is enabled: as configured, otherwise by its default in the release of the features. Gates that the
 * kube-apiserver does not have are off unless they are configured.
 *
 * @example
 * import { createFeatures } from '@krmkit/meta'
 * import { gateEnabled } from '@krmkit/meta/feature-gates'
 * gateEnabled('JobManagedBy', createFeatures('1.31')) // false
 * gateEnabled('JobManagedBy', createFeatures('1.32')) // true
 * gateEnabled('JobManagedBy', createFeatures('1.32', { JobManagedBy: false })) // false
 */
export function gateEnabled(gate: string, features: Features): boolean {
  return features.enabled(gate, enabledByDefault(gate, features.release))
}

function enabledByDefault(gate: string, release: Features['release']): boolean {
  const lifecycle = gatesByName().get(gate)
  if (lifecycle === undefined) return false
  for (let at = lifecycle.stages.length - 1; at >= 0; at--) {
    const { since, enabled } = lifecycle.stages[at]!
    if (release.atLeast(since)) return enabled === true
  }
  return false
}

/**
 * The first release from which the default of a gate is on for good.
 *
 * @returns `never` for a gate that the newest release leaves off; undefined for a gate that kube-apiserver does not have.
 * @example
 * import { enabledSince } from '@krmkit/meta/feature-gates'
 * [enabledSince('JobManagedBy'), enabledSince('HPAScaleToZero')] // [ '1.32', 'never' ]
 */
export function enabledSince(gate: string): string | undefined {
  const lifecycle = gatesByName().get(gate)
  if (lifecycle === undefined) return undefined
  const at = lifecycle.stages.findLastIndex(({ enabled }) => enabled !== true) + 1
  return lifecycle.stages[at]?.since ?? 'never'
}

function lifecycleOf(line: string): FeatureGateLifecycle {
  const [name = '', ...entries] = line.split(' ')
  const isLast = (entry: string) => entry.startsWith('-')
  const removed = entries.find(isLast)?.slice(1)
  const isDependency = (entry: string) => entry.startsWith('>')
  const requires = entries.filter(isDependency).map(dependencyOf)
  const own = entries
    .filter((entry) => !isLast(entry) && !isDependency(entry))
    .map(stageOf)
    .map((stage) => (alwaysOn.has(name) ? { ...stage, enabled: true } : stage))
  return {
    name,
    stages: own,
    ...(removed === undefined ? {} : { removed }),
    ...(requires.length === 0 ? {} : { requires }),
  }
}

function stageOf(entry: string): FeatureGateStage {
  const [, since = '', letter = '', value, lock] = /^([\d.]+)([abds])([+-])(!?)$/.exec(entry) ?? []
  return { since, stage: stages[letter] ?? 'alpha', enabled: value === '+', locked: lock === '!' }
}

function dependencyOf(entry: string): FeatureGateDependency {
  const [, name = '', since = '', removed] = /^>(\w+)@([\d.]+)(?:-([\d.]+))?$/.exec(entry) ?? []
  return { name, since, ...(removed === undefined ? {} : { removed }) }
}
