import type { ApiObject, DeepReadonly, GroupResource, UserInfo } from '@krmkit/meta'
import { type AdmissionAnswer, type AdmitOptions, admit } from '../admit.ts'
import type { AdmissionAttributes, AdmissionPlugin, ServedKind } from '../interfaces.ts'
import { ObjectSet } from '../object-set.ts'

/** How tests ask plugins: with objects that nobody may change in place. */

export interface Asked {
  readonly object?: object
  readonly oldObject?: object
  readonly operation?: AdmissionAttributes['operation']
  readonly subresource?: string
  readonly name?: string
  readonly namespace?: string
  readonly user?: UserInfo
  readonly dryRun?: boolean
}

const kinds: Readonly<Record<string, string>> = {
  certificatesigningrequests: 'CertificateSigningRequest',
  ingresses: 'Ingress',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  priorityclasses: 'PriorityClass',
  serviceaccounts: 'ServiceAccount',
}

/** `pods`, `apps/deployments` */
export function resourceOf(text: string): GroupResource {
  const slash = text.lastIndexOf('/')
  return slash < 0 ? { group: '', resource: text } : { group: text.slice(0, slash), resource: text.slice(slash + 1) }
}

/** Asks about an object `a` of namespace `ns`, for an ordinary user, unless said otherwise. */
export async function ask(
  plugins: AdmissionPlugin | readonly AdmissionPlugin[],
  resource: string,
  { object, oldObject, name, namespace = 'ns', ...rest }: Asked = {},
  cluster: ObjectSet = new ObjectSet(),
  options: AdmitOptions = {},
): Promise<AdmissionAnswer> {
  const { group, resource: plural } = resourceOf(resource)
  const kind = kinds[plural] ?? plural.charAt(0).toUpperCase() + plural.slice(1, -1)
  const whole = (given: object | undefined): ApiObject | undefined =>
    given === undefined
      ? undefined
      : frozen({
          apiVersion: 'v1',
          kind,
          ...given,
          metadata: { name: 'a', namespace, ...(given as Partial<ApiObject>).metadata },
        })
  const [next, old] = [whole(object), whole(oldObject)]
  return admit(
    {
      kind: { group, version: 'v1', kind },
      resource: { group, version: 'v1', resource: plural },
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
      user: { username: 'jane', groups: [] },
      namespace,
      name: name ?? next?.metadata.name ?? old?.metadata.name ?? '',
      ...(next === undefined ? {} : { object: next }),
      ...(old === undefined ? {} : { oldObject: old }),
      ...rest,
    },
    [plugins].flat(),
    cluster,
    options,
  )
}

/** A cluster that holds these objects, by `resource/namespace/name` (`storage.k8s.io/storageclasses//fast`). */
export function clusterOf(
  objects: Readonly<Record<string, object>> = {},
  served: readonly (ServedKind & { kind: string })[] = [],
): ObjectSet {
  const cluster = new ObjectSet(({ group, version, kind }) =>
    served.filter((each) => each.group === group && each.version === version && each.kind === kind),
  )
  for (const [key, rest] of Object.entries(objects)) {
    const parts = key.split('/')
    const [namespace = '', name = ''] = parts.slice(-2)
    const place = { name, uid: `uid-of-${name}`, ...(namespace === '' ? {} : { namespace }) }
    const metadata = { ...place, ...(rest as Partial<ApiObject>).metadata }
    cluster.put(resourceOf(parts.slice(0, -2).join('/')), frozen({ apiVersion: 'v1', kind: '', ...rest, metadata } as ApiObject))
  }
  return cluster
}

/** The object as plugins left it, without what they were given besides. */
export function specOf({ object }: AdmissionAnswer): Record<string, unknown> {
  return (object as { spec?: Record<string, unknown> } | undefined)?.spec ?? {}
}

/** The message of the refusal; empty when there is none. */
export function refusalOf({ status }: AdmissionAnswer): string {
  return status?.message ?? ''
}

export function frozen<T>(value: T): DeepReadonly<T> & T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const name of Object.keys(value)) frozen((value as Record<string, unknown>)[name])
  }
  return value as DeepReadonly<T> & T
}
