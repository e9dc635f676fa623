import type { Controller } from '@krmkit/controllers'
import { ignoreNotFound } from '@krmkit/controllers/framework'
import { Database } from './database.ts'
import type { Provisioner } from './provisioner.ts'

const finalizer = 'platform.example.com/database'

/**
 * Makes the databases of a provisioner equal to the objects. It holds no state: after a restart it reads everything again. The finalizer
 * keeps an object until its database is deleted.
 */
export function databaseController(provisioner: Provisioner): Controller {
  return {
    name: 'database-controller',
    start({ client, informers, queue, signal }) {
      const databases = informers.of(Database)
      const work = queue<string>({
        async sync(key) {
          const [namespace = '', name = ''] = key.split('/')
          const object = databases.get(name, namespace)
          if (object === undefined) return undefined
          const { resourceVersion = '', finalizers = [], deletionTimestamp } = object.metadata
          // The resource version is a precondition: a stale copy fails with a conflict, and the queue repeats the work.
          const setFinalizers = (value: string[]) => {
            const patch = { metadata: { resourceVersion, finalizers: value } }
            return ignoreNotFound(client.patch(Database, name, { namespace, type: 'merge', patch, signal }))
          }
          if (deletionTimestamp !== undefined) {
            if (!finalizers.includes(finalizer)) return undefined
            await provisioner.remove(key)
            await setFinalizers(finalizers.filter((value) => value !== finalizer))
            return undefined
          }
          if (!finalizers.includes(finalizer)) {
            // The change of the object calls this function again, and only then the database is created.
            await setFinalizers([...finalizers, finalizer])
            return undefined
          }
          const { engine, sizeGi } = object.spec
          if (object.status?.sizeGi === sizeGi) return undefined
          const address = await provisioner.ensure(key, { engine, sizeGi })
          const patch = { status: { address, sizeGi } }
          await ignoreNotFound(client.patch(Database, name, { namespace, subresource: 'status', type: 'merge', patch, signal }))
          return undefined
        },
      })
      const enqueue = ({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }) =>
        work.add(`${metadata.namespace}/${metadata.name}`)
      const unsubscribe = databases.on({ added: enqueue, updated: enqueue })
      return { [Symbol.asyncDispose]: async () => unsubscribe() }
    },
  }
}
