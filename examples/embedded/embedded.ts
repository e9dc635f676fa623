import {
  createApiServer,
  createFetchHandler,
  createInformer,
  createInProcessClient,
  listen,
  memoryStorage,
  resourceType,
  selfSigned,
} from 'krmkit'

// A complete API server inside the program, without a socket. Roles and bindings in its storage decide who may do what.
const server = await createApiServer({ storage: memoryStorage(), authorizer: ({ rbac }) => rbac(), bootstrapRoles: true })
const client = createInProcessClient(server, { user: { username: 'admin', groups: ['system:masters'] } })

const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
await client.create(ConfigMap, { metadata: { name: 'hello' }, data: { k: 'v' } })
await client.apply(ConfigMap, { metadata: { name: 'hello' }, data: { size: '3' } }, { fieldManager: 'app' })

// Watch: the existing objects first, then every change, across reconnects and expired history.
for await (const { type, object } of client.watch(ConfigMap, { namespace: 'default' })) {
  console.log(type, object.metadata.name, object.data)
  break
}

// An informer: a local copy that follows the server.
const configMaps = createInformer(client, ConfigMap, { labels: ['app'] })
await configMaps.synced
console.log(configMaps.get('hello', 'default')?.data)
await configMaps.stop()

// The same server on a port, for kubectl (0 chooses a free one), or behind a fetch handler.
const listening = await listen(server, { port: 0, tls: selfSigned('.krmkit/pki') })
console.log(listening.url)
const response = await createFetchHandler(server)(new Request('http://host/readyz'))
console.log(response.status)

await listening.close()
await server.close()
