import type { ApiObject } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'

/** What tests hand to plugins: a request, and a cluster with a few objects. */

const kinds: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  namespaces: 'Namespace',
  nodes: 'Node',
  pods: 'Pod',
  priorityclasses: 'PriorityClass',
}

/** The creation of an object of the core group by an ordinary user. */
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

/** A cluster that holds these objects, by `resource/namespace/name` (no namespace: `resource//name`). */
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
