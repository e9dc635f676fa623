import { parseJson } from '@krmkit/schema'
import { loadCbor } from '@krmkit/schema/cbor'
import { NumberLiteral } from '@krmkit/schema/json'
import { decodeProtobuf, decodeWatchEvent, encodeMessage, hasProtobufMagic, readEnvelope } from '@krmkit/schema/protobuf'
import { parseYaml } from '@krmkit/schema/yaml'
import { withoutOtherGroups } from './discovered-groups.ts'
import type { Answer, Step } from './scenario.ts'
import { typeOf } from './types.ts'

const cbor = await loadCbor()

/**
 * Replaces what may differ between two correct servers by placeholders: uids, resourceVersions, times, tokens, random names and addresses.
 * A placeholder is numbered by first appearance, so equal values stay equal. One instance serves one scenario on one server.
 */
export class Normalizer {
  readonly #id: string
  readonly #names = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  #generated: RegExp | undefined
  /** Of the last Table of this answer that had any: the first event of a watch names the columns of all. */
  #columns: readonly { readonly name: string | undefined }[] = []
  /** The finalizers of a namespace are in the order of a Go map once its deletion has changed them. */
  #isNamespace = false

  /** @param id the unique part of the scenario's names on this server */
  constructor(id: string) {
    this.#id = id
  }

