import type { ApiObject } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'

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
