import { createFeatures } from '@krmkit/meta'
import type { FeatureGates, GateLife, GateStage, GateState } from './interfaces.ts'
import { compareReleases } from './release.ts'
import { VersioningError } from './versioning-error.ts'

/**
 * Feature gates and their life:
 *
 *     alpha (off) --> beta (on) --> stable (on, locked: the gate does nothing any more) --> gone
 *                 \-> deprecated (off, warns) ------------------------------------------> gone
 *
 * @see API protocol specification, 9.3
 */

/** Switches of all gates of a stage, weaker than the gates' own. */
const stagesAtOnce: ReadonlyMap<string, GateStage['stage']> = new Map([
  ['AllAlpha', 'alpha'],
  ['AllBeta', 'beta'],
])

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/**
 * Reads the text of `--feature-gates`: `A=true,B=false`. A gate that is named twice is set as it is named last.
 *
 * @throws VersioningError `InvalidFeatureGates`
 */
export function parseFeatureGates(text: string): ReadonlyMap<string, boolean> {
  const set = new Map<string, boolean>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    const name = (at < 0 ? pair : pair.slice(0, at)).trim()
    const given = at < 0 ? undefined : pair.slice(at + 1).trim()
    if (given === undefined || name === '') throw new VersioningError('InvalidFeatureGates', `missing bool value for ${name}`)
    const value = truths.get(given)
    if (value === undefined)
      throw new VersioningError('InvalidFeatureGates', `invalid value of ${name}=${given}: it is neither true nor false`)
    set.set(name, value)
  }
  return set
}

export interface FeatureGateOptions {
  /** Whose features these are, which may be an older one than the software's: `1.33`. */
  readonly release: string
  readonly gates: readonly GateLife[]
  /** What is set, as text of `--feature-gates` or by name. */
  readonly set?: string | ReadonlyMap<string, boolean>
}

/**
 * The features of a release with some gates set.
 *
 * @throws VersioningError `UnknownGate` for a gate that the release does not have, `LockedGate` for one that cannot be set so,
 * `InvalidFeatureGates`, `InvalidRelease`, `InvalidLife`.
 */
export function createFeatureGates({ release, gates, set = '' }: FeatureGateOptions): FeatureGates {
  const asked = typeof set === 'string' ? parseFeatureGates(set) : set
  const present = new Map(gates.flatMap((life) => stateAt(life, release)).map((state) => [state.name, state]))
  const warnings: string[] = []
  for (const [name, stage] of stagesAtOnce) {
    const enabled = asked.get(name)
    if (enabled === undefined) continue
    for (const state of present.values()) if (state.stage === stage) present.set(state.name, { ...state, enabled })
  }
  for (const [name, enabled] of asked) {
    if (stagesAtOnce.has(name)) continue
    const state = present.get(name)
    if (state === undefined) throw new VersioningError('UnknownGate', `unrecognized feature gate: ${name}`)
    if (state.locked && enabled !== state.enabled)
      throw new VersioningError(
        'LockedGate',
        `cannot set feature gate ${name} to ${enabled}, feature is locked to ${state.enabled}`,
      )
    if (state.locked) warnings.push(`feature gate ${name} is stable: setting it does nothing, and it goes in a later release`)
    if (state.stage === 'deprecated') warnings.push(`feature gate ${name} is deprecated and goes in a later release`)
    present.set(name, { ...state, enabled })
  }
  const states = [...present.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const { release: of, enabled } = createFeatures(release, Object.fromEntries(states.map((state) => [state.name, state.enabled])))
  return Object.freeze({ release: of, enabled, gates: Object.freeze(states), warnings: Object.freeze(warnings) })
}

/** The gate as the release has it; nothing before its first stage. */
function stateAt({ name, stages }: GateLife, release: string): GateState[] {
  let current: GateStage | undefined
  let last: GateStage | undefined
  for (const stage of stages) {
    if (last !== undefined && compareReleases(last.since, stage.since) >= 0)
      throw new VersioningError('InvalidLife', `${name}: ${stage.since} does not come after ${last.since}`)
    last = stage
    if (compareReleases(stage.since, release) <= 0) current = stage
  }
  if (current === undefined) return []
  const { stage, enabled = stage === 'beta' || stage === 'stable' } = current
  return [{ name, stage, enabled, locked: stage === 'stable' }]
}
