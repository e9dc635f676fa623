import { featureGateFacts } from './data/feature-gates.generated.ts'
import type { FeatureGateLifecycle, FeatureGateStage } from './interfaces.ts'

/** The feature gates of the stock server, with the stages of every release that its newest version still records. */

const stages: Readonly<Record<string, FeatureGateStage['stage']>> = { a: 'alpha', b: 'beta', s: 'stable', d: 'deprecated' }

/** Gates that may only be enabled together with others. */
const prerequisites: ReadonlyMap<string, readonly string[]> = new Map([
  ['AuthorizeNodeWithSelectors', ['AuthorizeWithSelectors']],
])

let parsed: readonly FeatureGateLifecycle[] | undefined

/**
 * The feature gates of the stock server, sorted by name. Gates whose last release is before 1.33 are not included.
 *
 * @example
 * import { builtInFeatureGates } from '@krmkit/versioning'
 * builtInFeatureGates().find(({ name }) => name === 'JobManagedBy')?.stages.at(-1)
 * // { since: '1.32', stage: 'beta', enabled: true, locked: false }
 */
export function builtInFeatureGates(): readonly FeatureGateLifecycle[] {
  parsed ??= Object.freeze(featureGateFacts.trim().split('\n').map(lifecycleOf))
  return parsed
}

function lifecycleOf(line: string): FeatureGateLifecycle {
  const [name = '', ...entries] = line.split(' ')
  const requires = prerequisites.get(name)
  return { name, stages: entries.map(stageOf), ...(requires === undefined ? {} : { requires }) }
}

function stageOf(entry: string): FeatureGateStage {
  const [, since = '', letter = '', value, lock] = /^([\d.]+)([abds])([+-])(!?)$/.exec(entry) ?? []
  return { since, stage: stages[letter] ?? 'alpha', enabled: value === '+', locked: lock === '!' }
}
