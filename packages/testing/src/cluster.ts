import {
  type Controller,
  clusterControllers,
  type DeferredHeartbeats,
  NodeSimulation,
  simulatedServerOptions,
} from '@krmkit/controllers'
import type { Clock } from '@krmkit/meta'
import type { ServerOptions, TestServerOptions } from './interfaces.ts'
import { TestingError } from './testing-error.ts'

/** The simulated nodes of a test server. */

export function createSimulation({ cluster }: TestServerOptions): NodeSimulation | undefined {
  return cluster === undefined ? undefined : new NodeSimulation(cluster)
}

/** The default controllers: without the deployment controller, so that tests can write the status of deployments. */
const defaultControllers = ['*', '-deployment-controller']

/** Returns the controllers to run: with nodes also the scheduler and all workload controllers. */
export function chosenControllers(
  requested: readonly string[] | undefined,
  simulation: NodeSimulation | undefined,
): { readonly controllers: readonly string[]; readonly available?: readonly Controller[] } {
  if (simulation === undefined) return { controllers: requested ?? defaultControllers }
  const { available, names } = clusterControllers(simulation, requested)
  return { controllers: names, available }
}

/** Connects a server to the kubelets and the metrics of simulated nodes. */
export function withSimulation(server: ServerOptions, simulation: NodeSimulation | undefined): ServerOptions {
  if (simulation === undefined) return server
  const { transport, services } = simulatedServerOptions(simulation, server.proxy?.transport)
  return {
    ...server,
    proxy: { ...server.proxy, transport },
    aggregation: { ...server.aggregation, services: { ...server.aggregation?.services, ...services } },
  }
}

/**
 * The heartbeats of simulated nodes, coalesced while time advances unless they are observed.
 *
 * @param clock clock whose timers may fire late
 */
export function deferredHeartbeats(
  simulation: NodeSimulation | undefined,
  clock: Clock,
): { readonly heartbeats?: DeferredHeartbeats } {
  if (simulation === undefined) return {}
  return {
    heartbeats: {
      clock,
      isBeating: (node) => simulation.isBeating(node),
      onEnd: (listener) => simulation.onHeartbeatsEnd(listener),
    },
  }
}

/** @throws TestingError `UnknownNode` */
export function simulationOf(simulation: NodeSimulation | undefined, node: string): NodeSimulation {
  if (simulation?.nodes.includes(node) === true) return simulation
  const known = simulation === undefined ? 'the server has no `cluster`' : `nodes: ${simulation.nodes.join(', ')}`
  throw new TestingError({ code: 'UnknownNode', message: `unknown node ${JSON.stringify(node)}; ${known}` })
}
