import { describe, expect, it } from 'vitest'
import { annotationProblems, behaviorOf } from './behavior.ts'
import type { ReadonlyPod } from './objects.ts'
import { PodRuntime } from './pod-runtime.ts'

const container = { name: 'c', image: 'web' }

function podWith(annotations: Readonly<Record<string, string>>): ReadonlyPod {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`simulation.krmkit.dev/${name}`, value] as const)
  const metadata = { name: 'web', namespace: 'default', uid: 'u', annotations: Object.fromEntries(prefixed) }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container] } }
}

describe('the annotations of a pod', () => {
  it('are parsed', () => {
    const pod = podWith({ 'start-after': '2s', 'exit-after': 'never', 'exit-code': '3', crashes: '2', logs: 'text' })
    const expected = { startAfterMs: 2000, exitAfterMs: Number.POSITIVE_INFINITY, exitCode: 3, crashes: 2, logs: 'text' }
    expect(behaviorOf(pod, container, [])).toEqual(expected)
    expect(annotationProblems(pod)).toEqual([])
  })

  it.each([
    ['start-after', 'garbage'],
    ['ready-after', ''],
    ['stop-after', '-5s'],
    ['exit-after', 'Infinity'],
    ['exit-code', '99999999999999999999'],
    ['exit-code', '1.5'],
    ['crashes', '-1'],
  ])('are ignored with an event when they are invalid: %s %j', (name, value) => {
    const pod = podWith({ [name]: value })
    expect(behaviorOf(pod, container, [])).toEqual({})
    const random = { bytes: (length: number) => new Uint8Array(length), uuid: () => '', number: () => 0 }
    const options = { behaviors: [], random: random as never, podIP: '10.0.0.1', hostIP: '10.0.0.2', nowMs: 0 }
    const runtime = new PodRuntime(pod, options)
    for (let i = 0; i < 3; i++) runtime.advance(pod, 0)
    expect(runtime.all[0]?.isRunning).toBe(true)
    const warnings = runtime.events.filter(({ type }) => type === 'Warning')
    expect(warnings).toEqual([
      {
        type: 'Warning',
        reason: 'InvalidAnnotation',
        message: expect.stringContaining(
          `annotation simulation.krmkit.dev/${name} is ignored: invalid value ${JSON.stringify(value)}`,
        ),
      },
    ])
  })

  it('have long values truncated in events', () => {
    expect(annotationProblems(podWith({ 'start-after': 'x'.repeat(100_000) }))[0]?.length).toBeLessThan(1000)
  })
})
