import type { JsonObject, JsonValue } from '@krmkit/meta'

/**
 * Scenarios as data: a sequence of requests that is sent to two servers. Texts may hold placeholders:
 *
 * - `{ns}`: the namespace of the scenario; `{id}`: a unique part of cluster-scoped names
 * - `{hook}`, `{caBundle}`: address and certificate of the webhooks of the harness (`webhooks.ts`)
 * - `{STEP.PATH}`: a value of an earlier answer of the same server, such as `{create.metadata.resourceVersion}`
 * - `{STEP.headers.NAME}`: a header of an earlier answer
 */
export interface Scenario {
  /** The generator: `bodies`, `reads` ... */
  readonly area: string
  /** Metadata of the scenario's namespace; `false`: the scenario needs none. */
  readonly namespace?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> } | false
  /** The scenario changes what all others see, such as defaults of the cluster, and runs alone. */
  readonly exclusive?: true
  readonly steps: readonly Step[]
}

export interface Step {
  /** Unique in the scenario. */
  readonly id: string
  /** Name of a static token, `anonymous`, or a literal token. @default 'admin' */
  readonly as?: string
  readonly method: string
  readonly path: string
  /** Pairs are encoded; a text is sent as it is. */
  readonly query?: string | readonly (readonly [string, string])[]
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Body
  /** Keeps the response open as a watch in the background; its events are compared at the end of the scenario. */
  readonly watch?: true
  /** Waits after a successful answer, in milliseconds: what the step creates takes effect with a delay. */
  readonly settleMs?: number
  /** Waits after a successful answer until the server shows that the step has taken effect. */
  readonly until?: Probe
  /** Waits after a successful answer until both servers have finished the work that the step starts in the background. */
  readonly agree?: Agreement
}

/** A request that is repeated on each server by itself until the answer contains a text. */
export interface Probe {
  readonly step: Omit<Step, 'id'>
  readonly shows: string
}

/** A member of an object that is read from both servers until it is the same twice. */
export interface Agreement {
  readonly path: string
  /** `status`, `metadata.labels` ... */
  readonly member: string
}

/** A JSON value, a text, bytes in base64, or an object that is sent as protobuf. */
export type Body =
  | { readonly json: JsonValue }
  | { readonly text: string }
  | { readonly base64: string }
  | { readonly protobuf: ProtobufBody }

/** An object with apiVersion and kind, and what is wrong with its message. */
export interface ProtobufBody {
  readonly object: JsonObject
  /** Replaces members of the envelope. */
  readonly envelope?: { readonly apiVersion?: string; readonly kind?: string; readonly contentType?: string }
  /** Base64 of bytes that follow the message, such as a field without a name. */
  readonly append?: string
  /** Drops this many bytes at the end of the message. */
  readonly truncate?: number
  /** Changes the byte at this position, counted from the start of the body and again from there. */
  readonly flip?: number
}

/** One side's answer. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Uint8Array
  /** For watches. */
  readonly events?: readonly Uint8Array[]
}

/** Tokens that both servers know, as a token file. */
export const tokenFile = `admin-token,admin,admin-uid,"system:masters"
alice-token,alice,alice-uid,"dev"
bob-token,bob,bob-uid,"dev,ops"
node1-token,system:node:node-1,node1-uid,"system:nodes"
`

export const tokens: Readonly<Record<string, string>> = {
  admin: 'admin-token',
  alice: 'alice-token',
  bob: 'bob-token',
  node1: 'node1-token',
}

/** Replaces placeholders in every text of `value`. Unknown placeholders stay. */
export function substitute<T>(value: T, resolve: (name: string) => string | undefined): T {
  if (typeof value === 'string') return value.replaceAll(/\{([\w-]+(?:\.[\w./-]+)?)\}/g, (all, name) => resolve(name) ?? all) as T
  if (Array.isArray(value)) return value.map((item) => substitute(item, resolve)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [substitute(key, resolve), substitute(item, resolve)])
  return Object.fromEntries(entries) as T
}

/** The value at a path such as `metadata.resourceVersion` or `items.0.metadata.uid`. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], value)
}
