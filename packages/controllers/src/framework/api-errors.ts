import { ApiError, type StatusReason } from '@krmkit/meta'

/**
 * Waits for a request.
 *
 * @returns undefined when the object does not exist
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { ignoreNotFound } from '@krmkit/controllers/framework'
 * const client = createRemoteClient(await loadKubeconfig())
 * const settings = await ignoreNotFound(client.get(ConfigMap, 'settings', { namespace: 'shop' }))
 */
export function ignoreNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  return ignoreReasons(request, ['NotFound'])
}

/** Waits for a request. @returns undefined when it failed with one of these reasons */
export async function ignoreReasons<T>(request: Promise<T>, reasons: readonly StatusReason[]): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (ApiError.is(error) && (reasons as readonly string[]).includes(error.reason)) return undefined
    throw error
  }
}

/**
 * Waits for a create request. Ignores failures because the object already exists or its namespace is missing or terminating.
 *
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { ignoreCreateConflict } from '@krmkit/controllers/framework'
 * const client = createRemoteClient(await loadKubeconfig())
 * await ignoreCreateConflict(client.create(ConfigMap, { metadata: { namespace: 'shop', name: 'settings' }, data: {} }))
 */
export async function ignoreCreateConflict(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!ApiError.is(error)) throw error
    const { reason, status } = error
    const isTerminating = status.details?.causes?.some((cause) => (cause.reason as string) === 'NamespaceTerminating') ?? false
    if (reason !== 'AlreadyExists' && reason !== 'NotFound' && !isTerminating) throw error
  }
}
