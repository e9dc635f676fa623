import type { CachedObject, InformerEvent, InformerFeatures, InformerStart } from './interfaces.ts'

/**
 * Protocol for client programs in any language: one JSON object per line, requests on stdin, responses on stdout, several
 * concurrently.
 *
 *     > {"id":1,"method":"describe"}
 *     < {"id":1,"result":{"informer":{"features":{}},"client":["get","list"]}}
 *     > {"id":2,"method":"start","params":{"server":{...},"namespace":"certification"}}
 *     < {"id":2,"result":7}
 *     > {"id":3,"method":"state","params":{"informer":7}}
 *     < {"id":3,"result":{"hasSynced":true,"objects":[...],"events":[...]}}
 *     > {"id":4,"method":"stop","params":{"informer":7}}
 *     > {"id":5,"method":"connect","params":{"server":{...},"namespace":"certification"}}
 *     < {"id":5,"result":8}
 *     > {"id":6,"method":"call","params":{"client":8,"name":"update","arguments":[{"metadata":...}]}}
 *     < {"id":6,"error":{"message":"the object has been modified","code":409}}
 *     > {"id":7,"method":"close","params":{"client":8}}
 *
 * The program ends when its stdin ends. Its stderr is only for diagnostics.
 */
export interface LineRequest {
  readonly id: number
  readonly method: 'describe' | 'start' | 'state' | 'stop' | 'connect' | 'call' | 'close'
  readonly params?: unknown
}

export interface LineResponse {
  readonly id: number
  readonly result?: unknown
  /** `code` is the HTTP status of the response of the server. */
  readonly error?: { readonly message: string; readonly code?: number }
}

/** The capabilities of a program. */
export interface Description {
  /** Absent: no informer. */
  readonly informer?: { readonly features?: InformerFeatures }
  /** Names of the methods of its client. Absent: no client. */
  readonly client?: readonly string[]
}

export interface InformerState {
  readonly hasSynced: boolean
  readonly objects: readonly CachedObject[]
  readonly events?: readonly InformerEvent[]
}

export interface StateParams {
  readonly informer: number
}

export type StartParams = InformerStart

export type ConnectParams = Pick<InformerStart, 'server' | 'namespace'>

export interface CallParams {
  readonly client: number
  readonly name: string
  readonly arguments: readonly unknown[]
}
