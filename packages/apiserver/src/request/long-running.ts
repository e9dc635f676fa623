import type { RequestInfo } from './info.ts'

/** Subresources whose responses last until the client ends them. */
const longRunningSubresources: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy', 'log'])

/** Whether the duration of a request is up to the client: watches, and connections to nodes and pods. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || verb === 'proxy' || longRunningSubresources.has(subresource))
}

/** Read-only verbs; all others count as writes. */
const readOnly: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

export function isMutating({ verb }: RequestInfo): boolean {
  return !readOnly.has(verb)
}
