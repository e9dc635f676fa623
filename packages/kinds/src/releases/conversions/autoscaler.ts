import { type ApiObject, type DeepReadonly, formatApiVersion } from '@krmkit/meta'
import { specFromV1, specToV1, statusFromV1, statusToV1 } from '../../conversions/autoscaling-metrics.ts'
import { behaviorFromText, behaviorToText } from '../../conversions/autoscaling-texts.ts'
import { type ConvertFactory, type Loose, omitUndefined } from '../../conversions/convert.ts'
import type { HorizontalPodAutoscaler } from '../../types/autoscaling-v2.generated.ts'

/**
 * Conversion of autoscalers between `v2beta1`, whose metrics have flat targets, and `v2`. `v2beta1` has no `spec.behavior`: an annotation
 * keeps it.
 *
 * @see API protocol specification, 9.3 (rule 2)
 */
export const v2beta1AutoscalerToV2: ConvertFactory = (to, { domain }) => {
  const name = annotationName(domain)
  return (object) => {
    const { metadata, spec = {}, status = {} } = object as ApiObject & { spec?: Loose; status?: Loose }
    const { [name]: text, ...annotations } = metadata.annotations ?? {}
    return {
      ...(object as ApiObject),
      apiVersion: formatApiVersion(to),
      metadata: text === undefined ? metadata : withAnnotations(metadata, annotations),
      spec: omitUndefined({ ...spec, metrics: changed(spec.metrics, specFromV1), behavior: behaviorFromText(text) }),
      status: omitUndefined({ ...status, currentMetrics: changed(status.currentMetrics, statusFromV1) }),
    } as ApiObject
  }
}

/** The reverse of {@link v2beta1AutoscalerToV2}. */
export const v2AutoscalerToV2beta1: ConvertFactory = (to, { domain }) => {
  const name = annotationName(domain)
  return (object) => {
    const { metadata, spec, status } = object as unknown as DeepReadonly<HorizontalPodAutoscaler>
    const { behavior, metrics, ...others } = spec ?? { behavior: undefined, metrics: undefined }
    const annotations = { ...metadata.annotations, ...(behavior === undefined ? {} : { [name]: behaviorToText(behavior) }) }
    return {
      ...(object as ApiObject),
      apiVersion: formatApiVersion(to),
      metadata: behavior === undefined ? metadata : withAnnotations(metadata as ApiObject['metadata'], annotations),
      spec: omitUndefined({ ...others, metrics: changed(metrics, specToV1) }),
      status: omitUndefined({ ...status, currentMetrics: changed(status?.currentMetrics, statusToV1) }),
    } as unknown as ApiObject
  }
}

function annotationName(domain: string): string {
  return `autoscaling.alpha.${domain}/behavior`
}

function withAnnotations(metadata: ApiObject['metadata'], annotations: Readonly<Record<string, string>>) {
  const { annotations: _, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

function changed<T>(list: unknown, change: (value: T) => unknown): unknown {
  return Array.isArray(list) ? list.map((each) => change(each as T)) : list
}
