import type { EmbeddedServer } from '@krmkit/apiserver'
import { createInProcessClient } from '@krmkit/client'
import { clusterControllers, NodeSimulation, runControllers, simulatedServerOptions } from '@krmkit/controllers'
import type { ProxyTransport } from '@krmkit/protocol'

/** Simulated nodes with the controllers that give them work. Loaded when the page asks for nodes. */

export interface Nodes extends AsyncDisposable {
  /** Reaches the kubelets of the nodes, for logs. */
  readonly transport: ProxyTransport
}

const controllerManager = { username: 'system:kube-controller-manager', groups: ['system:masters', 'system:authenticated'] }

/** Adds nodes to a server, and runs all controllers of a cluster. */
export function startNodes(server: EmbeddedServer, count: number): Nodes {
  const simulation = new NodeSimulation({ nodes: count })
  const { available, names } = clusterControllers(simulation)
  const client = createInProcessClient(server, { user: controllerManager })
  const running = runControllers({ client, controllers: names, available })
  const { transport } = simulatedServerOptions(simulation)
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await running.close()
      await client.close()
    },
  }
}
