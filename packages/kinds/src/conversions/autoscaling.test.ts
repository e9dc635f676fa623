import { readFileSync } from 'node:fs'
import { type ApiObject, createNamingProfile } from '@krmkit/meta'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversionBetween } from './index.ts'

const gvk = (version: string) => ({ group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' })
const toV1 = conversionBetween(gvk('v2'), gvk('v1'))
const toV2 = conversionBetween(gvk('v1'), gvk('v2'))

interface Vector {
  readonly name: string
  readonly only: 'v1 to v2' | null
  readonly v1: ApiObject
  readonly v2: ApiObject
}

const vectors = JSON.parse(readFileSync(new URL('../../testdata/autoscaling.json', import.meta.url), 'utf8')) as Vector[]

describe('autoscalers', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('%s [P331]', (_, { only, v1, v2 }) => {
    expect(JSON.stringify(toV2(v1))).toBe(JSON.stringify(v2))
    if (only === null) expect(JSON.stringify(toV1(v2))).toBe(JSON.stringify(v1))
  })

  const spec = (metrics: object[]) => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { maxReplicas: 1, metrics },
  })
  const cpu = (averageUtilization: number) => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  })

  it('shows the first CPU percentage as the target, and no other one', () => {
    const shown = toV1(spec([cpu(10), cpu(20)]))
    expect(shown).toMatchObject({ metadata: { name: 'h' }, spec: { targetCPUUtilizationPercentage: 10 } })
    expect(shown.metadata).not.toHaveProperty('annotations')
  })

  it('puts an Object metric by average value back with the value zero', () => {
    const target = { type: 'AverageValue', averageValue: '5' }
    const metric = { type: 'Object', object: { describedObject: { kind: 'S', name: 'x' }, target, metric: { name: 'm' } } }
    const back = { ...metric, object: { ...metric.object, target: { ...target, value: '0' } } }
    expect(toV2(toV1(spec([metric])))).toMatchObject({ spec: { metrics: [back] } })
  })

  it('restores every v2 autoscaler, with the CPU metric last [P331]', () => {
    fc.assert(
      fc.property(autoscaler, (object) => {
        const before = JSON.stringify(object)
        const back = toV2(toV1(object)) as typeof object
        expect(JSON.stringify(object)).toBe(before)
        expect({ ...back, spec: { ...back.spec, metrics: byText(back.spec.metrics) } }).toEqual({
          ...object,
          spec: { ...object.spec, metrics: byText(keptByV1(object.spec.metrics as Metric[])) },
        })
        expect(toV1(back)).toEqual(toV1(toV2(toV1(back))))
      }),
      { seed: 331, numRuns: Number(process.env['ROUND_TRIPS'] ?? 100) },
    )
  })

  it('never throws, whatever the annotations hold', () => {
    const names = ['metrics', 'behavior', 'current-metrics', 'conditions'].map(
      (name) => `autoscaling.alpha.kubernetes.io/${name}`,
    )
    const text = fc.oneof(
      fc.json(),
      fc.string(),
      fc.array(fc.record({ type: fc.jsonValue(), resource: fc.jsonValue() })).map((v) => JSON.stringify(v)),
    )
    fc.assert(
      fc.property(fc.tuple(text, text, text, text), (texts) => {
        const annotations = Object.fromEntries(names.map((name, i) => [name, texts[i]!]))
        const converted = toV2({
          apiVersion: 'autoscaling/v1',
          kind: 'HorizontalPodAutoscaler',
          metadata: { annotations },
          spec: { maxReplicas: 1 },
        })
        expect(converted.metadata).toEqual({})
        toV1(converted)
      }),
      { seed: 332 },
    )
  })

  it('names annotations after the profile', () => {
    const profile = createNamingProfile({ domain: 'cluster.example' })
    const object = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: {}, spec: { behavior: {} } }
    const annotations = conversionBetween(gvk('v2'), gvk('v1'), profile)(object).metadata.annotations
    expect(Object.keys(annotations!)).toEqual(['autoscaling.alpha.cluster.example/behavior'])
  })
})

interface Metric {
  readonly resource?: { readonly name: string; readonly target: { readonly averageUtilization?: number } }
  readonly object?: { readonly target: { readonly type: string } }
}

/** Without the CPU percentages after the first; with the zero of Object metrics by average value. */
function keptByV1(metrics: readonly Metric[]): unknown[] {
  const isPercentage = ({ resource }: Metric) => resource?.name === 'cpu' && resource.target.averageUtilization !== undefined
  const first = metrics.find(isPercentage)
  const kept = metrics.filter((metric) => metric === first || !isPercentage(metric))
  return kept.map((metric) => {
    if (metric.object?.target.type !== 'AverageValue') return metric
    const { type, ...rest } = metric.object.target
    return { ...metric, object: { ...metric.object, target: { type, value: '0', ...rest } } }
  })
}

