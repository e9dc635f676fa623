import { bootstrapTokenLifeMs } from '@krmkit/certificates/bootstrap'
import { secrets, tokenSecrets } from '../bootstrap-signer/bootstrap-objects.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'

/**
 * Deletes bootstrap tokens when they expire, and those with an invalid expiration. Tokens are identified by the type of the Secret,
 * not by its name.
 *
 * @see API protocol specification, 5.7
 */
export const tokenCleaner: Controller = {
  name: 'token-cleaner-controller',
  isDefault: false,
  start(context) {
    const { client, clock, profile, signal } = context
    const namespace = profile.systemNamespace
    const tokens = tokenSecrets(context)
    const work = context.queue<string>({
      async sync(name) {
        const secret = tokens.get(name, namespace)
        if (secret === undefined) return undefined
        const lifeMs = bootstrapTokenLifeMs(secret, clock.now())
        if (lifeMs > 0) return Number.isFinite(lifeMs) ? { requeueAfterMs: lifeMs } : undefined
        const { uid } = secret.metadata
        const preconditions = uid === undefined ? {} : { preconditions: { uid } }
        await ignoreNotFound(client.delete(secrets, name, { namespace, signal, ...preconditions }))
        return undefined
      },
    })
    const enqueue = ({ metadata }: { readonly metadata: { readonly name?: string } }) => work.add(metadata.name ?? '')
    const unsubscribe = tokens.on({ added: enqueue, updated: enqueue })
    return disposeSubscriptions([unsubscribe])
  },
}
