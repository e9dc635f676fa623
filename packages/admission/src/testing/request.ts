import type { ApiObject, GroupResource } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectReader } from '../interfaces.ts'

/** Attributes and contexts for tests of plugins. */

const kinds: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  namespaces: 'Namespace',
  nodes: 'Node',
  pods: 'Pod',
  priorityclasses: 'PriorityClass',
}

/** Attributes of the creation of a core object by an ordinary user. */
export function attributesOf(resource: string, rest: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  return {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: kinds[resource] ?? resource },
    resource: { group: '', version: 'v1', resource },
    subresource: '',
    name: 'a',
    namespace: '',
    user: { username: 'u', groups: [] },
    dryRun: false,
    ...rest,
  }
}

/** A context with these objects, keyed by `resource/namespace/name` (`resource//name` without a namespace). */
export function contextOf(objects: Readonly<Record<string, object>> = {}): AdmissionContext & { readonly warnings: string[] } {
  const warnings: string[] = []
  const all = new Map(
    Object.entries(objects).map(([key, rest]) => {
      const [, , name = ''] = key.split('/')
      return [key, { apiVersion: '', kind: '', metadata: { name }, ...rest } as ApiObject]
    }),
  )
  return {
    warnings,
    warn: (text) => void warnings.push(text),
    reader: {
      get: ({ resource }, namespace, name) => all.get(`${resource}/${namespace}/${name}`),
      list: async ({ resource }) => [...all].filter(([key]) => key.startsWith(`${resource}/`)).map(([, object]) => object),
    },
  }
}

/** A reader that has these collections in memory. */
export async function cachedReader(reader: ObjectReader, resources: readonly GroupResource[]): Promise<ObjectReader> {
  const keyOf = ({ group, resource }: GroupResource) => `${group}/${resource}`
  const cached = new Map<string, Awaited<ReturnType<ObjectReader['list']>>>()
  for (const resource of resources) cached.set(keyOf(resource), await reader.list(resource))
  return {
    get: (resource, namespace, name) => reader.get(resource, namespace, name),
    list: (resource, namespace) => reader.list(resource, namespace),
    listNow: (resource, namespace = '') =>
      cached.get(keyOf(resource))?.filter(({ metadata }) => namespace === '' || metadata.namespace === namespace),
  }
}