function byText(metrics: readonly unknown[]): string[] {
  return metrics.map((metric) => JSON.stringify(metric)).sort()
}

const quantity = fc.constantFrom('1', '10m', '2Gi', '500', '3k')
const name = fc.constantFrom('memory', 'queue', 'x/y')
const selector = fc.record({ matchLabels: fc.dictionary(fc.constantFrom('a', 'b'), fc.string()) }, { requiredKeys: [] })
const metricName = fc.record({ name, selector }, { requiredKeys: ['name'] })
const reference = fc.record({ kind: name, name, apiVersion: fc.constant('v1') }, { requiredKeys: ['kind', 'name'] })
const value = quantity.map((text) => ({ type: 'Value', value: text }))
const averageValue = quantity.map((text) => ({ type: 'AverageValue', averageValue: text }))
const utilization = fc.nat(100).map((averageUtilization) => ({ type: 'Utilization', averageUtilization }))
const usage = fc.oneof(averageValue, utilization)

const metricSpec = fc.oneof(
  fc.record({ name, target: usage }).map((resource) => ({ type: 'Resource', resource })),
  averageValue.map((target) => ({ type: 'Resource', resource: { name: 'cpu', target } })),
  utilization.map((target) => ({ type: 'Resource', resource: { name: 'cpu', target } })),
  fc
    .record({ name, target: usage, container: name })
    .map((containerResource) => ({ type: 'ContainerResource', containerResource })),
  fc.record({ metric: metricName, target: averageValue }).map((pods) => ({ type: 'Pods', pods })),
  fc
    .record({ describedObject: reference, target: fc.oneof(value, averageValue), metric: metricName })
    .map((object) => ({ type: 'Object', object })),
  fc.record({ metric: metricName, target: fc.oneof(value, averageValue) }).map((external) => ({ type: 'External', external })),
)
const current = fc.oneof(
  fc.record({ value: quantity }),
  fc.record({ averageValue: quantity }),
  fc.record({ value: quantity, averageValue: quantity }),
)
const usageNow = fc.record({ averageValue: quantity, averageUtilization: fc.nat(100) }, { requiredKeys: ['averageValue'] })
const metricStatus = fc.oneof(
  fc.record({ name: fc.constantFrom('cpu', 'memory'), current: usageNow }).map((resource) => ({ type: 'Resource', resource })),
  fc
    .record({ name, current: usageNow, container: name })
    .map((containerResource) => ({ type: 'ContainerResource', containerResource })),
  fc.record({ metric: metricName, current: fc.record({ averageValue: quantity }) }).map((pods) => ({ type: 'Pods', pods })),
  fc.record({ metric: metricName, current, describedObject: reference }).map((object) => ({ type: 'Object', object })),
  fc.record({ metric: metricName, current }).map((external) => ({ type: 'External', external })),
)
const rules = fc.record(
  {
    stabilizationWindowSeconds: fc.nat(3600),
    selectPolicy: fc.constantFrom('Max', 'Min', 'Disabled'),
    policies: fc.array(fc.record({ type: fc.constantFrom('Pods', 'Percent'), value: fc.nat(), periodSeconds: fc.nat(1800) })),
    tolerance: quantity,
  },
  { requiredKeys: [] },
)
const behavior = fc.oneof(
  fc.record({ scaleUp: rules }),
  fc.record({ scaleDown: rules }),
  fc.record({ scaleUp: rules, scaleDown: rules }),
)
const condition = fc.record(
  {
    type: name,
    status: name,
    lastTransitionTime: fc.constantFrom(null, '2024-05-01T10:00:00Z'),
    reason: fc.string({ minLength: 1 }),
  },
  { requiredKeys: ['type', 'status', 'lastTransitionTime'] },
)
const autoscaler = fc
  .record({
    metrics: fc.array(metricSpec, { minLength: 1, maxLength: 5 }),
    behavior: fc.option(behavior, { nil: undefined }),
    currentMetrics: fc.array(metricStatus, { maxLength: 4 }),
    conditions: fc.array(condition, { maxLength: 3 }),
    replicas: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ metrics, behavior, currentMetrics, conditions, replicas }) => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h', annotations: { other: 'kept' } },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      minReplicas: 1,
      maxReplicas: 9,
      metrics: metrics as unknown[],
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: {
      currentReplicas: replicas,
      desiredReplicas: 0,
      currentMetrics: currentMetrics.length === 0 ? null : currentMetrics,
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  }))
