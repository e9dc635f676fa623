import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { DeprecatableElement, ReleaseCalendar, Stability } from '../interfaces.ts'
import { VersioningError } from '../versioning-error.ts'
import type { ApiSurface, SurfaceElement } from './interfaces.ts'

/** Surfaces of elements other than API versions: lists of commands, behavior, gates and metrics, and the metrics that a server exposes. */

const elementNames: Readonly<Record<DeprecatableElement, true>> = {
  userCommand: true,
  adminCommand: true,
  behavior: true,
  graduatedGate: true,
  abandonedGate: true,
  metric: true,
}
const stabilities: Readonly<Record<Stability, true>> = { alpha: true, beta: true, stable: true }

/** Whether a parsed document is a list of elements. {@link surfaceOfElements} has an example. */
export function isElementList(document: unknown): boolean {
  return isJsonObject(document) && document['kind'] === 'ElementList'
}

/**
 * Returns the elements of a list: an object of kind `ElementList` with `elements`, each with `name`, `element`, `stability`,
 * and optionally `introduced`, `deprecated` and `warns`. The list may have a `release`.
 *
 * @throws VersioningError `InvalidLifecycle` for other members and values.
 * @example
 * import { surfaceOfElements } from '@krmkit/versioning/surface'
 * const flag = { name: '--insecure-port', element: 'adminCommand', stability: 'stable', deprecated: '1.20' }
 * surfaceOfElements({ kind: 'ElementList', elements: [flag] }, 'flags.yaml').elements // [ { name: '--insecure-port', ... } ]
 */
export function surfaceOfElements(document: unknown, name: string): ApiSurface {
  const { elements, release } = isJsonObject(document) ? document : {}
  if (!isElementList(document) || !Array.isArray(elements)) throw invalid(`${name}: a list of elements has the member elements`)
  return {
    name,
    kinds: [],
    elements: elements.map((element, i) => elementOf(element, `${name}: elements[${i}]`)),
    ...(release === undefined ? {} : { release: releaseText(release, `${name}: release`) }),
  }
}

function elementOf(value: JsonValue | undefined, at: string): SurfaceElement {
  if (!isJsonObject(value)) throw invalid(`${at} must be an object`)
  const { name, element, stability, introduced, deprecated, warns, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`${at}: unknown member ${JSON.stringify(unknown)}`)
  if (typeof name !== 'string' || name === '') throw invalid(`${at}.name must be a text`)
  if (warns !== undefined && typeof warns !== 'boolean') throw invalid(`${at}.warns must be true or false`)
  return {
    name,
    element: oneOf(element, elementNames, `${at}.element`),
    stability: oneOf(stability, stabilities, `${at}.stability`),
    ...(introduced === undefined ? {} : { introduced: releaseText(introduced, `${at}.introduced`) }),
    ...(deprecated === undefined ? {} : { deprecated: releaseText(deprecated, `${at}.deprecated`) }),
    ...(warns === undefined ? {} : { warns }),
  }
}

function oneOf<T extends string>(value: unknown, allowed: Readonly<Record<T, true>>, at: string): T {
  if (typeof value === 'string' && Object.hasOwn(allowed, value)) return value as T
  throw invalid(`${at} must be one of ${Object.keys(allowed).join(', ')}`)
}

/** Requires a string, because YAML parses an unquoted `1.30` as the number 1.3. */
function releaseText(value: unknown, at: string): string {
  const found = typeof value === 'string' ? /^v?(\d{1,4}\.\d{1,4})(?:\.|$)/.exec(value)?.[1] : undefined
  if (found === undefined) throw invalid(`${at} must be a quoted release, such as "1.33"`)
  return found
}

const metricStages: Readonly<Record<string, Stability>> = { ALPHA: 'alpha', BETA: 'beta', STABLE: 'stable' }
const gateStages: Readonly<Record<string, Stability>> = { ALPHA: 'alpha', BETA: 'beta', '': 'stable', DEPRECATED: 'beta' }

/**
 * Returns the elements in the metrics of a Kubernetes component, given in the text format: metrics with the stability in
 * their help text, and the feature gates in `kubernetes_feature_enabled`.
 *
 * @example
 * import { surfaceOfMetrics } from '@krmkit/versioning/surface'
 * const text = '# HELP requests_total [STABLE] (Deprecated since 1.30.0) Number of requests.\n'
 * surfaceOfMetrics(text, 'metrics.txt').elements // [ { name: 'requests_total', element: 'metric', stability: 'stable', deprecated: '1.30' } ]
 */
export function surfaceOfMetrics(text: string, name: string): ApiSurface {
  const metrics = [...text.matchAll(/^# HELP (\S+) \[(ALPHA|BETA|STABLE)\] ?(?:\(Deprecated since v?(\d+\.\d+)[^)]*\))?/gm)].map(
    ([, metric = '', stage = '', since]): SurfaceElement => ({
      name: metric,
      element: 'metric',
      stability: metricStages[stage] ?? 'alpha',
      ...(since === undefined ? {} : { deprecated: since }),
    }),
  )
  const gates = [...text.matchAll(/^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\}/gm)].map(
    ([, gate = '', stage = '']): SurfaceElement => ({
      name: gate,
      element: stage === 'DEPRECATED' ? 'abandonedGate' : 'graduatedGate',
      stability: gateStages[stage] ?? 'alpha',
    }),
  )
  return { name, kinds: [], elements: [...metrics, ...gates] }
}

/**
 * Parses a calendar: an object with a date such as `2024-08-13` for each release.
 *
 * @throws VersioningError `InvalidLifecycle`
 * @example
 * import { parseCalendar } from '@krmkit/versioning/surface'
 * parseCalendar({ '1.31': '2024-08-13' }) // { '1.31': '2024-08-13' }
 */
export function parseCalendar(value: unknown): ReleaseCalendar {
  if (!isJsonObject(value)) throw invalid('a calendar is an object with a date for each release')
  const days = Object.entries(value).map(([release, day]): [string, string] => {
    if (typeof day === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)))
      return [releaseText(release, `calendar: ${JSON.stringify(release)}`), day]
    throw invalid(`calendar: ${release} must have a date such as "2024-08-13"`)
  })
  return Object.fromEntries(days)
}

function invalid(message: string): VersioningError {
  return new VersioningError({ code: 'InvalidLifecycle', message })
}
