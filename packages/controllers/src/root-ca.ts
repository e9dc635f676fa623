import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { ignoreCreateConflict } from './framework/api-errors.ts'
import { disposeSubscriptions } from './framework/subscriptions.ts'
import type { Controller } from './interfaces.ts'
import { namespaces } from './namespace/namespace-controller.ts'

interface ConfigMap extends ApiObject {
  data?: Record<string, string>
}

const configMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
/** Name of the config map with the certificate authority of the server, in every naming profile. */
export const publishedName = 'kube-root-ca.crt'

/** Publishes the certificate authority of the server in a ConfigMap of every namespace. Disabled without `rootCA`. */
export const rootCAPublisher: Controller = {
  name: 'root-ca-certificate-publisher-controller',
  start({ client, informers, fieldManager, profile, rootCA, signal, queue }) {
    if (rootCA === undefined) return disposeSubscriptions([])
    const known = informers.of(namespaces)
    const published = informers.of(configMaps, { fieldSelector: `metadata.name=${publishedName}` })
    const description = 'Verify the API server with this certificate when it is called by a name inside the cluster.'
    const annotations = { [`${profile.domain}/description`]: description }
    const work = queue<string>({
      async sync(namespace) {
        if (!published.hasSynced) {
          work.addAfterSync(namespace, published.synced)
          return undefined
        }
        const found = known.get(namespace)
        if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
        const data = { 'ca.crt': rootCA }
        const current = published.get(publishedName, namespace)
        if (current === undefined) {
          const wanted = { metadata: { name: publishedName, namespace, annotations }, data }
          await ignoreCreateConflict(client.create(configMaps, wanted, { fieldManager, signal }))
        } else if (
          !isPublished(current.data, rootCA) ||
          Object.entries(annotations).some(([key, text]) => current.metadata.annotations?.[key] !== text)
        ) {
          const repaired = structuredClone(current) as ConfigMap
          repaired.metadata.annotations = { ...repaired.metadata.annotations, ...annotations }
          await ignoreCreateConflict(client.update(configMaps, { ...repaired, data }, { fieldManager, signal }))
        }
        return undefined
      },
    })
    const enqueue = ({ metadata }: { readonly metadata: { readonly namespace?: string } }) => work.add(metadata.namespace ?? '')
    const subscriptions = [
      known.on({
        added: ({ metadata }) => work.add(metadata.name ?? ''),
        updated: ({ metadata }) => work.add(metadata.name ?? ''),
      }),
      published.on({ updated: enqueue, deleted: enqueue }),
    ]
    return disposeSubscriptions(subscriptions)
  },
}

function isPublished(data: Readonly<Record<string, string>> | undefined, rootCA: string): boolean {
  return data !== undefined && Object.keys(data).length === 1 && data['ca.crt'] === rootCA
}
