import { resourceType } from '@krmkit/client'
import { ignoreCreateConflict } from './framework/api-errors.ts'
import { disposeSubscriptions } from './framework/subscriptions.ts'
import type { Controller } from './interfaces.ts'
import { namespaces } from './namespace/namespace-controller.ts'

const serviceAccounts = resourceType({ group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount' })
const defaultName = 'default'

/** Maintains the service account `default` in every namespace that is not terminating. */
export const serviceAccountController: Controller = {
  name: 'serviceaccount-controller',
  start({ client, informers, fieldManager, signal, queue }) {
    const known = informers.of(namespaces)
    const accounts = informers.metadataOf(serviceAccounts)
    const work = queue<string>({
      async sync(namespace) {
        if (!accounts.hasSynced) {
          work.addAfterSync(namespace, accounts.synced)
          return undefined
        }
        const found = known.get(namespace)
        if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
        if (accounts.get(defaultName, namespace) !== undefined) return undefined
        const account = { metadata: { name: defaultName, namespace } }
        await ignoreCreateConflict(client.create(serviceAccounts, account, { fieldManager, signal }))
        return undefined
      },
    })
    const subscriptions = [
      known.on({
        added: ({ metadata }) => work.add(metadata.name ?? ''),
        updated: ({ metadata }) => work.add(metadata.name ?? ''),
      }),
      accounts.on({
        deleted: ({ metadata }) => {
          if (metadata.name === defaultName) work.add(metadata.namespace ?? '')
        },
      }),
    ]
    return disposeSubscriptions(subscriptions)
  },
}
