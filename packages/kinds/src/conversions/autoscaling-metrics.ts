import type { DeepReadonly } from '@krmkit/meta'
import type { MetricSpec, MetricStatus } from '../types/autoscaling-v2.generated.ts'
import {
  type Loose,
  list,
  object,
  optionalInteger,
  optionalObject,
  optionalQuantity,
  optionalText,
  text,
} from './autoscaling-texts.ts'
import { omitUndefined } from './convert.ts'

/**
 * Metrics in the form of the annotations of `autoscaling/v1`: targets and values are flat, beside the name of the metric.
 *
 * `v1` always prints certain quantities, as `0` when unset. On the way back a zero counts as unset in a status that has another value,
 * but not in a target: as on kube-apiserver, validation then refuses the value of an Object metric that has an average.
 */

export function specToV1({ type, ...spec }: DeepReadonly<MetricSpec>): Loose {
  const { object, pods, resource, containerResource, external } = spec
  return omitUndefined({
    type,
    object:
      object &&
      omitUndefined({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    pods:
      pods &&
      omitUndefined({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? '0',
        selector: pods.metric.selector,
      }),
    resource: resource && usageToV1(resource),
    containerResource: containerResource && { ...usageToV1(containerResource), container: containerResource.container },
    external:
      external &&
      omitUndefined({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  })
}

/** @throws MalformedText when a member has the wrong type. */
export function specFromV1(value: unknown): MetricSpec {
  const from = object(value)
  const of = (name: string, read: (source: Loose) => Loose) => {
    const source = optionalObject(from[name])
    return source && read(source)
  }
  return omitUndefined({
    type: text(from.type),
    object: of('object', (source) => {
      const average = optionalQuantity(source.averageValue)
      return {
        describedObject: reference(source.target),
        target: omitUndefined({
          type: average === undefined ? 'Value' : 'AverageValue',
          value: optionalQuantity(source.targetValue) ?? '0',
          averageValue: average,
        }),
        metric: metric(source.metricName, source.selector),
      }
    }),
    pods: of('pods', (source) => ({
      metric: metric(source.metricName, source.selector),
      target: { type: 'AverageValue', averageValue: optionalQuantity(source.targetAverageValue) ?? '0' },
    })),
    resource: of('resource', usageFromV1),
    containerResource: of('containerResource', (source) => ({ ...usageFromV1(source), container: text(source.container) })),
    external: of('external', (source) => {
      const value = optionalQuantity(source.targetValue)
      return {
        metric: metric(source.metricName, source.metricSelector),
        target: omitUndefined({
          type: value === undefined ? 'AverageValue' : 'Value',
          value,
          averageValue: optionalQuantity(source.targetAverageValue),
        }),
      }
    }),
  }) as unknown as MetricSpec
}

export function statusToV1({ type, ...status }: DeepReadonly<MetricStatus>): Loose {
  const { object, pods, resource, containerResource, external } = status
  return omitUndefined({
    type,
    object:
      object &&
      omitUndefined({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    pods:
      pods &&
      omitUndefined({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        selector: pods.metric.selector,
      }),
    resource: resource && currentToV1(resource),
    containerResource: containerResource && { ...currentToV1(containerResource), container: containerResource.container },
    external:
      external &&
      omitUndefined({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? '0',
        currentAverageValue: external.current.averageValue,
      }),
  })
}

/** @throws MalformedText when a member has the wrong type. */
export function statusFromV1(value: unknown): MetricStatus {
  const from = object(value)
  const of = (name: string, read: (source: Loose) => Loose) => {
    const source = optionalObject(from[name])
    return source && read(source)
  }
  const valueAndAverage = (value: unknown, average: unknown) => {
    const averageValue = optionalQuantity(average)
    return omitUndefined({ value: unlessPrintedZero(optionalQuantity(value) ?? '0', averageValue), averageValue })
  }
  return omitUndefined({
    type: text(from.type),
    object: of('object', (source) => ({
      metric: metric(source.metricName, source.selector),
      current: valueAndAverage(source.currentValue, source.averageValue),
      describedObject: reference(source.target),
    })),
    pods: of('pods', (source) => ({
      metric: metric(source.metricName, source.selector),
      current: { averageValue: optionalQuantity(source.currentAverageValue) ?? '0' },
    })),
    resource: of('resource', currentFromV1),
    containerResource: of('containerResource', (source) => ({ ...currentFromV1(source), container: text(source.container) })),
    external: of('external', (source) => ({
      metric: metric(source.metricName, source.metricSelector),
      current: valueAndAverage(source.currentValue, source.currentAverageValue),
    })),
  }) as unknown as MetricStatus
}

function usageToV1({ name, target }: DeepReadonly<NonNullable<MetricSpec['resource']>>): Loose {
  return omitUndefined({ name, targetAverageUtilization: target.averageUtilization, targetAverageValue: target.averageValue })
}

function usageFromV1(source: Loose): Loose {
  const averageUtilization = optionalInteger(source.targetAverageUtilization)
  const type = averageUtilization === undefined ? 'AverageValue' : 'Utilization'
  const averageValue = optionalQuantity(source.targetAverageValue)
  return { name: text(source.name), target: omitUndefined({ type, averageValue, averageUtilization }) }
}

function currentToV1({ name, current }: DeepReadonly<NonNullable<MetricStatus['resource']>>): Loose {
  return omitUndefined({
    name,
    currentAverageUtilization: current.averageUtilization,
    currentAverageValue: current.averageValue ?? '0',
  })
}

function currentFromV1(source: Loose): Loose {
  return {
    name: text(source.name),
    current: omitUndefined({
      averageValue: optionalQuantity(source.currentAverageValue) ?? '0',
      averageUtilization: optionalInteger(source.currentAverageUtilization),
    }),
  }
}

function metric(name: unknown, selector: unknown): Loose {
  return omitUndefined({ name: text(name), selector: labelSelector(selector) })
}

function labelSelector(value: unknown): Loose | undefined {
  const selector = optionalObject(value)
  if (selector === undefined) return undefined
  const labels = optionalObject(selector.matchLabels)
  const expressions = selector.matchExpressions === undefined ? undefined : list(selector.matchExpressions)
  return omitUndefined({
    matchLabels: labels && Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, text(label)])),
    matchExpressions: expressions?.map((each) => {
      const { key, operator, values } = object(each)
      return omitUndefined({
        key: text(key),
        operator: text(operator),
        values: values === undefined ? undefined : list(values).map(text),
      })
    }),
  })
}

function reference(value: unknown): Loose {
  const { kind, name, apiVersion } = optionalObject(value) ?? {}
  return omitUndefined({ kind: text(kind), name: text(name), apiVersion: optionalText(apiVersion) })
}

/** `v1` prints a missing value as zero, beside another value. */
function unlessPrintedZero(value: string, other: string | undefined): string | undefined {
  return value === '0' && other !== undefined ? undefined : value
}
