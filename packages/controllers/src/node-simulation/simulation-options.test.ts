import { describe, expect, it } from 'vitest'
import type { NodeSimulationOptions } from './interfaces.ts'
import { NodeSimulation } from './simulation.ts'

describe('options of simulated nodes', () => {
  it.each<[object, string]>([
    [{ node: 3 }, 'cluster: unknown member "node"; known: nodes, behaviors, heartbeatMs'],
    [{}, 'nodes: must be a number of nodes, or a list of templates'],
    [{ nodes: -1 }, 'nodes: must be a number of nodes'],
    [{ nodes: '3' }, 'nodes: must be a number of nodes'],
    [{ nodes: [{ label: {} }] }, 'nodes[0]: unknown member "label"; known: name, labels, taints, capacity'],
    [{ nodes: [{}] }, 'nodes[0].name: must be a string'],
    [{ nodes: [{ name: 'a' }, { name: 'a' }] }, 'nodes: the name "a" is repeated'],
    [{ nodes: [{ name: 'a', capacity: { cpu: 'much' } }] }, 'nodes[0].capacity.cpu: '],
    [{ nodes: 1, heartbeatMs: '10s' }, 'cluster.heartbeatMs: must be a number of milliseconds'],
    [{ nodes: 1, behaviors: {} }, 'behaviors: must be a list'],
    [{ nodes: 1, behaviors: [{ readyAfter: 3 }] }, 'behaviors[0]: unknown member "readyAfter"; known: match, startAfterMs'],
    [{ nodes: 1, behaviors: [{}, { readyAfterMs: '3s' }] }, 'behaviors[1].readyAfterMs: must be a number of milliseconds'],
    [{ nodes: 1, behaviors: [{ crashes: 0.5 }] }, 'behaviors[0].crashes: must be an integer from 0'],
    [{ nodes: 1, behaviors: [{ exec: 'echo' }] }, 'behaviors[0].exec: must be a function'],
    [{ nodes: 1, behaviors: [{ usage: { cpu: 'x' } }] }, 'behaviors[0].usage.cpu: '],
    [{ nodes: 1, behaviors: [{ match: { app: 'web' } }] }, 'behaviors[0].match: unknown member "app"; known: namespace, labels'],
    [{ nodes: 1, behaviors: [{ match: { image: 3 } }] }, 'behaviors[0].match.image: must be a string or a regular expression'],
  ])('rejects %o with the path', (options, message) => {
    expect(() => new NodeSimulation(options as NodeSimulationOptions)).toThrow(
      expect.objectContaining({ code: 'InvalidSimulation', message: expect.stringContaining(message) }),
    )
  })

  it('may be absent, functions, or zero', () => {
    const behaviors = [
      { match: { image: /x/, labels: { matchLabels: { a: 'b' } } }, usage: () => ({}), logs: () => '', exitCode: 0 },
    ]
    expect(new NodeSimulation({ nodes: 0, behaviors }).nodes).toEqual([])
    expect(new NodeSimulation({ nodes: [{ name: 'a', capacity: { cpu: '1', 'example.com/gpu': '2' } }] }).nodes).toEqual(['a'])
  })
})
