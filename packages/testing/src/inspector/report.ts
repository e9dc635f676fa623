import { redactQuery } from '@krmkit/apiserver/request-info'
import type { FrozenObject, RequestTrace } from '@krmkit/apiserver/request-trace'
import { formatAuthorization, formatRequest, formatValue } from '../explanation.ts'
import type { Ledger, LedgerEntry, LedgerRun, WatchRecord } from '../ledger.ts'
import { isSecret, redactedMark } from './redacted-secrets.ts'
import { describeWrite, type ReportedVersion } from './reported-version.ts'
import { charactersOf, shortened, shortenedList } from './short-texts.ts'

/** The data of the inspector page: texts only, ready to be shown. */
export interface InspectorReport {
  /** Number of older requests omitted because of the size limit. */
  readonly omitted: number
  readonly requests: readonly ReportedRequest[]
  readonly runs: readonly ReportedRun[]
  readonly objects: readonly ReportedObject[]
}

export interface ReportedRequest {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly what: string
  /** Path with query. */
  readonly target: string
  readonly kind: 'read' | 'write' | 'watch'
  readonly user: string
  readonly isController: boolean
  readonly code: number
  /** One line for each step of the decision. */
  readonly steps: readonly string[]
  /** Indexes of the written objects. */
  readonly objects: readonly number[]
}

/** One run of a controller. */
export interface ReportedRun {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** Index of the first request after its end. */
  readonly before: number
  readonly controller: string
  readonly key: string
  readonly isController: boolean
  readonly isFailed: boolean
  readonly steps: readonly string[]
}

export interface ReportedObject {
  readonly title: string
  readonly versions: readonly ReportedVersion[]
  /** Titles of the owners of the last version. */
  readonly owners: readonly string[]
}

interface ObjectHistory {
  readonly title: string
  readonly versions: ReportedVersion[]
  owners: readonly string[]
}

/** Maximum characters of all requests and object versions. */
const maxPageCharacters = 16 * 1024 * 1024
/** Maximum characters of controller runs. */
const maxRunCharacters = 2 * 1024 * 1024

/** A request with its writes. */
interface Collected {
  readonly request: ReportedRequest
  readonly writes: readonly { readonly object: FrozenObject; readonly version: Omit<ReportedVersion, 'request'> }[]
}

/**
 * Collects the data of the page within its size limit: the newest requests with their writes. Yields `true` after each
 * request, so that it can pause.
 */
export function* buildReport({ entries, runs, dropped }: ReportSource): Generator<true, InspectorReport> {
  const newestFirst: Collected[] = []
  let left = maxPageCharacters
  for (let at = entries.length - 1; at >= 0 && left > 0; at--) {
    const collected = yield* collect(entries[at]!)
    left -= charactersOf(collected.request) + collected.writes.reduce((sum, { version }) => sum + charactersOf(version), 0)
    newestFirst.push(collected)
    yield true
  }
  const omitted = entries.length - newestFirst.length
  const { requests, objects } = joined(newestFirst.toReversed())
  return { omitted, requests, runs: newestRuns(runs, dropped + omitted), objects }
}

type ReportSource = Pick<Ledger, 'entries' | 'runs' | 'dropped'>

function* collect(entry: LedgerEntry): Generator<true, Collected> {
  const writes: { object: FrozenObject; version: Omit<ReportedVersion, 'request'> }[] = []
  for (const { before, after, manager } of entry.trace?.writes ?? []) {
    const object = after ?? before
    if (object === undefined || after === before) continue
    writes.push({ object, version: yield* describeWrite(before, after, manager) })
    yield true
  }
  return { request: reportedRequest(entry), writes }
}

/** Assigns indexes to requests and objects. */
function joined(collected: readonly Collected[]): Pick<InspectorReport, 'requests' | 'objects'> {
  const objects: ObjectHistory[] = []
  const indexes = new Map<string, number>()
  const requests = collected.map(({ request, writes }, at): ReportedRequest => {
    const written = new Set<number>()
    for (const { object, version } of writes) {
      const key = object.metadata.uid ?? titleOf(object)
      const index = indexes.get(key) ?? objects.push({ title: titleOf(object), versions: [], owners: [] }) - 1
      indexes.set(key, index)
      written.add(index)
      const history = objects[index]!
      history.owners = ownersOf(object)
      history.versions.push({ request: at, ...version })
    }
    return { ...request, objects: [...written] }
  })
  return { requests, objects }
}

