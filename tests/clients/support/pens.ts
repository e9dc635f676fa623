import { type Client, resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { type CoreV1Api, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node'
import type { Pen, Written } from './random-writer.ts'

export interface ConfigMapObject extends ApiObject {
  data?: Record<string, string>
}

export const configMaps = resourceType<ConfigMapObject>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
export const namespaces = resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false })

/** Writes with `@kubernetes/client-node`. */
export function stockPen(api: CoreV1Api): Pen {
  const body = ({ name, labels, data }: Written, resourceVersion?: string) => ({
    metadata: { name, labels: { ...labels }, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data: { ...data },
  })
  const version = (object: { metadata?: { resourceVersion?: string } }) => object.metadata?.resourceVersion ?? ''
  return {
    create: async (object) => version(await api.createNamespacedConfigMap({ namespace: object.namespace, body: body(object) })),
    async replace(object, resourceVersion) {
      const { name, namespace } = object
      return version(await api.replaceNamespacedConfigMap({ name, namespace, body: body(object, resourceVersion) }))
    },
    async patch({ name, namespace, labels, data }) {
      const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
      return version(await api.patchNamespacedConfigMap({ name, namespace, body: { metadata: { labels }, data } }, merge))
    },
    async delete({ name, namespace }) {
      await api.deleteNamespacedConfigMap({ name, namespace })
    },
  }
}

/** Writes with the client of this project. */
export function ownPen(client: Client): Pen {
  const body = ({ name, namespace, labels, data }: Written, resourceVersion?: string) => ({
    metadata: { name, namespace, labels: { ...labels }, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    data: { ...data },
  })
  const version = (object: ApiObject) => object.metadata.resourceVersion ?? ''
  return {
    create: async (object) => version(await client.create(configMaps, body(object))),
    replace: async (object, resourceVersion) => version(await client.update(configMaps, body(object, resourceVersion))),
    async patch({ name, namespace, labels, data }) {
      const patch = { metadata: { labels: { ...labels } }, data: { ...data } }
      return version(await client.patch(configMaps, name, { namespace, type: 'merge', patch }))
    },
    async delete({ name, namespace }) {
      await client.delete(configMaps, name, { namespace })
    },
  }
}
