import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Random, StatusReason } from '@krmkit/meta'
import type { ApiResponse, BodyPiece, Handler } from '@krmkit/protocol'
import { BodyPace } from './body-pace.ts'
import type { DeflatedPieces } from './gzip-parts.ts'
import type { ListenLimits } from './interfaces.ts'
import { PendingConnections } from './pending-connections.ts'
import { TurnQueue } from './turn-queue.ts'

/** An answer that goes on for a while. */
export interface Running {
  /** Resolves when it is over. Rejects when it broke off by a fault of ours. */
  run(): Promise<void>
  /** Ends it cleanly. */
  stop(): void
}

/** What all exchanges of one listener share. */
export class Context {
  readonly handle: Handler
  readonly turns = new TurnQueue()
  /** Streams under way, so that closing can end them. */
  readonly pumps = new Set<Running>()
  /** Compressed pieces of lists. */
  readonly deflated: DeflatedPieces = new WeakMap()
  /** Set once closing has begun: connections end after their answer. */
  closing = false
  /** Connections that end with an answer to a head that is not served: what follows it there is not read. */
  readonly refused = new WeakSet<Socket>()
  readonly limits: ListenLimits
  readonly pace: BodyPace
  readonly pending: PendingConnections
  readonly #goaway: { readonly chance: number; readonly random: Pick<Random, 'bytes'> } | undefined
  readonly #onFault: ((error: unknown) => void) | undefined

  constructor(options: {
    readonly handle: Handler
    readonly limits: ListenLimits
    readonly goaway: { readonly chance: number; readonly random: Pick<Random, 'bytes'> } | undefined
    readonly onFault: ((error: unknown) => void) | undefined
  }) {
    this.handle = options.handle
    this.limits = options.limits
    this.pace = new BodyPace(options.limits)
    this.pending = new PendingConnections(options.limits)
    this.#goaway = options.goaway
    this.#onFault = options.onFault
  }

  fault(error: unknown): void {
    this.#onFault?.(error)
  }

  /** Whether this answer is to ask its connection to go away. */
  drawGoaway(): boolean {
    if (this.#goaway === undefined || this.#goaway.chance <= 0) return false
    const [a = 0, b = 0, c = 0, d = 0] = this.#goaway.random.bytes(4)
    return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32 < this.#goaway.chance
  }

  /** Runs a stream to its end and keeps it among those that closing ends. */
  pump(pump: Running): void {
    this.pumps.add(pump)
    pump.run().then(
      () => this.pumps.delete(pump),
      (error: unknown) => {
        this.pumps.delete(pump)
        this.fault(error)
      },
    )
    if (this.closing) pump.stop()
  }
}

/** The last resort when a handler throws, which none should. */
export const internalFailure = Buffer.from(
  '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred","reason":"InternalError","code":500}\n',
)

export const failure: ApiResponse = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: { kind: 'bytes', bytes: internalFailure },
}

const refusalReasons: Readonly<Record<number, StatusReason>> = { 400: 'BadRequest', 405: 'MethodNotAllowed' }

/** The answer to a request that never gets to the handler, as a Status. */
export function refusal(code: number, message: string): ApiResponse {
  const reason = refusalReasons[code]
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  return {
    status: code,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', bytes: Buffer.from(`${JSON.stringify(status)}\n`) },
  }
}

/** Pieces are sent together up to this size: fewer writes, but never the whole of a large list copied. */
const groupBytes = 256 * 1024

/** Sends a whole body piece by piece, as the client takes it. A client that goes away is no fault. */
export function carry(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, sink: NodeJS.WritableStream): void {
  pipeline(Readable.from(pieces, { objectMode: true, highWaterMark: 1 }), sink).catch(() => undefined)
}

/** The parts of a list in groups that are worth one write each. */
export function* groups(parts: readonly (Uint8Array | BodyPiece)[]): Generator<Uint8Array, void, undefined> {
  let group: Uint8Array[] = []
  let length = 0
  for (const part of parts) {
    group.push(part instanceof Uint8Array ? part : part.bytes())
    length += part.byteLength
    if (length < groupBytes) continue
    yield group.length === 1 ? group[0]! : Buffer.concat(group, length)
    group = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(group, length)
}

/** Lets go of a body that nobody will read. */
export function dropStream(stream: AsyncIterable<Uint8Array>): void {
  stream[Symbol.asyncIterator]()
    .return?.(undefined)
    .catch(() => undefined)
}
