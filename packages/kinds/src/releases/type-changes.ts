import type { FieldFacts, TypeFacts } from '@krmkit/schema/model'

/**
 * What releases changed in types beside their fields. Facts from the types of the releases and the documents of their servers. Types are
 * named without version: `core.PodSpec`.
 */

interface Change<T> {
  readonly since: string
  /** The facts that earlier releases had. */
  readonly before: Partial<T>
}

/** By `type field`. */
export const earlierFields: Readonly<Record<string, Change<FieldFacts>>> = {
  'apps.StatefulSetSpec serviceName': { since: '1.33', before: { optional: false } },
  'core.ReplicationControllerSpec minReadySeconds': { since: '1.33', before: { default: undefined } },
  'core.ReplicationControllerSpec replicas': { since: '1.33', before: { default: undefined } },
}

export const earlierStructs: Readonly<Record<string, Change<TypeFacts>>> = {
  'networking.ServiceBackendPort': { since: '1.31', before: { structType: 'granular' } },
}

/** The release of a value, by `enumeration value`. */
export const earlierEnumerations: Readonly<Record<string, string>> = {
  'core.ResourceQuotaScope VolumeAttributesClass': '1.33',
}

/** The release of a version that no kind of an earlier one belongs to, by `folder/version`. */
export const laterVersions: Readonly<Record<string, string>> = {
  'coordination/v1alpha2': '1.32',
  'resource/v1alpha3': '1.31',
  'resource/v1beta1': '1.32',
  'resource/v1beta2': '1.33',
}
