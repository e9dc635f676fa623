import type { Draft, ResourceType } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'

/**
 * Creates an object if it does not exist, or updates it to the result of `repair`. `repair` returns undefined for no change;
 * it must keep fields that the server does not manage.
 *
 * @returns the stored object
 */
export async function ensureObject<T extends ApiObject>(
  { client, fieldManager, signal }: ControllerContext,
  resource: ResourceType<T>,
  wanted: Draft<T>,
  repair: (current: T) => T | undefined = () => undefined,
): Promise<T> {
  const { name = '', namespace = '' } = wanted.metadata
  const where = namespace === '' ? { signal } : { namespace, signal }
  const current = await ignoreNotFound(client.get(resource, name, where))
  if (current === undefined) {
    try {
      return await client.create(resource, wanted, { fieldManager, signal })
    } catch (error) {
      // Another server created it concurrently.
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
      return client.get(resource, name, where)
    }
  }
  const repaired = repair(current)
  return repaired === undefined ? current : client.update(resource, repaired as Draft<T>, { fieldManager, signal })
}

/** Whether an object has all the labels. */
export function hasLabels({ metadata }: ApiObject, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value)
}

/** Returns the object with additional labels. */
export function withLabels<T extends ApiObject>(object: T, wanted: Readonly<Record<string, string>>): T {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...wanted } } }
}
