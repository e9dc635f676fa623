import type { AdmissionDecision, FrozenObject, TracedWrite } from '@krmkit/apiserver/request-trace'
import { equalValues } from '@krmkit/fieldmanager/value'
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { parseYaml } from '@krmkit/schema'
import { locate, mentions, overlaps, type PathStep } from './field-path.ts'
import { invalidOption } from './known-members.ts'
import type { LedgerEntry } from './ledger.ts'
import { shown } from './option-kinds.ts'

/**
 * The step of a request that set a field.
 *
 * - `body`: the object in the request, or the body of a subresource such as `scale`
 * - `patch`: the patch in the request
 * - `apply`: the applied configuration
 * - `default`: a default for a field that the request omits
 * - `admission`: a mutating admission plugin, webhook or policy
 * - `server`: the server itself, such as `metadata.generation`, or a field that a request cannot change
 * - `deletion`: the object was marked as terminating, or removed
 * - `unrecorded`: a seed, a write of the server itself, or a request whose trace is not kept
 */
export type FieldStep = 'body' | 'patch' | 'apply' | 'default' | 'admission' | 'server' | 'deletion' | 'unrecorded'

/** A change of a field by one write. */
export interface FieldChange {
  /** The previous value; `undefined` if the field was absent. */
  readonly before: unknown
  /** The new value; `undefined` if the field is absent. */
  readonly after: unknown
  readonly step: FieldStep
  /** The plugin of step `admission`. */
  readonly plugin?: string
  /** The webhook of step `admission`, with its configuration: `inject.example.com of sidecars`. */
  readonly webhook?: string
  /** Field manager of the request. */
  readonly manager?: string
  /** Absent for step `unrecorded`. */
  readonly request?: LedgerEntry
  readonly write?: TracedWrite
}

/** The object whose history is requested; without `uid`, all objects with the name. */
export interface ObjectReference {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly metadata: {
    readonly name?: string | undefined
    readonly namespace?: string | undefined
    readonly uid?: string | undefined
  }
}

/** @throws TestingError `InvalidOption` for a reference that names no object */
export function checkReference(what: string, reference: ObjectReference): void {
  const { name, uid } = Object(Object(reference).metadata) as ObjectReference['metadata']
  if (name === undefined && uid === undefined)
    throw invalidOption(`${what} needs an object with metadata.name or metadata.uid, not ${shown(reference)}`)
}

/** A write of an object, with its request. */
export interface RecordedWrite {
  readonly entry: LedgerEntry
  readonly write: TracedWrite
}

/** The recorded writes of an object, oldest first. */
export function writesOf(entries: readonly LedgerEntry[], reference: ObjectReference): RecordedWrite[] {
  const found: RecordedWrite[] = []
  for (const entry of entries) {
    for (const write of entry.trace?.writes ?? []) {
      if (refersTo(reference, write.after ?? write.before)) found.push({ entry, write })
    }
  }
  return found
}

function refersTo({ apiVersion, kind, metadata }: ObjectReference, object: FrozenObject | undefined): boolean {
  if (object === undefined) return false
  const { uid, name, namespace } = metadata
  if (uid !== undefined) return uid === object.metadata.uid
  if (kind !== undefined && kind !== object.kind) return false
  if (apiVersion !== undefined && groupOf(apiVersion) !== groupOf(object.apiVersion)) return false
  const own = object.metadata.namespace
  return name === object.metadata.name && (namespace === own || (namespace === undefined && own === 'default'))
}

function groupOf(apiVersion = ''): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}

/** The changes of a field by writes of its object, oldest first. */
export function fieldChanges(writes: readonly RecordedWrite[], path: readonly PathStep[]): FieldChange[] {
  const changes: FieldChange[] = []
  let last: unknown
  let uid: string | undefined
  for (const { entry, write } of writes) {
    const { before, after } = write
    const known = (before ?? after)?.metadata.uid === uid ? last : undefined
    const old = locate(before, path).value
    const next = locate(after, path).value
    if (!equal(known, old)) changes.push({ before: known, after: old, step: 'unrecorded' })
    if (!equal(old, next)) changes.push({ before: old, after: next, ...causeOf({ entry, write }, path), request: entry, write })
    last = next
    uid = (after ?? before)?.metadata.uid
  }
  return changes
}

/** Compares JSON values; `undefined` is an absent one. */
function equal(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && equalValues(a as JsonValue, b as JsonValue))
}

type Cause = Pick<FieldChange, 'step' | 'plugin' | 'webhook' | 'manager'>

function causeOf({ entry, write }: RecordedWrite, path: readonly PathStep[]): Cause {
  const { requested, after, decisions } = write
  if (requested === undefined || after === undefined) return { step: 'deletion' }
  const manager = write.manager === '' ? {} : { manager: write.manager }
  const { value, pointer } = locate(after, path)
  if (equal(locate(requested, path).value, value)) return { step: requestStep(entry, path), ...manager }
  const decision = decisions.findLast(
    ({ phase, changes }) => phase === 'mutating' && changes.some((change) => overlaps(change.path, pointer)),
  )
  if (decision === undefined) return { step: 'server', ...manager }
  const webhook = webhookOf(decision, pointer)
  return { step: 'admission', plugin: decision.plugin, ...(webhook === undefined ? {} : { webhook }), ...manager }
}

/** The last webhook whose patch changes a field, from the audit annotations of its plugin. */
function webhookOf({ annotations }: AdmissionDecision, pointer: string): string | undefined {
  let found: string | undefined
  for (const [key, text] of Object.entries(annotations)) {
    if (!key.startsWith('patch.webhook.')) continue
    const { configuration, webhook, patch } = JSON.parse(text) as Record<string, unknown>
    if (patchTouches(patch, pointer)) found = `${String(webhook)} of ${String(configuration)}`
  }
  return found
}

function patchTouches(patch: unknown, pointer: string): boolean {
  const operations: readonly unknown[] = Array.isArray(patch) ? patch : []
  return operations.some(
    (operation) => isJsonObject(operation) && overlaps(String(operation['path']).replace(/\/-$/, ''), pointer),
  )
}

function requestStep(entry: LedgerEntry, path: readonly PathStep[]): FieldStep {
  const { body, verb, subresource } = entry
  const contentType = body?.contentType ?? ''
  const isApply = contentType.startsWith('application/apply-patch')
  const sent = isApply ? 'apply' : verb === 'patch' ? 'patch' : 'body'
  // Bodies of other subresources are of another kind, with different fields.
  if (body === undefined || (subresource !== '' && subresource !== 'status')) return sent
  const content = contentOf(contentType, body.bytes)
  if (content === undefined) return sent
  const isSent = contentType.startsWith('application/json-patch')
    ? patchTouches(content, locate(undefined, path).pointer) || path.some((step) => typeof step !== 'string')
    : mentions(content, path)
  return isSent ? sent : 'default'
}

/** Parses a body in JSON or YAML; `undefined` for other encodings. */
function contentOf(contentType: string, bytes: Uint8Array): unknown {
  return /json|yaml/.test(contentType) ? parseYaml(bytes).value : undefined
}
