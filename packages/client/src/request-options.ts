import type { Random } from '@krmkit/meta'
import { encodeJson, jsonMediaType } from './body-codec.ts'
import type { DeleteOptions, ListOptions, WriteOptions } from './interfaces.ts'
import { queryOf } from './resource.ts'

/** Builds queries, headers and bodies from the options of calls. */

/** The user that a request is made as, instead of the authenticated one. */
export interface Impersonation {
  readonly user: string
  readonly groups?: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export function impersonationHeaders(user: Impersonation | undefined): Record<string, string | readonly string[]> {
  if (user === undefined) return {}
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': user.user }
  if (user.uid !== undefined) headers['impersonate-uid'] = user.uid
  if (user.groups !== undefined && user.groups.length > 0) headers['impersonate-group'] = user.groups
  for (const [key, values] of Object.entries(user.extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values
  return headers
}

export function signalOf(options: { readonly signal?: AbortSignal }): { readonly signal?: AbortSignal } {
  return options.signal === undefined ? {} : { signal: options.signal }
}

export function listQuery(options: ListOptions): string {
  const { labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options
  return queryOf({ labelSelector, fieldSelector, limit, continue: options.continue, resourceVersion, resourceVersionMatch })
}

/**
 * @param timeoutMs maximum duration of the watch; a random timeout between half of it and all of it is requested, so that
 *   watches do not end together
 */
export function watchQuery(
  selection: ListOptions,
  options: { readonly resourceVersion: string; readonly timeoutMs: number | undefined; readonly random: Pick<Random, 'bytes'> },
): string {
  const { resourceVersion, timeoutMs, random } = options
  const timeoutSeconds =
    timeoutMs === undefined ? undefined : Math.max(1, Math.round((timeoutMs / 2000) * (1 + random.bytes(1)[0]! / 256)))
  const query = queryOf({ watch: 1, allowWatchBookmarks: true, resourceVersion, timeoutSeconds })
  return [listQuery(selection), query].filter((part) => part !== '').join('&')
}

export function writeQuery(options: WriteOptions): string {
  const { fieldManager, fieldValidation, dryRun } = options
  return queryOf({ dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation })
}

export function deleteBody(options: Omit<DeleteOptions, 'subresource'>): {
  readonly body?: Uint8Array
  readonly headers?: Record<string, string>
} {
  const { gracePeriodSeconds, propagationPolicy, preconditions, dryRun } = options
  const body = { gracePeriodSeconds, propagationPolicy, preconditions, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
  if (Object.values(body).every((value) => value === undefined)) return {}
  return { body: encodeJson({ kind: 'DeleteOptions', apiVersion: 'v1', ...body }), headers: { 'content-type': jsonMediaType } }
}
