/** The entry point for browsers: exports only what runs in every runtime. Ports, TLS and proxies need Node. */

export { createFetchHandler, type FetchHandlerOptions } from './fetch-handler.ts'
export type { ServerLike } from './interfaces.ts'
