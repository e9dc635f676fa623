import { bootstrapTokenLifeMs, clusterInfoName, signClusterInfo, signingTokenOf } from '@krmkit/certificates'
import { ApiError, type DeepReadonly } from '@krmkit/meta'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { type ClusterInfo, clusterInfo, configMaps, type TokenSecret, tokenSecrets } from './bootstrap-objects.ts'

/**
 * Signs the kubeconfig in ConfigMap `cluster-info` of the public namespace with every bootstrap token that is for that, so
 * that whoever has such a token can believe it. Signatures of tokens that are gone, expired or malformed go.
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
          void Promise.all([tokens.synced, published.synced]).then(look, () => undefined)
          return undefined
        }
        const found = published.get(clusterInfoName, context.profile.publicNamespace)
        return found === undefined ? undefined : sign(context, found, tokens.list())
      },
    })
    const look = () => work.add('sign')
    const leaves = [tokens.on({ added: look, updated: look, deleted: look }), published.on({ added: look, updated: look })]
    return {
      async [Symbol.asyncDispose]() {
        for (const leave of leaves) leave()
      },
    }
  },
}

/** Comes again when the first of the tokens that have signed expires. */
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
    await unlessOvertaken(client.update(configMaps, signed, { fieldManager, signal }))
  }
  const againAfterMs = Math.min(...signing.map(({ lifeMs }) => lifeMs))
  return Number.isFinite(againAfterMs) ? { againAfterMs } : undefined
}

/** Somebody else has written or removed it: that will be told by an event of its own. */
async function unlessOvertaken(writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!ApiError.is(error) || (error.reason !== 'Conflict' && error.reason !== 'NotFound')) throw error
  }
}
