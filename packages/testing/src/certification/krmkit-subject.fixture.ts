import { type Client, type ClientOptions, createInformer, createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import type { CachedObject, CertificationServer, CertificationSubject, ConnectedClient, InformerEvent } from './interfaces.ts'

type ConfigMap = ApiObject & { data?: Record<string, string> }
const ConfigMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })

async function connect({ kubeconfig }: CertificationServer, options: Omit<ClientOptions, 'impersonate'>): Promise<Client> {
  return createRemoteClient({ ...(await loadKubeconfig({ path: kubeconfig })), ...options })
}

/** `@krmkit/client`: its informer and its client. */
export const krmkitSubject: CertificationSubject = {
  name: '@krmkit/client',
  informer: {
    features: { watchTimeouts: true },
    async start({ server, namespace, labelSelector, watchTimeoutMs }) {
      const client = await connect(server, watchTimeoutMs === undefined ? {} : { watchTimeoutMs })
      const selection = labelSelector === undefined ? { namespace } : { namespace, labelSelector }
      const informer = createInformer(client, ConfigMaps, selection)
      const events: InformerEvent[] = []
      informer.on({
        added: (object) => void events.push({ type: 'added', object }),
        updated: (object) => void events.push({ type: 'updated', object }),
        deleted: (object) => void events.push({ type: 'deleted', object }),
      })
      return {
        hasSynced: () => informer.hasSynced,
        objects: () => informer.list(),
        events: () => events,
        async stop() {
          await informer.stop()
          await client.close()
        },
      }
    },
  },
  client: {
    async connect(server, namespace): Promise<ConnectedClient> {
      const client = await connect(server, { namespace })
      return {
        get: (name) => client.get(ConfigMaps, name),
        async list(options) {
          const items: CachedObject[] = []
          for await (const page of client.listPages(ConfigMaps, { namespace, ...options })) items.push(...page.items)
          return items
        },
        create: (object) => client.create(ConfigMaps, object as ConfigMap),
        update: (object) => client.update(ConfigMaps, object as ConfigMap),
        patch: (name, patch) => client.patch(ConfigMaps, name, patch as Parameters<Client['patch']>[2]),
        apply: (object, fieldManager) => client.apply(ConfigMaps, object as ConfigMap, { fieldManager }),
        async delete(name, preconditions) {
          await client.delete(ConfigMaps, name, { preconditions })
        },
        close: () => client.close(),
      }
    },
  },
}
