import type { ApiObject, DeepReadonly } from '@krmkit/meta'

/** Converts between one version of a resource and the stored form. The caller owns the results; failures propagate unchanged. */
export interface ObjectConversion {
  /** Converts objects of any version to this version, all in one call. */
  read(objects: readonly DeepReadonly<ApiObject>[], purpose?: ConversionPurpose): Promise<readonly ApiObject[]>
  /** Converts an object of this version to the storage version. */
  write(object: DeepReadonly<ApiObject>, purpose?: ConversionPurpose): Promise<ApiObject>
  /** Converts an object to any version, with all members that the converter returns. */
  convert(object: DeepReadonly<ApiObject>, apiVersion: string): Promise<ApiObject>
}

export interface ConversionPurpose {
  /** The objects are read from storage, or written to it. Stored objects have no resourceVersion: webhooks do not see it. */
  readonly stored?: boolean
}
