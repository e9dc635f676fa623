import { describe, expect, it } from 'vitest'
import { parseSimulation } from './simulation-file.ts'

describe('simulation file', () => {
  it('declares behaviours with durations, patterns and selectors', () => {
    const labels = { matchLabels: { app: 'flaky' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a'] }] }
    const behaviors = [
      { match: { imagePattern: '^slow:', namespace: 'shop' }, startAfter: '2s', readyAfter: '1m30s' },
      { match: { labels, container: 'c' }, crashes: 2, exitCode: 1, exitAfter: '500ms' },
      { match: { commandPattern: '^migrate' }, exitAfter: '5s' },
      { match: { commandPattern: '^serve' }, exitAfter: 'never' },
      { match: { name: 'web', image: 'missing:1' }, pullError: 'manifest unknown', stopAfter: '0s' },
      { logs: 'listening\n', usage: { cpu: '250m', memory: '64Mi' } },
    ]
    expect(parseSimulation({ behaviors })).toEqual([
      { match: { image: /^slow:/u, namespace: 'shop' }, startAfterMs: 2000, readyAfterMs: 90_000 },
      { match: { labels, container: 'c' }, crashes: 2, exitCode: 1, exitAfterMs: 500 },
      { match: { command: /^migrate/u }, exitAfterMs: 5000 },
      { match: { command: /^serve/u }, exitAfterMs: Number.POSITIVE_INFINITY },
      { match: { name: 'web', image: 'missing:1' }, pullError: 'manifest unknown', stopAfterMs: 0 },
      { logs: 'listening\n', usage: { cpu: '250m', memory: '64Mi' } },
    ])
  })

  it('turns addresses into port-forward handlers', () => {
    const addresses: string[] = []
    const portForward = () => undefined
    const forwardTo = (address: string) => {
      addresses.push(address)
      return portForward
    }
    const file = { behaviors: [{ portForward: '127.0.0.1:3000' }] }
    expect(parseSimulation(file, { forwardTo })).toEqual([{ portForward }])
    expect(addresses).toEqual(['127.0.0.1:3000'])
    const refuse = () => {
      throw new Error('no address')
    }
    expect(() => parseSimulation(file, { forwardTo: refuse })).toThrow('behaviors[0].portForward: no address')
  })

  it.each([
    [undefined, 'the simulation: must be an object'],
    [{ behaviours: [] }, 'the simulation: unknown member "behaviours"; known: behaviors'],
    [{ behaviors: {} }, 'behaviors: must be a list'],
    [{ behaviors: ['x'] }, 'behaviors[0]: must be an object'],
    [{ behaviors: [{}, { startafter: '2s' }] }, 'behaviors[1]: unknown member "startafter"'],
    [{ behaviors: [{ toString: '2s' }] }, 'behaviors[0]: unknown member "toString"'],
    [{ behaviors: [{ startAfter: 2 }] }, 'behaviors[0].startAfter: must be a string'],
    [{ behaviors: [{ startAfter: 'soon' }] }, 'behaviors[0].startAfter: '],
    [{ behaviors: [{ startAfter: '-1s' }] }, 'behaviors[0].startAfter: must not be negative'],
    [{ behaviors: [{ exitCode: 256 }] }, 'behaviors[0].exitCode: must be an integer from 0 to 255'],
    [{ behaviors: [{ crashes: 1.5 }] }, 'behaviors[0].crashes: must be an integer'],
    [{ behaviors: [{ probe: 'localhost:3000' }] }, 'behaviors[0].probe: "localhost:3000" is not an origin'],
    [{ behaviors: [{ portForward: 'localhost' }] }, 'behaviors[0]: unknown member "portForward"'],
    [{ behaviors: [{ usage: { gpu: '1' } }] }, 'behaviors[0].usage: unknown member "gpu"'],
    [{ behaviors: [{ usage: { cpu: 'much' } }] }, 'behaviors[0].usage.cpu: '],
    [{ behaviors: [{ match: { imagePattern: '(' } }] }, 'behaviors[0].match.imagePattern: '],
    [{ behaviors: [{ match: { name: 'a', namePattern: 'a' } }] }, 'behaviors[0].match.namePattern: must not stand beside name'],
    [{ behaviors: [{ match: { labels: { app: 'a' } } }] }, 'behaviors[0].match.labels: unknown member "app"'],
    [
      { behaviors: [{ match: { labels: { matchExpressions: [{ key: 'a', operator: 'Like' }] } } }] },
      'behaviors[0].match.labels: ',
    ],
  ])('rejects %j and names the member', (file, message) => {
    expect(() => parseSimulation(file)).toThrow(
      expect.objectContaining({ code: 'InvalidSimulation', message: expect.stringContaining(message) }),
    )
  })
})
