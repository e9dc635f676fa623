import { createFeatures, defaultRelease } from '@krmkit/meta'
import {
  builtInFeatureGates,
  type FeatureGateDependency,
  type FeatureGateLifecycle,
  type FeatureGateStage,
} from '@krmkit/meta/feature-gates'
import type { FeatureGateState, FeatureGates } from './interfaces.ts'
import { compareReleases } from './release.ts'
import { VersioningError, type VersioningErrorCode } from './versioning-error.ts'

/**
 * Feature gates and their stages:
 *
 *     alpha (off) --> beta (on) --> stable (on, locked) --> removed
 *                 \-> deprecated (off, warns) -----------> removed
 *
 * @see API protocol specification, 9.3
 */

/** Switches for all gates of a stage; settings of single gates take precedence. */
const stageSwitches: readonly FeatureGateState[] = [
  { name: 'AllAlpha', stage: 'alpha', enabled: false, default: false, locked: false },
  { name: 'AllBeta', stage: 'beta', enabled: false, default: false, locked: false },
]

/** The default component of gates. */
const kube = 'kube'

/** The spellings that Go's `strconv.ParseBool` accepts. */
const boolSpellings: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/**
 * Parses the value of `--feature-gates`, such as `A=true,B=false` or `kube:A=true`. The last setting of a gate applies.
 *
 * @throws VersioningError `InvalidFeatureGates`, also when only some of the settings name a component; `UnknownComponent`
 *   for gates of a component other than `kube`.
 * @example
 * import { parseFeatureGates } from '@krmkit/versioning'
 * [...parseFeatureGates('Widgets=true,Gadgets=false')] // [ [ 'Widgets', true ], [ 'Gadgets', false ] ]
 */
export function parseFeatureGates(text: string): ReadonlyMap<string, boolean> {
  const set = new Map<string, boolean>()
  for (const pair of withoutComponent(text.split(',').filter((each) => each !== ''))) {
    const at = pair.indexOf('=')
    const name = (at < 0 ? pair : pair.slice(0, at)).trim()
    if (at < 0) throw new VersioningError({ code: 'InvalidFeatureGates', message: `missing bool value for ${name}` })
    const given = pair.slice(at + 1).trim()
    const value = boolSpellings.get(given)
    if (value === undefined) {
      const cause = `strconv.ParseBool: parsing ${JSON.stringify(given)}: invalid syntax`
      throw new VersioningError({ code: 'InvalidFeatureGates', message: `invalid value of ${name}=${given}, err: ${cause}` })
    }
    set.set(name, value)
  }
  return set
}

/** Removes the component before each setting. */
function withoutComponent(pairs: readonly string[]): string[] {
  const parts = pairs.map((pair) => {
    const at = pair.indexOf(':')
    return at < 0
      ? { component: '', setting: pair.trim() }
      : { component: pair.slice(0, at).trim(), setting: pair.slice(at + 1).trim() }
  })
  const components = new Set(parts.map(({ component }) => component))
  for (const component of components) {
    if (component !== '' && component !== kube)
      throw new VersioningError({ code: 'UnknownComponent', message: `component not registered: ${component}` })
  }
  if (components.size > 1) {
    const message = 'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use'
    throw new VersioningError({ code: 'InvalidFeatureGates', message })
  }
  return parts.map(({ setting }) => setting)
}

export interface FeatureGateOptions {
  /** The release to emulate, such as `1.32`. Default: the newest. */
  readonly release?: string
  /** The known gates. Default: those of kube-apiserver. */
  readonly gates?: readonly FeatureGateLifecycle[]
  /** Gates to set: the value of `--feature-gates`, or values by name. */
  readonly set?: string | ReadonlyMap<string, boolean> | Readonly<Record<string, boolean>>
}

/**
 * Creates the features of a release with some gates set. Errors and warnings have the text of kube-apiserver.
 *
 * @throws VersioningError `UnknownGate` for a gate that does not exist in the release, `LockedGate` for a changed value of a
 *   locked gate, `MissingPrerequisite` when a gate is enabled without a gate that it requires, `InvalidFeatureGates`,
 *   `UnknownComponent`, `InvalidRelease`, `InvalidLifecycle`.
 * @example
 * import { createFeatureGates, type FeatureGateLifecycle } from '@krmkit/versioning'
 * createFeatureGates().enabled('HPAScaleToZero') // false
 * createFeatureGates({ set: 'HPAScaleToZero=true' }).enabled('HPAScaleToZero') // true
 * createFeatureGates({ release: '1.31' }).enabled('JobManagedBy') // false
 * const gates: FeatureGateLifecycle[] = [{ name: 'Widgets', stages: [{ since: '1.31', stage: 'alpha' }] }]
 * createFeatureGates({ gates, set: 'Widgets=true' }).enabled('Widgets') // true
 */
