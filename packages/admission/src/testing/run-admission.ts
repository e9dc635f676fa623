import type { ApiObject, DeepReadonly, GroupResource, UserInfo } from '@krmkit/meta'
import { type AdmissionResult, type AdmitOptions, admit } from '../admit.ts'
import type { AdmissionAttributes, AdmissionPlugin, ServedKind } from '../interfaces.ts'
import { ObjectSet } from '../object-set.ts'

/** Runs plugins in tests, on frozen objects. */

export interface TestRequest {
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

/** Parses `pods` or `apps/deployments`. */
export function resourceOf(text: string): GroupResource {
  const slash = text.lastIndexOf('/')
  return slash < 0 ? { group: '', resource: text } : { group: text.slice(0, slash), resource: text.slice(slash + 1) }
}

/** Runs admission; by default for an object `a` in the namespace `ns`, as an ordinary user. */
export async function runAdmission(
  plugins: AdmissionPlugin | readonly AdmissionPlugin[],
  resource: string,
  { object, oldObject, name, namespace = 'ns', ...rest }: TestRequest = {},
  cluster: ObjectSet = new ObjectSet(),
  options: AdmitOptions = {},
): Promise<AdmissionResult> {
  const { group, resource: plural } = resourceOf(resource)
  const kind = kinds[plural] ?? plural.charAt(0).toUpperCase() + plural.slice(1, -1)
  const completed = (given: object | undefined): ApiObject | undefined =>
    given === undefined
      ? undefined
      : frozen({
          apiVersion: 'v1',
          kind,
          ...given,
          metadata: { name: 'a', namespace, ...(given as Partial<ApiObject>).metadata },
        })
  const [next, old] = [completed(object), completed(oldObject)]
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

/** A set of objects, keyed by `resource/namespace/name` (`storage.k8s.io/storageclasses//fast`). */
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
    const identity = { name, uid: `uid-of-${name}`, ...(namespace === '' ? {} : { namespace }) }
    const metadata = { ...identity, ...(rest as Partial<ApiObject>).metadata }
    cluster.put(resourceOf(parts.slice(0, -2).join('/')), frozen({ apiVersion: 'v1', kind: '', ...rest, metadata } as ApiObject))
  }
  return cluster
}

/** The spec of the admitted object. */
export function specOf({ object }: AdmissionResult): Record<string, unknown> {
  return (object as { spec?: Record<string, unknown> } | undefined)?.spec ?? {}
}

/** The message of the refusal; empty when the request was allowed. */
export function refusalOf({ status }: AdmissionResult): string {
  return status?.message ?? ''
}

export function frozen<T>(value: T): DeepReadonly<T> & T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const name of Object.keys(value)) frozen((value as Record<string, unknown>)[name])
  }
  return value as DeepReadonly<T> & T
}
