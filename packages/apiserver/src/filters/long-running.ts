import type { RequestInfo } from '../request-info.ts'

/** Sub-resources whose answers last as long as the client likes. */
const longRunningSubresources: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy', 'log'])

/** Whether a request lasts as long as the client likes: watches, and connections to nodes and pods. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || longRunningSubresources.has(subresource))
}

/** Verbs that change nothing; all others are counted as writes. */
const readOnly: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

export function isMutating({ verb }: RequestInfo): boolean {
  return !readOnly.has(verb)
}
