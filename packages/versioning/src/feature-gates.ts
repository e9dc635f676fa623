import { createFeatures } from '@krmkit/meta'
import type { FeatureGateLifecycle, FeatureGateStage, FeatureGateState, FeatureGates } from './interfaces.ts'
import { compareReleases } from './release.ts'
import { VersioningError } from './versioning-error.ts'

/**
 * Feature gates and their stages:
 *
 *     alpha (off) --> beta (on) --> stable (on, locked) --> removed
 *                 \-> deprecated (off, warns) -----------> removed
 *
 * @see API protocol specification, 9.3
 */

/** Switches for all gates of a stage; settings of single gates take precedence. */
const stageSwitches: ReadonlyMap<string, FeatureGateStage['stage']> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
])

/** The spellings that Go's `strconv.ParseBool` accepts. */
const boolSpellings: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/**
 * Parses the value of `--feature-gates`, such as `A=true,B=false`. The last setting of a gate wins.
 *
 * @throws VersioningError `InvalidFeatureGates`
 * @example
 * import { parseFeatureGates } from '@krmkit/versioning'
 * [...parseFeatureGates('Widgets=true,Gadgets=false')] // [ [ 'Widgets', true ], [ 'Gadgets', false ] ]
 */
export function parseFeatureGates(text: string): ReadonlyMap<string, boolean> {
  const set = new Map<string, boolean>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    const name = (at < 0 ? pair : pair.slice(0, at)).trim()
    const given = at < 0 ? undefined : pair.slice(at + 1).trim()
    if (given === undefined || name === '')
      throw new VersioningError({ code: 'InvalidFeatureGates', message: `missing bool value for ${name}` })
    const value = boolSpellings.get(given)
    if (value === undefined)
      throw new VersioningError({
        code: 'InvalidFeatureGates',
        message: `invalid value of ${name}=${given}: it is neither true nor false`,
      })
    set.set(name, value)
  }
  return set
}

export interface FeatureGateOptions {
  /** The release to emulate, such as `1.33`. */
  readonly release: string
  readonly gates: readonly FeatureGateLifecycle[]
  /** Gates to set: the value of `--feature-gates`, or values by name. */
  readonly set?: string | ReadonlyMap<string, boolean>
}

/**
 * Creates the features of a release with some gates set.
 *
 * @throws VersioningError `UnknownGate` for a gate that does not exist in the release, `LockedGate` for the other value of a locked
 * gate, `InvalidFeatureGates`, `InvalidRelease`, `InvalidLifecycle`.
 * @example
 * import { createFeatureGates, type FeatureGateLifecycle } from '@krmkit/versioning'
 * const gates: FeatureGateLifecycle[] = [{ name: 'Widgets', stages: [{ since: '1.31', stage: 'alpha' }] }]
 * createFeatureGates({ release: '1.33', gates }).enabled('Widgets') // false
 * createFeatureGates({ release: '1.33', gates, set: 'Widgets=true' }).enabled('Widgets') // true
 */
export function createFeatureGates({ release, gates, set = '' }: FeatureGateOptions): FeatureGates {
  const settings = typeof set === 'string' ? parseFeatureGates(set) : set
  const present = new Map(gates.flatMap((lifecycle) => stateAt(lifecycle, release)).map((state) => [state.name, state]))
  const warnings: string[] = []
  for (const [name, stage] of stageSwitches) {
    const enabled = settings.get(name)
    if (enabled === undefined) continue
    for (const state of present.values()) if (state.stage === stage) present.set(state.name, { ...state, enabled })
  }
  for (const [name, enabled] of settings) {
    if (stageSwitches.has(name)) continue
    const state = present.get(name)
    if (state === undefined) throw new VersioningError({ code: 'UnknownGate', message: `unrecognized feature gate: ${name}` })
    if (state.locked && enabled !== state.enabled)
      throw new VersioningError({
        code: 'LockedGate',
        message: `cannot set feature gate ${name} to ${enabled}, feature is locked to ${state.enabled}`,
      })
    if (state.locked)
      warnings.push(`feature gate ${name} is stable: setting it has no effect, and it will be removed in a later release`)
    if (state.stage === 'deprecated') warnings.push(`feature gate ${name} is deprecated and will be removed in a later release`)
    present.set(name, { ...state, enabled })
  }
  const states = [...present.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const { release: of, enabled } = createFeatures(release, Object.fromEntries(states.map((state) => [state.name, state.enabled])))
  return Object.freeze({ release: of, enabled, gates: Object.freeze(states), warnings: Object.freeze(warnings) })
}

/** The state of a gate in a release; empty before its first stage. */
function stateAt({ name, stages }: FeatureGateLifecycle, release: string): FeatureGateState[] {
  let current: FeatureGateStage | undefined
  let last: FeatureGateStage | undefined
  for (const stage of stages) {
    if (last !== undefined && compareReleases(last.since, stage.since) >= 0)
      throw new VersioningError({
        code: 'InvalidLifecycle',
        message: `${name}: ${stage.since} does not come after ${last.since}`,
      })
    last = stage
    if (compareReleases(stage.since, release) <= 0) current = stage
  }
  if (current === undefined) return []
  const { stage, enabled = stage === 'beta' || stage === 'stable' } = current
  return [{ name, stage, enabled, locked: stage === 'stable' }]
}
