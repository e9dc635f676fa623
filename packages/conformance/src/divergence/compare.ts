import { isDeepStrictEqual } from 'node:util'
import { inMapOrder } from './causes.ts'
import type { NormalAnswer } from './normalize.ts'
import type { Step } from './scenario.ts'

/** One thing in which two answers differ. */
export interface Difference {
  /** `status`, `headers.warning`, `body.metadata.generation`, `events.2.type`, or `body` with aspect `order`. */
  readonly at: string
  /** `order`: equal members in another order; `wording`: another text of a message. */
  readonly aspect: 'value' | 'order' | 'wording'
  readonly stock: unknown
  readonly krmkit: unknown
}

/** A step whose answers differ. */
export interface Divergence {
  readonly step: Step
  readonly stock: NormalAnswer
  readonly krmkit: NormalAnswer
  readonly differences: readonly Difference[]
}

export function compareAnswers(theirs: NormalAnswer, ours: NormalAnswer): Difference[] {
  const [stock, krmkit] = [inMapOrder(theirs), inMapOrder(ours)]
  const differences: Difference[] = []
  if (stock.status !== krmkit.status) {
    // Everything else follows from the status.
    return [{ at: 'status', aspect: 'value', stock: summary(stock), krmkit: summary(krmkit) }]
  }
  collect(stock.headers, krmkit.headers, 'headers', differences, false)
  collect(stock.body, krmkit.body, 'body', differences, true)
  collect(stock.events ?? null, krmkit.events ?? null, 'events', differences, true)
  return differences
}

/** Whether an answer holds texts that the wording is measured by. */
export function hasWording({ body, headers }: NormalAnswer): boolean {
  return headers['warning'] !== undefined || typeof body === 'string' || asObject(body).kind === 'Status'
}

/** Status and message, or the kind of the body. */
function summary({ status, body }: NormalAnswer): string {
  if (typeof body === 'string') return `${status} ${body.slice(0, 300)}`
  const { message, kind } = asObject(body)
  return `${status} ${message ?? kind ?? ''}`
}

/** The decoded body; protobuf without its envelope. */
function asObject(body: unknown): { readonly message?: string; readonly kind?: string } {
  const { object, ...head } = (body ?? {}) as { object?: object }
  return { ...head, ...object }
}

function collect(stock: unknown, krmkit: unknown, at: string, out: Difference[], ordered: boolean): void {
  if (isDeepStrictEqual(stock, krmkit)) {
    if (ordered && printed(stock) !== printed(krmkit))
      out.push({ at, aspect: 'order', stock: memberOrder(stock), krmkit: memberOrder(krmkit) })
    return
  }
  if (isContainer(stock) && isContainer(krmkit) && Array.isArray(stock) === Array.isArray(krmkit)) {
    for (const key of new Set([...Object.keys(stock), ...Object.keys(krmkit)])) {
      collect(member(stock, key), member(krmkit, key), `${at}.${key}`, out, ordered)
    }
    return
  }
  const isText = typeof stock === 'string' && typeof krmkit === 'string' && /(^|\.)(message|warning|body)$/.test(at)
  out.push({ at, aspect: isText ? 'wording' : 'value', stock: stock ?? '<absent>', krmkit: krmkit ?? '<absent>' })
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function member(container: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(container, key) ? (container[key] === null ? '<null>' : container[key]) : undefined
}

function memberOrder(value: unknown): string {
  return printed(value, (item) => (typeof item === 'string' && item.length > 20 ? '…' : item)).slice(0, 400)
}

/**
 * Names the probable cause of a divergence: verb, path without names, and its first difference with values replaced. Divergences of one
 * signature are reported once. Texts name the cause by themselves, whatever the resource.
 */
export function signature({ step, differences }: Divergence): string {
  const [first] = differences
  if (first === undefined) return ''
  const at = first.at.replaceAll(/\.\d+(?=\.|$)/g, '.*')
  if (first.at === 'status' || first.aspect === 'wording')
    return `${step.method} ${at} ${shape(first.stock)} ≠ ${shape(first.krmkit)}`
  return `${step.method} ${pathShape(step.path)} ${at}${first.aspect === 'order' ? ' order' : ''}`
}

/** A path with its names replaced by stars. */
export function pathShape(path: string): string {
  return path
    .replace(/\?.*/, '')
    .replace(/namespaces\/[^/]+/, 'namespaces/*')
    .replace(/^((?:\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/\*)?\/[^/]+)\/[^/]+/, (all, start: string) =>
      all.endsWith('namespaces/*') ? all : `${start}/*`,
    )
}

function shape(value: unknown): string {
  return String(value)
    .replaceAll(/\/registry\/\S+/g, 'KEY')
    .replaceAll(/(?<=^(?:\d{3} )?)[\w.]+ (?="[^"]*" is invalid)/g, 'KIND ')
    .replaceAll(/fulfilled on [\w.]+/g, 'fulfilled on KIND')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replaceAll(/\[\d+\]|\[[^\]]{0,60}\]/g, '[*]')
    .replaceAll(/(?<=\w)-?\d+|\b\d+(?!\d* )/g, (digits) => (digits.length === 3 ? digits : 'N'))
    .slice(0, 220)
}

/** Members in their order; integers of protobuf and CBOR beyond 53 bits are no JSON. */
function printed(value: unknown, shown = (item: unknown): unknown => item): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${item}n` : shown(item))) ?? ''
}
