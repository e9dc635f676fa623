/** What runs in every runtime: the entry point of the package for browsers. Ports, TLS and proxies need Node. */

export { createFetchHandler, type FetchHandlerOptions } from './fetch-handler.ts'
export type { ServerLike } from './interfaces.ts'
