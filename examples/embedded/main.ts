/** An API server inside a program: storage, kinds and server, composed manually and used without a socket. */
import { fileURLToPath } from 'node:url'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient } from '@krmkit/client'
import { builtInKinds } from '@krmkit/kinds'
import { ConfigMap } from '@krmkit/kinds/core/v1'
import { memoryStorage } from '@krmkit/storage'

export async function main(print: (line: string) => void): Promise<void> {
  const kinds = builtInKinds().filter(
    ({ group, resource }) => group === '' && ['configmaps', 'namespaces'].includes(resource.name),
  )
  const server = await createApiServer({ storage: memoryStorage(), kinds })
  const client = createInProcessClient(server, { user: { username: 'alice', groups: ['dev'] } })

  await client.create(ConfigMap, { metadata: { name: 'lights' }, data: { hall: 'off' } })
  const changes = client.watch(ConfigMap, { namespace: 'default' })
  const next = async () => {
    const { value } = await changes.next()
    print(`${value.type} ${value.object.metadata.name}: ${JSON.stringify(value.object.data)}`)
  }
  await next()
  await client.apply(ConfigMap, { metadata: { name: 'lights' }, data: { kitchen: 'on' } }, { fieldManager: 'app' })
  await next()
  await client.delete(ConfigMap, 'lights')
  await next()

  await changes.return?.()
  await client.close()
  await server.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(console.log)
