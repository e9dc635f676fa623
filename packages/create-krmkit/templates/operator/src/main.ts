import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { runControllers } from '@krmkit/controllers'
import { websiteOperator } from './operator.ts'

/** Runs the operator in the cluster of the current kubeconfig context. */

await using client = createRemoteClient(await loadKubeconfig())
await using running = runControllers({
  client,
  available: [websiteOperator],
  fieldManager: 'website-operator',
  onError: console.error,
})
console.log(`running: ${running.names.join(', ')}`)
await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
})
