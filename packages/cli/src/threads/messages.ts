import type { AuditEvent } from '@krmkit/apiserver/audit'
import type { ServeOptions } from '../serve-options.ts'

/** The messages between the writer and a worker, over the channel of `fork` with the serialization `advanced`. */

/** What a worker needs to begin. */
export interface WorkerStart {
  readonly options: ServeOptions
  /** Port that the writer accepts connections on. */
  readonly port: number
  /** Unix socket of the writer's storage. */
  readonly storagePath: string
  /** Unix socket of the writer's API server. */
  readonly requestsPath: string
  /** Secret of TLS session tickets. */
  readonly ticketKeys: Uint8Array
}

export type MessageToWorker =
  | { readonly type: 'start'; readonly start: WorkerStart }
  /** The socket is sent along. */
  | { readonly type: 'connection' }
  | { readonly type: 'metrics'; readonly id: number }
  /** `problem`: the events were lost. */
  | { readonly type: 'audited'; readonly id: number; readonly problem: string | undefined }
  | { readonly type: 'close' }

export type MessageToWriter =
  | { readonly type: 'ready' }
  /** A passed connection has closed. */
  | { readonly type: 'connectionClosed' }
  | { readonly type: 'metrics'; readonly id: number; readonly text: string }
  | { readonly type: 'audit'; readonly id: number; readonly events: readonly AuditEvent[] }
