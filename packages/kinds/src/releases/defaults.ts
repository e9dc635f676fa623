import {
  builtInSigners,
  readSigningRequest,
  validateKubeletClientRequest,
  validateKubeletServingRequest,
} from '@krmkit/certificates/request'
import { type ApiObject, isJsonObject, type NamingProfile } from '@krmkit/meta'
import type { Strategy } from '../interfaces.ts'
import { runPreparation } from '../preparation.ts'

/** Defaults of versions that 1.33 no longer serves, by stock names: `group/version/kind`. Versions not listed have those of the stable one. */

type Defaults = NonNullable<Strategy['defaults']>
/** @param stable defaults of the kind's stable version. */
type DefaultsFactory = (stable: (...given: Parameters<Defaults>) => void) => Defaults

/** An object in another version's shape; members are read and set by name. */
type Open = Record<string, unknown>

function open(value: unknown): Open | undefined {
  return isJsonObject(value) ? (value as Open) : undefined
}

function items(value: unknown): Open[] {
  return Array.isArray(value) ? value.filter((each): each is Open => isJsonObject(each)) : []
}

/** @see API protocol specification, 9.4: defaults that `v1` changed. */
const betaWebhooks: DefaultsFactory = (stable) => (object, version, profile) => {
  for (const hook of items(object.webhooks)) {
    hook.failurePolicy ??= 'Ignore'
    hook.matchPolicy ??= 'Exact'
    hook.sideEffects ??= 'Unknown'
    hook.timeoutSeconds ??= 30
    if (!Array.isArray(hook.admissionReviewVersions) || hook.admissionReviewVersions.length === 0) {
      hook.admissionReviewVersions = ['v1beta1']
    }
  }
  stable(object, version, profile)
}

const betaDefinition: DefaultsFactory = (stable) => (object, version, profile) => {
  const spec = open(object.spec)
  if (spec === undefined) return
  if ((spec.scope ?? '') === '') spec.scope = 'Namespaced'
  spec.preserveUnknownFields ??= true
  const name = spec.version
  if (items(spec.versions).length === 0 && typeof name === 'string' && name !== '') {
    spec.versions = [{ name, served: true, storage: true }]
  }
  spec.names ??= {}
  spec.conversion ??= { strategy: 'None' }
  const conversion = open(spec.conversion)
  if (conversion?.strategy === 'Webhook' && !Array.isArray(conversion.conversionReviewVersions)) {
    conversion.conversionReviewVersions = ['v1beta1']
  }
  const service = open(open(conversion?.webhookClientConfig)?.service)
  if (service !== undefined) service.port ??= 443
  stable(object, version, profile)
}

const betaIngress: DefaultsFactory = (stable) => (object, version, profile) => {
  for (const rule of items(open(object.spec)?.rules)) {
    for (const path of items(open(rule.http)?.paths)) path.pathType ??= 'ImplementationSpecific'
  }
  stable(object, version, profile)
}

const betaSigningRequest: DefaultsFactory = () => (object, _, profile) => {
  const spec = open(object.spec)
  if (spec === undefined) return
  spec.usages ??= ['digital signature', 'key encipherment']
  spec.signerName ??= legacySigner(spec, profile)
  for (const condition of items(open(object.status)?.conditions)) condition.status ||= 'True'
}

/** The signer of a request that names none. */
function legacySigner({ request, usages }: Open, profile: NamingProfile): string {
  const signers = builtInSigners(profile)
  try {
    const asked = { request: readSigningRequest(request as string | null), usages: usages as string[] }
    if (validateKubeletClientRequest(asked) === undefined) return signers.apiserverClientKubelet
    if (validateKubeletServingRequest(asked) === undefined) return signers.kubeletServing
  } catch {
    // Validation rejects malformed requests.
  }
  return signers.legacyUnknown
}

const utilization = 80

const v2beta1Autoscaler: DefaultsFactory = () => (object) => {
  object.spec ??= {}
  const spec = open(object.spec)!
  spec.minReplicas ??= 1
  if (items(spec.metrics).length === 0) {
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: utilization } }]
  }
}

/** The shape is that of `v2`, and so are the defaults. */
const v2beta2Autoscaler: DefaultsFactory = (stable) => (object, version, profile) => {
  const { apiVersion } = object
  object.apiVersion = 'autoscaling/v2'
  stable(object, version, profile)
  object.apiVersion = apiVersion
}

/** Zero shares mean the default. */
const assuredShares: DefaultsFactory = (stable) => (object, version, profile) => {
  const limited = open(open(object.spec)?.limited)
  const shares = limited?.assuredConcurrencyShares || 30
  stable(object, version, profile)
  if (limited === undefined) return
  delete limited.nominalConcurrencyShares
  limited.assuredConcurrencyShares = shares
}

const nominalShares: DefaultsFactory = (stable) => (object, version, profile) => {
  const limited = open(open(object.spec)?.limited)
  const keepsZero =
    object.metadata.annotations?.[`flowcontrol.${profile.apiDomain}/v1beta3-preserve-zero-concurrency-shares`] !== undefined
  if (limited !== undefined && limited.nominalConcurrencyShares === 0 && !keepsZero) delete limited.nominalConcurrencyShares
  stable(object, version, profile)
}

const alphaBinding: DefaultsFactory =
  () =>
  (object: ApiObject, _version: string, { apiDomain }: NamingProfile) => {
    const group = `rbac.authorization.${apiDomain}`
    const role = open(object.roleRef)
    if (role !== undefined && (role.apiGroup ?? '') === '') role.apiGroup = group
    for (const subject of items(object.subjects)) {
      if ((subject.apiVersion ?? '') !== '') continue
      subject.apiVersion = subject.kind === 'ServiceAccount' ? 'v1' : `${group}/v1alpha1`
    }
  }

const nothing: DefaultsFactory = () => () => undefined

const table: Readonly<Record<string, DefaultsFactory>> = {
  'admissionregistration.k8s.io/v1beta1/MutatingWebhookConfiguration': betaWebhooks,
  'admissionregistration.k8s.io/v1beta1/ValidatingWebhookConfiguration': betaWebhooks,
  'apiextensions.k8s.io/v1beta1/CustomResourceDefinition': betaDefinition,
  'autoscaling/v2beta1/HorizontalPodAutoscaler': v2beta1Autoscaler,
  'autoscaling/v2beta2/HorizontalPodAutoscaler': v2beta2Autoscaler,
  'certificates.k8s.io/v1beta1/CertificateSigningRequest': betaSigningRequest,
  'extensions/v1beta1/Ingress': betaIngress,
  'flowcontrol.apiserver.k8s.io/v1beta1/PriorityLevelConfiguration': assuredShares,
  'flowcontrol.apiserver.k8s.io/v1beta2/PriorityLevelConfiguration': assuredShares,
  'flowcontrol.apiserver.k8s.io/v1beta3/PriorityLevelConfiguration': nominalShares,
  'networking.k8s.io/v1beta1/Ingress': betaIngress,
  'node.k8s.io/v1alpha1/RuntimeClass': nothing,
  'rbac.authorization.k8s.io/v1alpha1/ClusterRoleBinding': alphaBinding,
  'rbac.authorization.k8s.io/v1alpha1/RoleBinding': alphaBinding,
}

/** The defaults of a version; those of the stable version where it has none. @param key `group/version/kind` */
export function earlierDefaults(key: string, stable: Strategy['defaults']): Strategy['defaults'] {
  const factory = Object.hasOwn(table, key) ? table[key] : undefined
  return factory === undefined ? stable : factory((...given) => runPreparation(stable?.(...given)))
}
