import type { Handler } from '@krmkit/protocol'

/** A running server, independent of the transport of its requests. */
export interface ApiServer extends AsyncDisposable {
  readonly handle: Handler
  /** Ends watches cleanly, refuses new requests, waits for those in flight, closes storage. */
  close(): Promise<void>
}