  /** A copy, which numbers further placeholders by itself. */
  fork(): Normalizer {
    const copy = new Normalizer(this.#id)
    for (const [value, name] of this.#names) copy.#names.set(value, name)
    for (const [kind, count] of this.#counts) copy.#counts.set(kind, count)
    return copy
  }

  /** @param step the request, whose `generateName` tells random names apart */
  answer(answer: Answer, step: Step): NormalAnswer {
    this.#generated = generatedNames(step, this.#id)
    this.#columns = []
    this.#isNamespace = namespacePath.test(step.path)
    const headers: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(answer.headers)) {
      if (name === 'expires') headers[name] = String(value).replace(/^.*:\d\d /, '<time> ')
      else if (name === 'last-modified' || name === 'audit-id') headers[name] = '<present>'
      else if (name.startsWith('x-kubernetes-pf-')) headers[name] = this.#names.get(String(value)) ?? '<present>'
      else if (!ignoredHeaders.has(name)) headers[name] = this.#text([value].flat().join(', '))
    }
    const type = String(headers['content-type'] ?? '')
    const deleted = deletedKind(step, answer)
    const shown = () => (isOwn(step, type) ? '<own>' : this.#body(answer.body, type))
    const body = deleted === undefined ? withoutOtherGroups(step.path, shown()) : { kind: deleted }
    // Bookmarks of a certain time are sent when it comes. The end of a list that the step has not asked to stream is marked by kube-apiserver only.
    const isStreamed = JSON.stringify(step.query ?? '').includes('sendInitialEvents')
    const events = answer.events
      ?.map((event) => this.#event(event, type))
      .filter((event) => !isBookmark(event) || (isStreamed && endsList(event)))
    return { status: answer.status, headers, body, ...(events === undefined ? {} : { events }) }
  }

  #event(bytes: Uint8Array, type: string): unknown {
    if (!type.startsWith('application/vnd.kubernetes.protobuf')) return this.#body(bytes, 'application/json')
    const event = decodeWatchEvent(bytes)
    return { type: event.type, object: this.#body(event.object, type) }
  }

  #body(bytes: Uint8Array, type: string): unknown {
    if (bytes.length === 0) return null
    const text = Buffer.from(bytes).toString('utf8')
    if (hasProtobufMagic(bytes)) return this.#protobuf(bytes)
    // kube-apiserver has no order of members.
    if (type === 'application/cbor') return this.#value(withSortedMembers(cbor.decode(bytes)), '', undefined)
    // Its descriptions cannot be left out.
    if (type.startsWith('application/com.github.proto-openapi')) return '<protobuf document>'
    if (type.startsWith('application/json') || type.startsWith('application/yaml')) {
      const value = decoded(text, type)
      if (value !== undefined)
        return this.#value(isOpenApi(value) ? structureOf(withoutSharedParameters(value)) : value, '', undefined)
    }
    // kube-apiserver sends the index of the OpenAPI documents as plain text.
    if (text.startsWith('{"paths":')) return this.#value(JSON.parse(text), '', undefined)
    return this.#text(text.slice(0, 20_000))
  }

  /** `isCanonical`: encoding the decoded message again gives the same bytes. Then equal objects have had equal bytes. */
  #protobuf(bytes: Uint8Array): unknown {
    const envelope = readEnvelope(bytes)
    const type = typeOf(envelope.apiVersion, envelope.kind)
    const { apiVersion, kind, contentType, contentEncoding } = envelope
    const head = { apiVersion, kind, contentType, contentEncoding }
    if (type === undefined) return { ...head, raw: Buffer.from(envelope.raw).toString('base64') }
    const { object } = decodeProtobuf(type, envelope)
    const isCanonical = Buffer.compare(encodeMessage(type, object), envelope.raw) === 0
    return { ...head, isCanonical, object: this.#value(object, '', undefined) }
  }

  #value(value: unknown, key: string, parent: Record<string, unknown> | undefined): unknown {
    if (typeof value === 'string') return this.#string(value, key, parent)
    // Numbers whose text matters.
    if (typeof value === 'bigint') return `<${value}>`
    if (value instanceof NumberLiteral) return `<${value.text}>`
    if (typeof value === 'number' && portKeys.has(key) && value >= 30_000 && value < 32_768)
      return this.#named('port', String(value))
    // Owners of equal times are sorted by name, and times have whole seconds, so their order depends on the moment of the request.
    if (key === 'managedFields' && Array.isArray(value))
      return value.map((item) => this.#value(item, 'owner', parent)).sort(byText)
    if (key === 'finalizers' && this.#isNamespace && Array.isArray(value)) return [...value].sort()
    // kube-apiserver lists rules in the order of its caches.
    if ((key === 'resourceRules' || key === 'nonResourceRules') && Array.isArray(value))
      return value.map((item) => this.#value(item, key, parent)).sort(byText)
    if (Array.isArray(value)) return value.map((item) => this.#value(item, key, parent))
    if (typeof value !== 'object' || value === null) return value
    const object = value as Record<string, unknown>
    if (object['kind'] === 'Table') return this.#table(object)
    return Object.fromEntries(Object.entries(object).map(([name, item]) => [this.#text(name), this.#value(item, name, object)]))
  }

  #string(value: string, key: string, parent: Record<string, unknown> | undefined): string {
    if (key === 'serverAddress' || key === 'jwks_uri') return value.replace(/[\d.]+:\d+/, '<host>')
    // Any of the bindings that allow a request may be named.
    if (key === 'reason' && value.startsWith('RBAC: allowed by ')) return 'RBAC: allowed'
    if (key === 'uid' && uuid.test(value)) return this.#named('uid', value)
    if (key === 'resourceVersion' && value !== '' && value !== '0') return this.#version(value, parent)
    if (key === 'continue' && value !== '') return '<continue>'
    if (key === 'caBundle' && value.length > 500) return '{caBundle}'
    if (key === 'token' && value.split('.').length === 3) return '<token>'
    if (addressKeys.has(key) && /^10\.0\./.test(value)) return this.#named('address', value)
    // The ports of a service in a Table.
    if (key === 'cell' && value.includes(':3'))
      return this.#text(value.replaceAll(/(?<=:)3[0-2]\d{3}(?=\/[A-Z]+)/g, (port) => this.#named('port', port)))
    return this.#text(value)
  }

  /** Versions of lists and bookmarks depend on all writes to the server; one may be by chance that of an object. */
  #version(value: string, parent: Record<string, unknown> | undefined): string {
    // kube-apiserver prints the absent time of a bookmark.
    const isListMeta = parent !== undefined && !('name' in parent) && (parent['creationTimestamp'] ?? null) === null
    return isListMeta ? '<list version>' : this.#named('version', value)
  }

  /** Columns of ages are masked. */
  #table(table: Record<string, unknown>): unknown {
    const { columnDefinitions, rows, ...rest } = table as { columnDefinitions?: Column[] | null; rows?: Row[] | null }
    const columns = (columnDefinitions ?? []).map(({ name, type, format, priority }) => ({ name, type, format, priority }))
    if (columns.length > 0) this.#columns = columns
    const cell = (value: unknown, i: number) =>
      ageColumns.has(this.#columns[i]?.name ?? '') && age.test(String(value)) ? '<age>' : this.#value(value, 'cell', undefined)
    return {
      ...(this.#value({ ...rest, kind: 'Table ' }, '', undefined) as object),
      columnDefinitions: columnDefinitions && columns,
      rows:
        rows && rows.map((row) => ({ ...(this.#value(row, 'row', undefined) as object), cells: (row.cells ?? []).map(cell) })),
    }
  }

  #text(text: string): string {
    let result = text
    for (const [value, name] of this.#names)
      if (value.length > 8 && result.includes(value)) result = result.replaceAll(value, name)
    if (this.#generated !== undefined) result = result.replaceAll(this.#generated, (name) => this.#named('name', name))
    return (
      result
        .replaceAll(this.#id, '{id}')
        .replaceAll(/https:\/\/127\.0\.0\.1:\d+\/(stock|krmkit)/g, '{hook}')
        .replaceAll(/kube-api-access-[a-z0-9]{5}/g, (name) => this.#named('name', name))
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, (time) =>
          // Tokens live for up to 136 years.
          /^2[01]/.test(time) ? '<time>' : time,
        )
        .replaceAll(/(?<=Duplicate value: )3[0-2]\d{3}\b/g, (port) => this.#named('port', port))
        // Go prints pointers inside of structs as addresses.
        .replaceAll(/\(0x[0-9a-f]+\)/g, '(<pointer>)')
        .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? \+0000 UTC( m=\S+)?/g, '<go time>')
        // kube-apiserver numbers the type of an expression's object by the time.
        .replaceAll(/\bselfType\d+/g, 'selfType')
        .replaceAll(documentHash, '<hash>')
        .replaceAll(/(?<=Too large resource version: \d+, current: )\d+/g, '<version>')
        .replaceAll(versionsInTexts, '<version>')
        .replaceAll(uuid, (value) => this.#named('uid', value))
    )
  }

  #named(kind: string, value: string): string {
    let name = this.#names.get(value)
    if (name === undefined) {
      const count = (this.#counts.get(kind) ?? 0) + 1
      this.#counts.set(kind, count)
      name = `<${kind} ${count}>`
      this.#names.set(value, name)
    }
    return name
  }
}

export interface NormalAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly events?: readonly unknown[]
}

interface Column {
  readonly name?: string
  readonly type?: string
  readonly format?: string
  readonly priority?: number
}

interface Row {
  readonly cells?: readonly unknown[]
}

/**
 * The kind of a deleted object, or of a list of them, that krmkit never sends (see the known divergences of deletions): the object must not
 * count in the numbers of placeholders.
 */
function deletedKind({ method }: Step, { status, body }: Answer): string | undefined {
  if (method !== 'DELETE' || status !== 200) return undefined
  return /^\{"kind":"(\w+List|ConfigMap|Secret)"/.exec(Buffer.from(body.slice(0, 100)).toString('latin1'))?.[1]
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

/** Whether a body is about the server itself: its metrics, or the keys that it signs with. */
function isOwn({ path }: Step, contentType: string): boolean {
  return (path.startsWith('/metrics') && contentType.includes('version=0.0.4')) || contentType === 'application/jwk-set+json'
}

function withSortedMembers(value: unknown, change = (_key: string, item: unknown) => item): unknown {
  if (Array.isArray(value)) return value.map((item) => withSortedMembers(item, change))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, item]) => [key, withSortedMembers(change(key, item), change)]))
}

/** Descriptions are in krmkit's own words, and members have no order: each of kube-apiserver's three writers has its own. */
function structureOf(value: unknown): unknown {
  return withSortedMembers(value, (key, item) => (key === 'description' && typeof item === 'string' ? '<description>' : item))
}

/** Puts the shared parameters of a v2 document where they are used: their names end with a hash of their descriptions. */
function withoutSharedParameters<T extends { readonly parameters?: Record<string, unknown> }>({
  parameters = {},
  ...document
}: T): unknown {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    const { $ref } = value as { $ref?: unknown }
    const shared = typeof $ref === 'string' && $ref.startsWith('#/parameters/') ? parameters[$ref.slice(13)] : undefined
    return shared ?? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item)]))
  }
  return resolve(document)
}

function isOpenApi(value: unknown): value is { readonly parameters?: Record<string, unknown> } {
  return typeof value === 'object' && value !== null && ('openapi' in value || 'swagger' in value)
}

/** Documents have hashes, which differ with the descriptions. */
const documentHash = /\b[0-9A-F]{128}\b/g
/** Versions in the refusals of preconditions. */
const versionsInTexts = /(?<=ResourceVersion in (?:object meta: |(?:record|the precondition) \(|precondition: ))\d+/g
const namespacePath = /^\/api\/v1\/namespaces\/[^/]+(\/status|\/finalize)?$/

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const age = /^(\d+(s|m|h|d))+$|^<unknown>$|^<invalid>$/
const ageColumns = new Set(['Age', 'Created At', 'Last Seen', 'First Seen', 'Duration'])
const portKeys = new Set(['nodePort', 'healthCheckNodePort'])
const addressKeys = new Set(['clusterIP', 'clusterIPs', 'cell'])
/** Headers that differ from answer to answer, or that describe the connection. */
const ignoredHeaders = new Set(['date', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'])

/** Longest prefix of a generated name. */
const prefixLength = 58

/** Matches names made from the `generateName` of a body. */
function generatedNames({ body }: Step, id: string): RegExp | undefined {
  const metadata =
    body !== undefined && 'json' in body ? (body.json as { metadata?: { generateName?: unknown } } | null)?.metadata : undefined
  const prefix = metadata?.generateName
  if (typeof prefix !== 'string' || prefix === '') return undefined
  const shown = escaped(prefix.replaceAll('{id}', id).slice(0, prefixLength)).replaceAll('"', '\\\\?"')
  // A short prefix is part of many words.
  return new RegExp(prefix.length > 3 ? `${shown}[a-z0-9]{5}` : `(?<=^|")${shown}[a-z0-9]{5}(?=$|["/])`, 'g')
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}

function decoded(text: string, type: string): unknown {
  try {
    const read = type.startsWith('application/json') ? parseJson : parseYaml
    return read(text, { literals: true }).value
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Whether an event is a bookmark of objects. */
function isBookmark(event: unknown): boolean {
  const { type, object } = event as { readonly type?: string; readonly object?: { readonly kind?: string } }
  return type === 'BOOKMARK' && object?.kind !== 'Table'
}

function endsList(event: unknown): boolean {
  return JSON.stringify(event).includes('initial-events-end')
}
