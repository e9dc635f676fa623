import type { Handler, ProxyTransport } from '@krmkit/protocol'
import { openExec } from './exec.ts'
import { kubeletTransport } from './kubelet.ts'
import { metricsHandler } from './metrics.ts'
import { metricsService } from './metrics-api.ts'
import { openPortForward } from './port-forward.ts'
import type { NodeSimulation } from './simulation.ts'

/** The parts of the options of an API server that connect it to simulated nodes. */
export interface SimulatedServerOptions {
  /** Reaches the kubelets of simulated nodes, and everything else through the given transport. */
  readonly transport: ProxyTransport
  /** The handler of `metrics.k8s.io`, by the name of its service. */
  readonly services: Readonly<Record<string, Handler>>
}

/**
 * Returns how a server reaches simulated nodes: logs, commands and metrics of their pods.
 *
 * @param fallback transport to all other addresses. Default: none, they cannot be reached
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
