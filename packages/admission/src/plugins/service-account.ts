import {
  type ApiObject,
  type Clock,
  type DeepReadonly,
  type NamingProfile,
  nameRules,
  type Random,
  stockProfile,
} from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin } from '../interfaces.ts'
import { type Container, isMirror, type Pod, type PodSpec, type ProjectedSource, type Volume, type VolumeMount } from '../pod.ts'
import { secretNamesOf } from '../pod-secrets.ts'
import { forbidden } from '../refusals.ts'

export interface ServiceAccountOptions {
  readonly profile?: NamingProfile
  readonly random: Random
  /** Lifetime of mounted tokens in seconds. Default 3607, which marks tokens that the issuer extends. */
  readonly tokenSeconds?: number
  /** Waits for the default service account, which a controller creates with the namespace. Default: no wait. */
  readonly defaultAccountWait?: DefaultAccountWait
}

/** A bounded wait for the default service account. */
export interface DefaultAccountWait {
  readonly clock: Clock
  readonly timeoutMs: number
}

interface ServiceAccount extends ApiObject {
  automountServiceAccountToken?: boolean
  imagePullSecrets?: { name: string }[]
  secrets?: { name?: string }[]
}

const accounts = { group: '', resource: 'serviceaccounts' }
const defaultAccount = 'default'
const pollMs = 50
const readOnlyMode = 0o644
const volumePrefix = 'kube-api-access-'

/**
 * Sets the default service account, which must exist; mounts its token unless the pod or, with less precedence, the account opts out;
 * adds the account's pull secrets to pods without any. Mirror pods are not changed and must not reference accounts or secrets. An
 * account can limit its pods to the secrets that it lists.
 *
 * @see API protocol specification, 2.12 and 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { serviceAccount } from '@krmkit/admission/plugins'
 * import { systemRandom } from '@krmkit/meta'
 *
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [] } }
 * const { status } = await admit({ ...pods, object }, [serviceAccount({ random: systemRandom })], new ObjectSet())
 * status?.message
 * // 'pods "web" is forbidden: error looking up service account shop/default: serviceaccount "default" not found'
 * ```
 */
export function serviceAccount(options: ServiceAccountOptions): AdmissionPlugin {
  const { profile = stockProfile } = options
  const token = tokenMount(profile, options)
  return {
    name: 'ServiceAccount',
    changes: 'members',
    handles: ({ operation, resource, subresource }) =>
      resource.resource === 'pods' &&
      resource.group === '' &&
      (subresource === '' ? operation === 'CREATE' : subresource === 'ephemeralcontainers' && operation === 'UPDATE'),
    admit(object, attributes, context) {
      const pod = object as Pod
      if (attributes.operation !== 'CREATE') return
      if (isMirror(pod, profile.domain)) {
        validatePod(pod, attributes, { context, profile })
        return
      }
      const spec = { ...pod.spec }
      pod.spec = spec
      if ((spec.serviceAccountName ?? '') === '') {
        spec.serviceAccountName = defaultAccount
        context.explain?.('the pod names no service account')
      }
      spec.serviceAccount = spec.serviceAccountName ?? ''
      const useAccount = (): void => {
        const account = accountOf(pod, attributes, context)
        if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) {
          mountToken(spec, token, context)
        }
        const secrets = account.imagePullSecrets ?? []
        if ((spec.imagePullSecrets ?? []).length === 0 && secrets.length > 0) {
          context.explain?.(`pull secrets come from service account ${spec.serviceAccountName}`)
          spec.imagePullSecrets = secrets.map(({ name }) => ({ name }))
        }
        validatePod(pod, attributes, { context, profile })
      }
      const { defaultAccountWait: wait } = options
      const exists = () => context.reader.get(accounts, attributes.namespace, defaultAccount) !== undefined
      if (wait === undefined || spec.serviceAccountName !== defaultAccount || exists()) return useAccount()
      return waitUntil(exists, wait, context).then(useAccount)
    },
    validate(object, attributes, context) {
      if (object !== undefined) validatePod(object as Pod, attributes, { context, profile })
    },
  }
}

/** Polls until the condition holds, the timeout elapses or the client disconnects. */
async function waitUntil(
  condition: () => boolean,
  { clock, timeoutMs }: DefaultAccountWait,
  { bounds }: AdmissionContext,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < timeoutMs && bounds?.signal.aborted !== true && !condition(); waitedMs += pollMs) {
    await new Promise<void>((resolve) => {
      clock.setTimeout(resolve, pollMs)
    })
  }
}

function validatePod(
  pod: DeepReadonly<Pod>,
  attributes: AdmissionAttributes,
  { context, profile }: { readonly context: AdmissionContext; readonly profile: NamingProfile },
): void {
  if (attributes.operation === 'CREATE' && isMirror(pod, profile.domain)) {
    validateMirrorPod(pod, attributes)
    return
  }
  const { serviceAccountName = '' } = pod.spec
  if (serviceAccountName === '') {
    const detail = `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ''}`
    throw forbidden(attributes, pod, detail)
  }
  const account = accountOf(pod, attributes, context)
  if (!enforcesMountableSecrets(account, profile.domain)) return
  const wrong = attributes.operation === 'CREATE' ? foreignSecret(pod.spec, account) : foreignSecretOfEphemeral(pod.spec, account)
  if (wrong !== undefined) throw forbidden(attributes, pod, wrong)
}

