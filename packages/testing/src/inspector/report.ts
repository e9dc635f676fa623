import type { FrozenObject, RequestTrace } from '@krmkit/apiserver/request-trace'
import { blameLines, diffObjects } from '@krmkit/fieldmanager'
import type { JsonObject } from '@krmkit/meta'
import { formatAuthorization, formatRequest, formatValue } from '../explanation.ts'
import type { Ledger, LedgerEntry, LedgerRun, WatchRecord } from '../ledger.ts'
import { ownershipChanges } from '../ownership-changes.ts'

/** The data of the inspector page: texts only, ready to be shown. */
export interface InspectorReport {
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

export interface ReportedVersion {
  /** Index of the request. */
  readonly request: number
  readonly manager: string
  /** One line for each changed field. */
  readonly changes: readonly string[]
  readonly ownership: readonly string[]
  /** Lines of YAML with their owners; empty after a removal. */
  readonly lines: readonly { readonly text: string; readonly owners: string; readonly isChanged: boolean }[]
}

interface ObjectHistory {
  readonly title: string
  readonly versions: ReportedVersion[]
  owners: readonly string[]
}

/** Collects the data of the page. */
export function createReport({ entries, runs, dropped }: Pick<Ledger, 'entries' | 'runs' | 'dropped'>): InspectorReport {
  const objects: ObjectHistory[] = []
  const indexes = new Map<string, number>()
  const requests = entries.map((entry, request): ReportedRequest => {
    const written = new Set<number>()
    for (const { before, after, manager } of entry.trace?.writes ?? []) {
      const object = after ?? before
      if (object === undefined || after === before) continue
      const key = object.metadata.uid ?? titleOf(object)
      const index = indexes.get(key) ?? objects.push({ title: titleOf(object), versions: [], owners: ownersOf(object) }) - 1
      indexes.set(key, index)
      written.add(index)
      const history = objects[index]!
      history.owners = ownersOf(object)
      history.versions.push(versionOf(before, after, { request, manager }))
    }
    return reportedRequest(entry, [...written])
  })
  return { requests, runs: runs.map((run) => reportedRun(run, dropped)), objects }
}

function titleOf({ kind, metadata: { namespace, name = '' } }: FrozenObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

function ownersOf({ metadata: { namespace, ownerReferences = [] } }: FrozenObject): string[] {
  return ownerReferences.map(({ kind, name }) => `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`)
}

function reportedRequest(entry: LedgerEntry, objects: readonly number[]): ReportedRequest {
  const { atMs, path, query, method, verb, user, isController, code } = entry
  const kind = verb === 'watch' ? 'watch' : method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  const target = `${method} ${path}${query === '' ? '' : `?${query}`}`
  return { atMs, what: formatRequest(entry), target, kind, user, isController, code, steps: stepsOf(entry), objects }
}

function reportedRun(run: LedgerRun, dropped: number): ReportedRun {
  const { controller, key, isController, endMs, startMs, outcome, requeueAfterMs, error, durationMs, requestsBefore } = run
  const result =
    outcome === 'failed' ? `failed: ${messageOf(error)}` : outcome === 'requeued' ? `runs again in ${requeueAfterMs} ms` : 'done'
  const steps = [result, `${durationMs.toFixed(2)} ms, ${endMs - startMs} ms on the clock of the server`]
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

function decisionsOf({ trace, durationMs = 0, requestBytes = 0, responseBytes }: LedgerEntry): string[] {
  if (trace === undefined) return ['the trace of this request is not kept']
  const { authentication, impersonated, writes } = trace
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
        ...changes.map(({ op, path, before, after }) => `  ${op} ${path}: ${formatValue(before)} -> ${formatValue(after)}`),
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

function formatConversion({ requested, stored, by }: NonNullable<RequestTrace['conversion']>): string {
  return `converted between ${requested} and ${stored}, the storage version${by === 'webhook' ? ', by webhook' : ''}`
}

function versionOf(
  before: FrozenObject | undefined,
  after: FrozenObject | undefined,
  { request, manager }: { readonly request: number; readonly manager: string },
): ReportedVersion {
  const differences = diffObjects(contentOf(before), contentOf(after))
  const changed = differences.map(({ field }) => field)
  const ownership = ownershipChanges(before, after).map(
    ({ manager: owner, operation, subresource, gained, lost }) =>
      `${owner} (${operation}${subresource === '' ? '' : ` ${subresource}`})${[
        ...gained.map((field) => ` +${field}`),
        ...lost.map((field) => ` -${field}`),
      ].join('')}`,
  )
  const lines = after === undefined ? [] : blameLines(after as unknown as JsonObject)
  return {
    request,
    manager,
    changes: differences.map(
      ({ kind, field, before: old, after: next }) => `${kind} ${field}: ${formatValue(old)} -> ${formatValue(next)}`,
    ),
    ownership,
    lines: lines.map(({ text, field, owners }) => ({
      text,
      owners: owners.map((owner) => owner.manager).join(', '),
      isChanged: changed.some((path) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`)),
    })),
  }
}

/** The object without managedFields and resourceVersion, which every write changes. */
function contentOf(object: FrozenObject | undefined): JsonObject {
  if (object === undefined) return {}
  const { managedFields: _, resourceVersion: __, ...metadata } = object.metadata
  return { ...object, metadata } as unknown as JsonObject
}
