/** The messages of OTLP that traces and metrics have in common. @see https://github.com/open-telemetry/opentelemetry-proto */
import { MessageType } from '@krmkit/base/protobuf'

interface AnyValue {
  readonly text?: string
  readonly bool?: boolean
  readonly int?: number
  readonly double?: number
}

export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

export interface Refusal {
  /** Number of spans or data points. */
  readonly rejected: number
  readonly message: string
}

/** The response to an export. */
export interface ExportResponse {
  readonly partialSuccess?: Refusal
}

/** Attributes of the process that sends. */
export type Resource = Readonly<Record<string, string>>

const anyValue = new MessageType<AnyValue>({
  1: ['text', 'text'],
  2: ['bool', 'bool'],
  3: ['int', 'int'],
  4: ['double', 'double'],
})
export const keyValueMessage = new MessageType<KeyValue>({ 1: ['key', 'text'], 2: ['value', anyValue] })
export const scopeMessage = new MessageType<{ readonly name: string }>({ 1: ['name', 'text'] })
export const resourceMessage = new MessageType<{ readonly attributes: readonly KeyValue[] }>({
  1: ['attributes', keyValueMessage, 'repeated'],
})
const refusalMessage = new MessageType<Refusal>({ 1: ['rejected', 'int'], 2: ['message', 'text'] })
export const exportResponse = new MessageType<ExportResponse>({ 1: ['partialSuccess', refusalMessage] })

/** The scope of everything that a server sends. */
export const ownScope = { name: 'krmkit' }

export function attributesOf(attributes: Readonly<Record<string, string | number | boolean>>): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValueOf(value) }))
}

function anyValueOf(value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { text: value }
  if (typeof value === 'boolean') return { bool: value }
  return Number.isSafeInteger(value) ? { int: value } : { double: value }
}
