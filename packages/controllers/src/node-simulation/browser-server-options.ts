import type { ProxyTransport } from '@krmkit/protocol'
import { kubeletTransport } from './kubelet.ts'
import { metricsHandler } from './metrics.ts'
import { metricsService } from './metrics-api.ts'
import type { SimulatedServerOptions } from './server-options.ts'
import type { NodeSimulation } from './simulation.ts'

/**
 * `simulatedServerOptions` of the entry point for browsers: kubelets respond to `exec`, `attach` and `port-forward` with
 * 501.
 *
 * @see {@link NodeSimulation}
 */
export function simulatedServerOptions(simulation: NodeSimulation, fallback?: ProxyTransport): SimulatedServerOptions {
  return {
    transport: kubeletTransport(simulation, { fallback }),
    services: { [metricsService]: metricsHandler(simulation) },
  }
}
