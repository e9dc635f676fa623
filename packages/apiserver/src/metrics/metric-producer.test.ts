import { runAtOnce } from '@krmkit/base/work'
import { fakeClock } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { createApiServer } from '../server/server.ts'
import { readMetricFamilies } from './metric-families.ts'
import { createMetricProducer } from './metric-producer.ts'

describe('createMetricProducer', () => {
  it('counts from its creation on, on the clock that it is given', async () => {
    const clock = fakeClock(1500)
    const text = '# HELP a A.\n# TYPE a counter\na 1\n# HELP b B.\n# TYPE b gauge\nb{x="y"} -Inf\n'
    const producer = createMetricProducer({ metricsText: async () => text }, { clock })
    clock.advance(1000)
    const { resourceMetrics, errors } = await producer.collect()
    const times = { startTime: [1, 500_000_000], endTime: [2, 500_000_000] }
    expect(errors).toEqual([])
    expect(resourceMetrics.scopeMetrics).toEqual([
      {
        scope: { name: 'krmkit' },
        metrics: [
          {
            descriptor: { name: 'a', description: 'A.', unit: '', valueType: 1 },
            aggregationTemporality: 1,
            ...{ dataPointType: 3, isMonotonic: true, dataPoints: [{ ...times, attributes: {}, value: 1 }] },
          },
          {
            descriptor: { name: 'b', description: 'B.', unit: '', valueType: 1 },
            aggregationTemporality: 1,
            ...{ dataPointType: 2, dataPoints: [{ ...times, attributes: { x: 'y' }, value: Number.NEGATIVE_INFINITY }] },
          },
        ],
      },
    ])
    const other = { attributes: {} }
    expect(resourceMetrics.resource.merge(other)).toBe(other)
    expect(resourceMetrics.resource.getRawAttributes()).toEqual([])
  })
})

describe('readMetricFamilies', () => {
  it('reads labels with every character, and leaves out other types and lines', () => {
    const text =
      '# HELP a A {x="1"} 2\n# TYPE a gauge\na{v="}, {w=\\"1\\" \\\\ \\n"} 2.5e-7\n\n# TYPE b summary\nb 1\n# a comment\nc 1'
    expect(runAtOnce(readMetricFamilies(text))).toEqual([
      { name: 'a', help: 'A {x="1"} 2', type: 'gauge', points: [{ labels: { v: '}, {w="1" \\ \n' }, value: 2.5e-7 }] },
    ])
  })

  it('reads every series of a server', async () => {
    await using server = await createApiServer({ storage: memoryStorage(), flowControl: true, bootstrapRoles: true })
    const text = await server.metricsText()
    const families = runAtOnce(readMetricFamilies(text))
    expect(families.map(({ name }) => name)).toEqual([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const histograms = families.filter(({ type }) => type === 'histogram')
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !/_bucket\{|_sum[ {]/.test(line))
    expect(families.reduce((sum, { points }) => sum + points.length, 0)).toBe(lines.length)
    expect(histograms.length).toBeGreaterThan(1)
  })
})
