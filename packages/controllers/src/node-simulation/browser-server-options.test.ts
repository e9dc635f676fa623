import type { ProxiedRequest } from '@krmkit/protocol'
import { expect, it } from 'vitest'
import { simulatedServerOptions } from './browser-server-options.ts'
import type { NodeSimulation } from './simulation.ts'

/** A node with one running container. */
const simulation = {
  nodes: ['node-1'],
  addressOf: () => '10.0.0.1',
  isFailed: () => false,
  nowMs: () => 0,
  find: () => ({ pod: { metadata: { name: 'web' } }, runtime: { all: [{ name: 'main', isRunning: true }] } }),
} as unknown as NodeSimulation

it.each(['exec/default/web/main', 'attach/default/web/main', 'portForward/default/web'])(
  'browser kubelets respond to %s with 501',
  async (path) => {
    const { transport } = simulatedServerOptions(simulation)
    const request = { method: 'POST', path: `/${path}`, headers: {}, signal: new AbortController().signal }
    const response = await transport.open({ origin: 'https://node-1:10250' }).send(request as unknown as ProxiedRequest)
    expect(response.status).toBe(501)
  },
)
