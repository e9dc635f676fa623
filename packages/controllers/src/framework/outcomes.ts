import { ApiError } from '@krmkit/meta'

/** The answer, or nothing when there is no such object. */
export async function ignoreNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (ApiError.is(error) && error.reason === 'NotFound') return undefined
    throw error
  }
}

/** A creation that may come too late: the object is there already, or its namespace goes away. */
export async function unlessUnwanted(creation: Promise<unknown>): Promise<void> {
  try {
    await creation
  } catch (error) {
    if (!ApiError.is(error)) throw error
    const { reason, status } = error
    const isTerminating = status.details?.causes?.some((cause) => (cause.reason as string) === 'NamespaceTerminating') ?? false
    if (reason !== 'AlreadyExists' && reason !== 'NotFound' && !isTerminating) throw error
  }
}