function newestRuns(runs: readonly LedgerRun[], dropped: number): ReportedRun[] {
  const newestFirst: ReportedRun[] = []
  let left = maxRunCharacters
  for (let at = runs.length - 1; at >= 0 && left > 0; at--) {
    const run = reportedRun(runs[at]!, dropped)
    left -= charactersOf(run)
    newestFirst.push(run)
  }
  return newestFirst.toReversed()
}

function titleOf({ kind, metadata: { namespace, name = '' } }: FrozenObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

function ownersOf({ metadata: { namespace, ownerReferences = [] } }: FrozenObject): string[] {
  return shortenedList(
    ownerReferences.map(({ kind, name }) => `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`),
  )
}

function reportedRequest(entry: LedgerEntry): ReportedRequest {
  const { atMs, path, query, method, verb, user, isController, code } = entry
  const kind = verb === 'watch' ? 'watch' : method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  const target = shortened(`${method} ${path}${query === '' ? '' : `?${redactQuery(query)}`}`)
  const texts = { what: shortened(formatRequest(entry)), target, user: shortened(user), steps: shortenedList(stepsOf(entry)) }
  return { atMs, ...texts, kind, isController, code, objects: [] }
}

function reportedRun(run: LedgerRun, dropped: number): ReportedRun {
  const { controller, key, isController, endMs, startMs, outcome, requeueAfterMs, error, durationMs, requestsBefore } = run
  const result =
    outcome === 'failed' ? `failed: ${messageOf(error)}` : outcome === 'requeued' ? `runs again in ${requeueAfterMs} ms` : 'done'
  const steps = [shortened(result), `${durationMs.toFixed(2)} ms, ${endMs - startMs} ms on the clock of the server`]
  const before = Math.max(0, requestsBefore - dropped)
  return { atMs: endMs, before, controller, key, isController, isFailed: outcome === 'failed', steps }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function stepsOf(entry: LedgerEntry): string[] {
  return [...decisionsOf(entry), ...(entry.watch === undefined ? [] : [formatWatch(entry, entry.watch)])]
}

function formatWatch({ atMs }: LedgerEntry, { events, endedAtMs }: WatchRecord): string {
  const end = endedAtMs === undefined ? 'still open' : `ended after ${endedAtMs - atMs} ms`
  return `${events} ${events === 1 ? 'event' : 'events'} delivered, ${end}`
}

function decisionsOf(entry: LedgerEntry): string[] {
  const { trace, durationMs = 0, requestBytes = 0, responseBytes } = entry
  if (trace === undefined) return ['the trace of this request is not kept']
  const { authentication, impersonated, writes } = trace
  const valueText = isSecretRequest(entry) ? () => redactedMark : formatValue
  const sizes = `${durationMs.toFixed(2)} ms, ${requestBytes} bytes received, ${responseBytes ?? 'a stream of'} bytes sent`
  return [
    authentication === undefined
      ? 'authentication failed'
      : `authenticated ${authentication.user.username} by ${authentication.method}`,
    ...(impersonated === undefined ? [] : [`impersonates ${impersonated.username}`]),
    formatAuthorization(trace),
    ...(trace.conversion === undefined ? [] : [formatConversion(trace.conversion)]),
    ...[...writes.flatMap(({ decisions }) => decisions), ...trace.decisions].flatMap(
      ({ plugin, phase, outcome, message, reasons, changes }) => [
        `${phase} plugin ${plugin}: ${outcome}${message === undefined ? '' : `: ${message}`}`,
        ...reasons.map((reason) => `  ${reason}`),
        ...changes.map(({ op, path, before, after }) => `  ${op} ${path}: ${valueText(before)} -> ${valueText(after)}`),
      ],
    ),
    ...writes.map(({ before, after, attempts }) => {
      const what =
        after === undefined ? 'removed' : before === undefined ? 'created' : before === after ? 'left unchanged' : 'changed'
      const object = after ?? before
      return `${what} ${object === undefined ? 'an object' : titleOf(object)}${attempts > 1 ? ` in attempt ${attempts}` : ''}`
    }),
    sizes,
  ]
}

function isSecretRequest({ group, resource, trace }: LedgerEntry): boolean {
  return (group === '' && resource === 'secrets') || trace?.writes.some(({ before, after }) => isSecret(after ?? before)) === true
}

function formatConversion({ requested, stored, by }: NonNullable<RequestTrace['conversion']>): string {
  return `converted between ${requested} and ${stored}, the storage version${by === 'webhook' ? ', by webhook' : ''}`
}
