import type { Handler, ProxyTransport } from '@krmkit/protocol'
import { openExec } from './exec.ts'
import { kubeletTransport } from './kubelet.ts'
import { metricsHandler } from './metrics.ts'
import { metricsService } from './metrics-api.ts'
import { openPortForward } from './port-forward.ts'
import type { NodeSimulation } from './simulation.ts'

/** The parts of the options of an API server that connect it to simulated nodes. */
export interface SimulatedServerOptions {
  /** Connects to the kubelets of simulated nodes; other addresses use the fallback transport. */
  readonly transport: ProxyTransport
  /** The handler of `metrics.k8s.io`, by the name of its service. */
  readonly services: Readonly<Record<string, Handler>>
}

/**
 * Returns the server options that make logs, commands and metrics of simulated pods available.
 *
 * @param fallback transport to all other addresses. Default: none; these addresses are unreachable
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { NodeSimulation, simulatedServerOptions } from '@krmkit/controllers'
 * import { memoryStorage } from '@krmkit/storage'
 * const { transport, services } = simulatedServerOptions(new NodeSimulation({ nodes: 3 }))
 * const server = await createApiServer({ storage: memoryStorage(), proxy: { transport }, aggregation: { services } })
 */
export function simulatedServerOptions(simulation: NodeSimulation, fallback?: ProxyTransport): SimulatedServerOptions {
  return {
    transport: kubeletTransport(simulation, { fallback, streams: { openExec, openPortForward } }),
    services: { [metricsService]: metricsHandler(simulation) },
  }
}
