import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectVersion } from '../interfaces.ts'

/** The objects of a request, in the version that a webhook or policy matches. */
export interface VersionedObjects {
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
}

/** Converts the objects of a request to a version. @throws ApiError when a conversion webhook fails. */
export async function versionedObjects(
  object: DeepReadonly<ApiObject> | undefined,
  version: ObjectVersion,
  { oldObject }: Pick<AdmissionAttributes, 'oldObject'>,
  { convertor }: Pick<AdmissionContext, 'convertor'>,
): Promise<VersionedObjects> {
  const convert = (given: DeepReadonly<ApiObject> | undefined) =>
    given === undefined ? null : convertor === undefined ? given : convertor.toVersion(given, version)
  return { object: await convert(object), oldObject: await convert(oldObject) }
}
