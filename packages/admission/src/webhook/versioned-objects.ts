import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectVersion } from '../interfaces.ts'

/** The objects of a request, in the version that a webhook or policy matches. */
export interface VersionedObjects {
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
}

/**
 * Converts the objects of a request to a version. As on kube-apiserver, a new custom resource keeps the metadata that the server has not
 * set yet as they are: only objects from storage are completed.
 *
 * @throws ApiError when a conversion webhook fails.
 */
export async function versionedObjects(
  object: DeepReadonly<ApiObject> | undefined,
  version: ObjectVersion,
  { oldObject, operation }: Pick<AdmissionAttributes, 'oldObject' | 'operation'>,
  { versionConverter }: Pick<AdmissionContext, 'versionConverter'>,
): Promise<VersionedObjects> {
  const convert = (given: DeepReadonly<ApiObject> | undefined) =>
    given === undefined ? null : versionConverter === undefined ? given : versionConverter.toVersion(given, version)
  const shown = await convert(object)
  const isNew = shown !== null && object !== undefined && versionConverter?.isCustom?.(version) === true
  return {
    object: isNew ? { ...shown, metadata: unsetMetadata(shown.metadata, object.metadata, operation) } : shown,
    oldObject: await convert(oldObject),
  }
}

/** The metadata of a converted custom resource without what only the server sets; those of an update have a null creationTimestamp. */
function unsetMetadata(
  { generation: _, creationTimestamp: __, ...shown }: Metadata,
  { generation, creationTimestamp }: Metadata,
  operation: AdmissionAttributes['operation'],
): Metadata {
  const metadata = {
    ...shown,
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp ? { creationTimestamp } : operation === 'UPDATE' ? { creationTimestamp: null } : {}),
  }
  const members = Object.entries(metadata)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1))) as Metadata
}

type Metadata = DeepReadonly<ApiObject['metadata']>
