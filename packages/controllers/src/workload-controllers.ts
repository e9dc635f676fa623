/**
 * Names of the controllers of workloads, services and volumes, which `*` does not enable, besides `deployment-controller`.
 * With these controllers a server behaves like a cluster, except that pods are neither scheduled nor run.
 *
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { runControllers, workloadControllers } from '@krmkit/controllers'
 * const client = createRemoteClient(await loadKubeconfig())
 * await using running = runControllers({ client, controllers: ['*', ...workloadControllers] })
 */
export const workloadControllers: readonly string[] = [
  'deployment-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'statefulset-controller',
  'daemonset-controller',
  'job-controller',
  'cronjob-controller',
  'ttl-after-finished-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'horizontal-pod-autoscaler-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-expander-controller',
  'volume-simulator',
  'pod-garbage-collector-controller',
  'taint-eviction-controller',
]