export function createFeatureGates(options: FeatureGateOptions = {}): FeatureGates {
  const { release = defaultRelease, gates = builtInFeatureGates(), set = '' } = options
  const lifecycles = new Map(gates.map((lifecycle) => [lifecycle.name, lifecycle]))
  const present = new Map<string, FeatureGateState>(stageSwitches.map((state) => [state.name, state]))
  // The behaviour of a gate that a release no longer has is settled: it is that of the last default.
  const settled = new Map<string, boolean>()
  for (const lifecycle of gates) {
    for (const state of stateAt(lifecycle, release)) {
      if (isRemoved(lifecycle, release)) settled.set(state.name, state.enabled)
      else present.set(state.name, state)
    }
  }
  const settings = settingsOf(set)
  const configured = new Set(settings.keys())
  for (const { name, stage } of stageSwitches) {
    const enabled = settings.get(name)
    if (enabled === undefined) continue
    for (const state of present.values()) {
      if (state.stage !== stage || stageSwitches.some((each) => each.name === state.name)) continue
      present.set(state.name, { ...state, enabled })
      configured.add(state.name)
    }
  }
  const errors: Failure[] = []
  const warnings: string[] = []
  for (const [name, enabled] of settings) {
    const state = present.get(name)
    const failure = refusal(name, { enabled, state, known: isKnown(lifecycles.get(name), release), release })
    if (failure !== undefined) errors.push(failure)
    if (failure !== undefined || state === undefined) continue
    const stage = state.stage === 'stable' ? 'GA' : state.stage
    if (stage === 'GA' || stage === 'deprecated')
      warnings.push(`Setting ${stage} feature gate ${name}=${enabled}. It will be removed in a future release.`)
    present.set(name, { ...state, enabled })
  }
  if (errors.length === 0) errors.push(...missingPrerequisites(present, { gates, release }))
  raise(errors)
  const states = [...present.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  // Gates of later releases are off, regardless of the default that a caller passes.
  const later = [...lifecycles.keys()].map((name) => [name, false] as const)
  const values = Object.fromEntries([...later, ...settled, ...states.map((state) => [state.name, state.enabled] as const)])
  const { release: of, enabled } = createFeatures(release, values)
  return Object.freeze({ release: of, enabled, gates: Object.freeze(states), configured, warnings: Object.freeze(warnings) })
}

function settingsOf(set: NonNullable<FeatureGateOptions['set']>): ReadonlyMap<string, boolean> {
  if (typeof set === 'string') return parseFeatureGates(set)
  return set instanceof Map ? set : new Map(Object.entries(set as Readonly<Record<string, boolean>>))
}

interface Failure {
  readonly code: VersioningErrorCode
  readonly message: string
}

function refusal(
  name: string,
  given: { enabled: boolean; state: FeatureGateState | undefined; known: boolean; release: string },
): Failure | undefined {
  const { enabled, state, known, release } = given
  const attempt = `cannot set feature gate ${name} to ${enabled}`
  if (state === undefined && !known) return { code: 'UnknownGate', message: `unrecognized feature gate: ${name}` }
  if (state === undefined)
    return { code: 'UnknownGate', message: `${attempt}, feature is PreAlpha at emulated version ${release}` }
  if (state.locked && enabled !== state.default)
    return { code: 'LockedGate', message: `${attempt}, feature is locked to ${state.default}` }
  return undefined
}

interface PrerequisiteOptions {
  readonly gates: readonly FeatureGateLifecycle[]
  readonly release: string
}

function missingPrerequisites(
  present: ReadonlyMap<string, FeatureGateState>,
  { gates, release }: PrerequisiteOptions,
): Failure[] {
  const on = (name: string) => present.get(name)?.enabled === true
  return gates
    .filter(({ name }) => on(name))
    .flatMap(({ name, requires = [] }) => {
      const missing = requires.flatMap((each) => requiredName(each, release)).filter((required) => !on(required))
      return missing.length === 0 ? [] : prerequisiteTexts(name, { missing, release })
    })
    .map((message): Failure => ({ code: 'MissingPrerequisite', message }))
}

/** The name of a required gate; empty in releases without the dependency. */
function requiredName(required: string | FeatureGateDependency, release: string): string[] {
  if (typeof required === 'string') return [required]
  const { name, since, removed } = required
  const isPast = removed !== undefined && compareReleases(removed, release) <= 0
  return compareReleases(since, release) <= 0 && !isPast ? [name] : []
}

/** Gates state their dependencies since 1.35; earlier releases validate each one by itself. */
function prerequisiteTexts(name: string, { missing, release }: { missing: readonly string[]; release: string }): string[] {
  return compareReleases(release, '1.35') < 0
    ? missing.map((required) => `${name} feature requires ${required} feature to be enabled`)
    : [`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`]
}

/** Throws one error for all failures. */
function raise(failures: readonly Failure[]): void {
  const [first] = failures
  if (first === undefined) return
  const messages = [...new Set(failures.map(({ message }) => message))]
  throw new VersioningError({ code: first.code, message: messages.length > 1 ? `[${messages.join(', ')}]` : first.message })
}

function isRemoved({ removed }: FeatureGateLifecycle, release: string): boolean {
  return removed !== undefined && compareReleases(removed, release) <= 0
}

/** Whether a server that emulates a release has a gate, perhaps as one of a later release: that of the default knows none of those. */
function isKnown(lifecycle: FeatureGateLifecycle | undefined, release: string): boolean {
  const first = lifecycle?.stages[0]
  if (lifecycle === undefined || first === undefined || isRemoved(lifecycle, release)) return false
  const newest = compareReleases(release, defaultRelease) < 0 ? defaultRelease : release
  return compareReleases(first.since, newest) <= 0
}

/** Returns the state of a gate in a release; empty before its first stage. */
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
  const { stage, enabled = stage === 'beta' || stage === 'stable', locked = stage === 'stable' } = current
  return [{ name, stage, enabled, default: enabled, locked }]
}
