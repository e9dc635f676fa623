import { bootstrapTokenLifeMs, clusterInfoName, signClusterInfo, signingTokenOf } from '@krmkit/certificates/bootstrap'
import type { DeepReadonly } from '@krmkit/meta'
import { ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type ClusterInfo, clusterInfo, configMaps, type TokenSecret, tokenSecrets } from './bootstrap-objects.ts'

/**
 * Signs the kubeconfig in ConfigMap `cluster-info` of the public namespace with every bootstrap token for signing, so that holders
 * of a token can verify it. Removes the signatures of missing, expired and malformed tokens.
 *
 * @see API protocol specification, 2.11 and 5.7
 */
export const bootstrapSigner: Controller = {
  name: 'bootstrap-signer-controller',
  isDefault: false,
  start(context) {
    const tokens = tokenSecrets(context)
    const published = clusterInfo(context)
    const work = context.queue<'sign'>({
      async sync() {
        if (!tokens.hasSynced || !published.hasSynced) {
          void Promise.all([tokens.synced, published.synced]).then(enqueue, () => undefined)
          return undefined
        }
        const found = published.get(clusterInfoName, context.profile.publicNamespace)
        return found === undefined ? undefined : sign(context, found, tokens.list())
      },
    })
    const enqueue = () => work.add('sign')
    const subscriptions = [
      tokens.on({ added: enqueue, updated: enqueue, deleted: enqueue }),
      published.on({ added: enqueue, updated: enqueue }),
    ]
    return disposeSubscriptions(subscriptions)
  },
}

/** Updates the signatures. @returns a delay until the first signing token expires */
async function sign(
  { client, clock, fieldManager, bootstrapSigningKey: key, signal }: ControllerContext,
  found: DeepReadonly<ClusterInfo>,
  secrets: readonly DeepReadonly<TokenSecret>[],
): Promise<RequeueAfter | undefined> {
  const now = clock.now()
  const signing = secrets.flatMap((secret) => {
    const token = signingTokenOf(secret, now)
    return token === undefined ? [] : [{ token, lifeMs: bootstrapTokenLifeMs(secret, now) }]
  })
  const data = await signClusterInfo(
    found.data ?? {},
    signing.map(({ token }) => token),
    { key },
  )
  if (data !== undefined) {
    const signed = { ...(found as ClusterInfo), data }
    // A conflicting change causes another event.
    await ignoreReasons(client.update(configMaps, signed, { fieldManager, signal }), ['Conflict', 'NotFound'])
  }
  const requeueAfterMs = Math.min(...signing.map(({ lifeMs }) => lifeMs))
  return Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : undefined
}
