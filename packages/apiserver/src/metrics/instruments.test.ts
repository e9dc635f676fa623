import * as prometheus from 'prom-client'
import { describe, expect, it } from 'vitest'
import { Instruments } from './instruments.ts'

/** The lines of all series, sorted, with their labels sorted by name. */
function series(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) =>
      line.replace(
        /\{(.*)\}/,
        (_, labels: string) =>
          `{${labels
            .split(/,(?=\w+=")/)
            .sort()
            .join(',')}}`,
      ),
    )
    .sort()
}

describe('Instruments', () => {
  it('prints the same text as prom-client', async () => {
    const instruments = new Instruments()
    const registers = [new prometheus.Registry()]
    const labelNames = ['b', 'a']
    const counters = [
      instruments.counter({ name: 'c', help: 'C.', labelNames }),
      new prometheus.Counter({ name: 'c', help: 'C.', labelNames, registers }),
    ]
    const gauges = [
      instruments.gauge({ name: 'g', help: 'G.', labelNames }),
      new prometheus.Gauge({ name: 'g', help: 'G.', labelNames, registers }),
    ]
    const buckets = [0.1, 1, 5]
    const histograms = [
      instruments.histogram({ name: 'h', help: 'H.', labelNames, buckets }),
      new prometheus.Histogram({ name: 'h', help: 'H.', labelNames, buckets, registers }),
    ]
    instruments.counter({ name: 'plain', help: 'Plain.' })
    new prometheus.Counter({ name: 'plain', help: 'Plain.', registers })
    const all = [{ a: 'x', b: 1 }, { b: 1 }, { a: '', b: 'quote " slash \\ line\n' }, { a: 'x' }, {}]
    for (const labels of all) {
      for (const counter of counters) {
        counter.inc(labels)
        counter.inc(labels, 2.5)
      }
      for (const gauge of gauges) for (const value of [1e21, -0.5, Number.POSITIVE_INFINITY]) gauge.set(labels, value)
      for (const histogram of histograms) for (const value of [0, 0.1, 0.2, 7]) histogram.observe(labels, value)
    }
    for (const gauge of gauges) gauge.remove({ a: 'x' })
    const expected = await registers[0]!.metrics()
    expect(series([...instruments.texts()].join(''))).toEqual(series(expected))
    expect(series(expected)).toContain('c{a="x",b="1"} 3.5')
    expect([...instruments.texts()].join('')).toMatch(/^# HELP c C\.\n# TYPE c counter\nc\{a="x",b="1"\} 3\.5\n/)
  })

  it('distinguishes series whose concatenated label values are equal', () => {
    const instruments = new Instruments()
    const counter = instruments.counter({ name: 'c', help: 'C.', labelNames: ['a', 'b'] })
    counter.inc({ a: '1:x', b: '' })
    counter.inc({ a: '', b: '1:x' })
    counter.inc({ a: '-', b: 'x' })
    counter.inc({ b: 'x' })
    expect([...counter.samples()].map(({ value }) => value)).toEqual([1, 1, 1, 1])
  })

  it('collects gauges when they are read, and increments a bound series', () => {
    const instruments = new Instruments()
    let reads = 0
    instruments.gauge({ name: 'g', help: 'G.', collect: (gauge) => gauge.set({}, ++reads) })
    const counter = instruments.counter({ name: 'c', help: 'C.', labelNames: ['a'] })
    const bound = counter.labels({ a: 'x' })
    bound.inc()
    bound.inc()
    const values = () => [...instruments.texts()].filter((text) => !text.startsWith('#'))
    expect(values()).toEqual(['g 1\n', 'c{a="x"} 2\n'])
    expect(values()).toEqual(['g 2\n', 'c{a="x"} 2\n'])
  })

  it('refuses a second metric of a name, and labels that a metric does not have', () => {
    const instruments = new Instruments()
    const counter = instruments.counter({ name: 'c', help: 'C.', labelNames: ['a'] })
    expect(() => instruments.gauge({ name: 'c', help: 'C.' })).toThrow('a metric named c is registered already')
    expect(() => counter.inc({ b: 'x' })).toThrow('the metric has no label b')
  })
})