function validateMirrorPod(pod: DeepReadonly<Pod>, attributes: AdmissionAttributes): void {
  const refuse = (what: string) => forbidden(attributes, pod, `a mirror pod may not ${what}`)
  if ((pod.spec.serviceAccountName ?? '') !== '') throw refuse('reference service accounts')
  if (secretNamesOf(pod.spec).length > 0) throw refuse('reference secrets')
  for (const { projected } of pod.spec.volumes ?? []) {
    if (projected?.sources?.some((source) => source.serviceAccountToken !== undefined)) {
      throw refuse('use ServiceAccountToken volume projections')
    }
  }
}

function accountOf(
  pod: DeepReadonly<Pod>,
  attributes: AdmissionAttributes,
  { reader }: AdmissionContext,
): DeepReadonly<ServiceAccount> {
  const wanted = pod.spec.serviceAccountName ?? ''
  const found = reader.get(accounts, attributes.namespace, wanted)
  if (found !== undefined) return found as DeepReadonly<ServiceAccount>
  const messages = nameRules.pathSegment(wanted, false)
  const problem =
    messages.length > 0
      ? `invalid resource name ${goQuote(wanted)}: [${messages.join(' ')}]`
      : `serviceaccount ${goQuote(wanted)} not found`
  throw forbidden(attributes, pod, `error looking up service account ${attributes.namespace}/${wanted}: ${problem}`)
}

/** Parts that all token mounts share. */
interface TokenMount {
  readonly mountPath: string
  readonly seconds: number
  readonly random: Random
}

function tokenMount(profile: NamingProfile, { random, tokenSeconds = 3607 }: ServiceAccountOptions): TokenMount {
  return { mountPath: `/var/run/secrets/${profile.domain}/serviceaccount`, seconds: tokenSeconds, random }
}

/** Changes `spec` in place; it must be a copy. */
function mountToken(spec: PodSpec, { mountPath, seconds, random }: TokenMount, { explain }: AdmissionContext): void {
  const existing = spec.volumes?.find(({ name }) => name.startsWith(volumePrefix))
  let mount: VolumeMount | undefined
  const mounted = (container: Container): Container => {
    const mounts = container.volumeMounts ?? []
    if (mounts.some((each) => each.mountPath === mountPath)) return container
    mount ??= { name: existing?.name ?? volumePrefix + random.nameSuffix(5), readOnly: true, mountPath }
    return { ...container, volumeMounts: [...mounts, { ...mount }] }
  }
  if (spec.initContainers !== undefined) spec.initContainers = spec.initContainers.map(mounted)
  // Clients may send null, which validation refuses.
  if (spec.containers) spec.containers = spec.containers.map(mounted)
  if (mount === undefined) return
  explain?.(`containers get a token of service account ${spec.serviceAccountName}`)
  if (existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(mount.name, seconds)]
}

function tokenVolume(name: string, expirationSeconds: number): Volume {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespace] } },
      ] as ProjectedSource[],
      defaultMode: readOnlyMode,
    },
  }
}

/** The spellings that Go's `strconv.ParseBool` accepts. */
const trueSpellings = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

function enforcesMountableSecrets({ metadata }: DeepReadonly<ServiceAccount>, domain: string): boolean {
  return trueSpellings.has(metadata.annotations?.[`${domain}/enforce-mountable-secrets`] ?? '')
}

/** The message for the first secret that the pod references and the account does not list; undefined when there is none. */
function foreignSecret(spec: DeepReadonly<PodSpec>, account: DeepReadonly<ServiceAccount>): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name))
  const because = `is not allowed because service account ${account.metadata.name ?? ''} does not reference that`
  for (const { secret } of spec.volumes ?? []) {
    if (secret === undefined || mountable.has(secret.secretName)) continue
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${because} secret`
  }
  const ofContainers =
    foreignSecretOf(spec.initContainers, { title: 'init container', mountable, because }) ??
    foreignSecretOf(spec.containers, { title: 'container', mountable, because })
  if (ofContainers !== undefined) return ofContainers
  const pulls = new Set((account.imagePullSecrets ?? []).map(({ name }) => name))
  const foreign = (spec.imagePullSecrets ?? []).findIndex(({ name = '' }) => !pulls.has(name))
  if (foreign < 0) return undefined
  return `imagePullSecrets[${foreign}].name="${spec.imagePullSecrets?.[foreign]?.name ?? ''}" ${because} imagePullSecret`
}

function foreignSecretOfEphemeral(spec: DeepReadonly<PodSpec>, account: DeepReadonly<ServiceAccount>): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name))
  const because = `is not allowed because service account ${account.metadata.name ?? ''} does not reference that`
  return foreignSecretOf(spec.ephemeralContainers, { title: 'ephemeral container', mountable, because })
}

function foreignSecretOf(
  containers: DeepReadonly<PodSpec>['containers'],
  { title, mountable, because }: { title: string; mountable: ReadonlySet<string | undefined>; because: string },
): string | undefined {
  for (const { name, env = [], envFrom = [] } of containers ?? []) {
    for (const variable of env) {
      const reference = variable.valueFrom?.secretKeyRef
      if (reference === undefined || mountable.has(reference.name)) continue
      return `${title} ${name} with envVar ${variable.name} referencing secret.secretName="${reference.name ?? ''}" ${because} secret`
    }
    for (const { secretRef } of envFrom) {
      if (secretRef === undefined || mountable.has(secretRef.name)) continue
      return `${title} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}" ${because} secret`
    }
  }
  return undefined
}
