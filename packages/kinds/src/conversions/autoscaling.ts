import { type ApiObject, type DeepReadonly, formatApiVersion, type NamingProfile } from '@krmkit/meta'
import type {
  HorizontalPodAutoscaler as AutoscalerV1,
  HorizontalPodAutoscalerStatus as StatusV1,
} from '../types/autoscaling-v1.generated.ts'
import type { HorizontalPodAutoscaler as AutoscalerV2, MetricSpec, MetricStatus } from '../types/autoscaling-v2.generated.ts'
import { specFromV1, specToV1, statusFromV1, statusToV1 } from './autoscaling-metrics.ts'
import { behaviorFromText, behaviorToText, conditionsFromText, goJson, readText } from './autoscaling-texts.ts'
import { type ConvertFactory, omitUndefined, omitZero } from './convert.ts'

/**
 * Conversion of autoscalers. `v1` has one metric, CPU utilization in percent. Everything else of `v2` is kept in annotations,
 * which a client of `v1` returns unchanged.
 *
 * | `v2` | `v1` |
 * |---|---|
 * | the first metric that is CPU in percent | spec.targetCPUUtilizationPercentage |
 * | the metrics that are not CPU in percent | annotation `metrics` |
 * | spec.behavior | annotation `behavior` |
 * | status.currentMetrics | annotation `current-metrics`, and status.currentCPUUtilizationPercentage |
 * | status.conditions | annotation `conditions` |
 *
 * A malformed annotation counts as absent. The CPU metric comes last when metrics are restored.
 *
 * Of several CPU percentages `v1` keeps the first.
 *
 * @see API protocol specification, 9.3 (rule 2)
 */

/** The percentage that `v1` implies if it names no metric. */
const defaultUtilization = 80

export const autoscalerToV1: ConvertFactory = (to, profile) => {
  const apiVersion = formatApiVersion(to)
  const names = annotationNames(profile)
  return (object) => {
    const { kind, metadata, spec, status } = object as DeepReadonly<AutoscalerV2>
    const metrics = spec?.metrics ?? []
    const shown = metrics.find(isCpuPercentage)
    const others = metrics.filter((metric) => !isCpuPercentage(metric))
    const current = status?.currentMetrics ?? []
    const annotations = {
      ...withoutConversionAnnotations(metadata.annotations, names),
      ...omitUndefined({
        [names.metrics]: others.length === 0 ? undefined : goJson(others.map(specToV1)),
        [names.currentMetrics]: current.length === 0 ? undefined : goJson(current.map(statusToV1)),
        [names.behavior]: spec?.behavior === undefined ? undefined : behaviorToText(spec.behavior),
        [names.conditions]: status?.conditions?.length ? goJson(status.conditions) : undefined,
      }),
    } as Record<string, string>
    return {
      apiVersion,
      kind,
      metadata: withAnnotations(metadata, annotations),
      spec: omitUndefined({
        scaleTargetRef: spec?.scaleTargetRef,
        minReplicas: spec?.minReplicas,
        maxReplicas: spec?.maxReplicas ?? 0,
        targetCPUUtilizationPercentage: shown?.resource?.target.averageUtilization,
      }),
      status: omitUndefined({
        observedGeneration: status?.observedGeneration,
        lastScaleTime: status?.lastScaleTime,
        currentReplicas: status?.currentReplicas ?? 0,
        desiredReplicas: status?.desiredReplicas ?? 0,
        currentCPUUtilizationPercentage: currentCpu(current),
      }),
    } as unknown as ApiObject
  }
}

export const autoscalerToV2: ConvertFactory = (to, profile) => {
  const apiVersion = formatApiVersion(to)
  const names = annotationNames(profile)
  return (object) => {
    const { kind, metadata, spec, status } = object as DeepReadonly<AutoscalerV1>
    const text = (name: string) => metadata.annotations?.[name]
    const target = spec?.targetCPUUtilizationPercentage
    const metrics = [...(readText(text(names.metrics), specFromV1) ?? []), ...(target === undefined ? [] : [cpuMetric(target)])]
    return {
      apiVersion,
      kind,
      metadata: withAnnotations(metadata, withoutConversionAnnotations(metadata.annotations, names)),
      spec: omitUndefined({
        scaleTargetRef: spec?.scaleTargetRef,
        minReplicas: spec?.minReplicas,
        maxReplicas: spec?.maxReplicas ?? 0,
        metrics: metrics.length === 0 ? [cpuMetric(defaultUtilization)] : metrics,
        behavior: behaviorFromText(text(names.behavior)),
      }),
      status: omitUndefined({
        observedGeneration: status?.observedGeneration,
        lastScaleTime: status?.lastScaleTime,
        currentReplicas: omitZero(status?.currentReplicas),
        desiredReplicas: status?.desiredReplicas ?? 0,
        currentMetrics: readText(text(names.currentMetrics), statusFromV1) ?? currentMetrics(status),
        conditions: conditionsFromText(text(names.conditions)),
      }),
    } as unknown as ApiObject
  }
}

interface AnnotationNames {
  readonly metrics: string
  readonly behavior: string
  readonly currentMetrics: string
  readonly conditions: string
}

/** Annotations that hold fields of version 2 in version 1. */
export function autoscalerAnnotations(profile: NamingProfile): readonly string[] {
  return Object.values(annotationNames(profile))
}

function annotationNames({ domain }: NamingProfile): AnnotationNames {
  const prefix = `autoscaling.alpha.${domain}`
  return {
    metrics: `${prefix}/metrics`,
    behavior: `${prefix}/behavior`,
    currentMetrics: `${prefix}/current-metrics`,
    conditions: `${prefix}/conditions`,
  }
}

type Annotations = Readonly<Record<string, string>>

/** The annotations that conversions do not write. */
function withoutConversionAnnotations(annotations: Annotations | undefined, names: AnnotationNames): Record<string, string> {
  const made: readonly string[] = Object.values(names)
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([name]) => !made.includes(name)))
}

/** Sorted by key, as objects are printed; absent if empty. */
function withAnnotations(metadata: DeepReadonly<ApiObject['metadata']>, annotations: Annotations) {
  const { annotations: _, ...rest } = metadata
  const sorted = Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1))
  if (sorted.length === 0) return rest
  return inMemberOrder(metadata, { ...rest, annotations: Object.fromEntries(sorted) })
}

/** Inserts annotations at their position in the member order of the type. */
function inMemberOrder(before: object, after: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if ('annotations' in before) return Object.fromEntries(Object.keys(before).map((name) => [name, after[name]]))
  const { ownerReferences, finalizers, managedFields, annotations, ...first } = after
  return { ...first, annotations, ...omitUndefined({ ownerReferences, finalizers, managedFields }) }
}

function isCpuPercentage({ type, resource }: DeepReadonly<MetricSpec>): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined
}

function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

/** The last metric about CPU wins. */
function currentCpu(metrics: DeepReadonly<MetricStatus[]>): number | undefined {
  return metrics
    .filter(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')
    .map(({ resource }) => resource?.current?.averageUtilization)
    .filter((utilization) => utilization !== undefined)
    .at(-1)
}

function currentMetrics(status: DeepReadonly<StatusV1> | undefined): MetricStatus[] | null {
  const averageUtilization = status?.currentCPUUtilizationPercentage
  return averageUtilization === undefined
    ? null
    : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }]
}
