import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile, type Random } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from './interfaces.ts'

/** What is mounted into pods, and for how long its token is good. */
export interface ServiceAccountOptions {
  readonly profile: NamingProfile
  readonly random: Random
  /** Lifetime of mounted tokens in seconds. Default 3600. */
  readonly tokenSeconds?: number
}

interface Mount {
  name: string
  mountPath: string
  readOnly?: boolean
}

interface Container {
  name: string
  volumeMounts?: Mount[]
}

interface PodSpec {
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  containers?: Container[]
  initContainers?: Container[]
  volumes?: { name: string; projected?: { sources?: { serviceAccountToken?: object }[] }; [source: string]: unknown }[]
  imagePullSecrets?: { name: string }[]
}

interface ServiceAccount extends ApiObject {
  automountServiceAccountToken?: boolean
  imagePullSecrets?: { name: string }[]
}

const readOnlyMode = 0o644
const volumePrefix = 'kube-api-access-'

/**
 * Gives every pod an account: the namespace's default one when none is named, which must exist; mounts a token for it unless
 * pod or account decline (the pod's word counts more); hands over the account's pull secrets when the pod has none.
 *
 * @see API protocol specification, 2.12 and 5.10
 */
export function serviceAccount(options: ServiceAccountOptions): AdmissionPlugin {
  const mirror = `${options.profile.domain}/config.mirror`
  return {
    name: 'ServiceAccount',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && resource.group === '' && resource.resource === 'pods' && subresource === '',
    admit(object, attributes, context) {
      const pod = object as ApiObject & { spec: PodSpec }
      // Mirrors of static pods are what they are.
      if (Object.hasOwn(pod.metadata.annotations ?? {}, mirror)) return refuseMirrorWithAccount(pod, attributes)
      const spec = { ...pod.spec }
      pod.spec = spec
      if ((spec.serviceAccountName ?? '') === '') spec.serviceAccountName = 'default'
      spec.serviceAccount = spec.serviceAccountName ?? ''
      const account = accountOf(spec, attributes, context)
      if (wantsToken(spec, account)) mountToken(spec, options)
      if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
        spec.imagePullSecrets = (account.imagePullSecrets ?? []).map(({ name }) => ({ name }))
      }
    },
  }
}

function refuseMirrorWithAccount(pod: ApiObject & { spec: PodSpec }, attributes: AdmissionAttributes): void {
  if ((pod.spec.serviceAccountName ?? '') !== '') {
    throw ApiError.forbidden(attributes.resource, attributes.name, 'a mirror pod may not reference service accounts')
  }
}

function accountOf(
  spec: PodSpec,
  { namespace, resource, name }: AdmissionAttributes,
  { reader }: AdmissionContext,
): DeepReadonly<ServiceAccount> {
  const wanted = spec.serviceAccountName ?? ''
  const found = reader.get({ group: '', resource: 'serviceaccounts' }, namespace, wanted)
  if (found !== undefined) return found as DeepReadonly<ServiceAccount>
  const missing = ApiError.notFound({ group: '', resource: 'serviceaccounts' }, wanted).message.replace(
    'serviceaccounts',
    'serviceaccount',
  )
  throw ApiError.forbidden(resource, name, `error looking up service account ${namespace}/${wanted}: ${missing}`)
}

function wantsToken(spec: PodSpec, account: DeepReadonly<ServiceAccount>): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
}

function mountToken(spec: PodSpec, { profile, random, tokenSeconds = 3600 }: ServiceAccountOptions): void {
  const mountPath = `/var/run/secrets/${profile.domain}/serviceaccount`
  const volumes = spec.volumes ?? []
  const existing = volumes.find(
    ({ name, projected }) =>
      name.startsWith(volumePrefix) && projected?.sources?.some((source) => source.serviceAccountToken !== undefined),
  )
  const name = existing?.name ?? volumePrefix + random.nameSuffix(5)
  let mounted = false
  const mount = (container: Container): Container => {
    if ((container.volumeMounts ?? []).some((each) => each.mountPath === mountPath)) return container
    mounted = true
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }] }
  }
  if (spec.initContainers !== undefined) spec.initContainers = spec.initContainers.map(mount)
  if (spec.containers !== undefined) spec.containers = spec.containers.map(mount)
  if (!mounted || existing !== undefined) return
  spec.volumes = [
    ...volumes,
    {
      name,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
        ] as { serviceAccountToken?: object }[],
        defaultMode: readOnlyMode,
      } as { sources?: { serviceAccountToken?: object }[] },
    },
  ]
}
