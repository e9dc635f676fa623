import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import type { Container, Pod, PodSpec } from '../pod.ts'
import type { CheckedPod, Violation } from '../pod-security/check.ts'
import { defaultPodSecurity, type PodSecurityConfiguration } from '../pod-security/configuration.ts'
import { createPodEvaluator, detailsOf } from '../pod-security/evaluator.ts'
import { existingPodWarnings } from '../pod-security/existing-pods.ts'
import {
  compareLevels,
  formatLevelVersion,
  isPrivileged,
  type LevelVersion,
  type PodPolicy,
  sameLevelVersion,
} from '../pod-security/levels.ts'
import { formatPolicy, labelPrefix, type NamespacePolicy, policyOf } from '../pod-security/namespace-policy.ts'
import { aggregateMessages, forbidden } from '../refusals.ts'

export interface PodSecurityOptions {
  readonly profile: NamingProfile
  readonly configuration?: PodSecurityConfiguration
  /** Relaxes checks for pods in user namespaces (gate `UserNamespacesPodSecurityStandards`). Default false. */
  readonly relaxForUserNamespaces?: boolean
}

type Labels = Readonly<Record<string, string>> | undefined

const namespaces = { group: '', resource: 'namespaces' }

/** Resources with a pod template, by group. Their violations are warned about and audited, not refused. */
const workloads: Readonly<Record<string, readonly string[]>> = {
  '': ['replicationcontrollers', 'podtemplates'],
  apps: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'],
  batch: ['jobs', 'cronjobs'],
}

/** Pod subresources that do not change the pod spec. */
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

/**
 * Applies the Pod Security Standards that the labels of a namespace select: enforces, warns and audits.
 *
 * @see API protocol specification, 5.10
 */
export function podSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const { profile, configuration = defaultPodSecurity, relaxForUserNamespaces: relaxedForOwnUsers = false } = options
  const { defaults, exemptions } = configuration
  const prefix = labelPrefix(profile.domain)
  const evaluate = createPodEvaluator()
  const policyFor = (labels: Labels): NamespacePolicy => policyOf(labels, { defaults, prefix })
  const checkedPod = (metadata: DeepReadonly<ApiObject['metadata']> | undefined, spec: DeepReadonly<PodSpec>): CheckedPod => ({
    annotations: metadata?.annotations ?? {},
    spec,
    usesUserNamespace: relaxedForOwnUsers && spec.hostUsers === false,
    domain: profile.domain,
  })

  const evaluatePod = (
    pod: CheckedPod,
    object: DeepReadonly<ApiObject> | undefined,
    { policy, errors, enforced }: NamespacePolicy & { readonly enforced: boolean },
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void => {
    const annotate = (key: string, value: string) => context.annotate?.(prefix + key, value)
    if (errors.length > 0) {
      annotate(
        'error',
        `Failed to parse policy: ${aggregateMessages(errors.map(({ field, message }) => `${field}: ${message}`))}`,
      )
    }
    const results = new Map<string, readonly Violation[]>()
    const violationsOf = (standard: LevelVersion): readonly Violation[] => {
      const key = formatLevelVersion(standard)
      let found = results.get(key)
      if (found === undefined) {
        found = evaluate(standard, pod)
        results.set(key, found)
      }
      return found
    }
    const violate = (standard: LevelVersion) => `violate PodSecurity ${JSON.stringify(formatLevelVersion(standard))}`
    const enforceViolations = enforced ? violationsOf(policy.enforce) : []
    if (enforced) annotate('enforce-policy', formatLevelVersion(policy.enforce))
    const auditViolations = violationsOf(policy.audit)
    if (auditViolations.length > 0) {
      annotate('audit-violations', `would ${violate(policy.audit)}: ${detailsOf(auditViolations)}`)
    }
    if (enforceViolations.length > 0) {
      const detail = `${violate(policy.enforce).replace('violate', 'violates')}: ${detailsOf(enforceViolations)}`
      throw forbidden(attributes, object, detail)
    }
    const warnViolations = violationsOf(policy.warn)
    if (warnViolations.length > 0) context.warn(`would ${violate(policy.warn)}: ${detailsOf(warnViolations)}`)
  }

  /** The policy of the namespace; undefined when the namespace or the user is exempt. */
  const applicablePolicy = ({ namespace, user }: AdmissionAttributes, context: AdmissionContext): NamespacePolicy | undefined => {
    const exempt = exemptions.namespaces.has(namespace)
      ? 'namespace'
      : exemptions.usernames.has(user.username)
        ? 'user'
        : undefined
    if (exempt !== undefined) {
      context.annotate?.(`${prefix}exempt`, exempt)
      return undefined
    }
    const found = context.reader.get(namespaces, '', namespace)
    if (found === undefined) throw ApiError.internalError(`failed to lookup namespace ${JSON.stringify(namespace)}`)
    return policyFor(found.metadata.labels)
  }

  const validatePod = (pod: DeepReadonly<Pod>, attributes: AdmissionAttributes, context: AdmissionContext): void => {
    const found = applicablePolicy(attributes, context)
    if (found === undefined) return
    if (found.errors.length === 0 && isPrivileged(found.policy)) {
      context.annotate?.(`${prefix}enforce-policy`, 'privileged:latest')
      return
    }
    if (attributes.operation === 'UPDATE' && !isSignificant(pod, attributes.oldObject as DeepReadonly<Pod> | undefined, profile))
      return
    if (isExemptClass(pod.spec, context)) return
    evaluatePod(checkedPod(pod.metadata, pod.spec), pod, { ...found, enforced: true }, attributes, context)
  }

  const isExemptClass = ({ runtimeClassName }: DeepReadonly<PodSpec>, context: AdmissionContext): boolean => {
    if (runtimeClassName === undefined || !exemptions.runtimeClasses.has(runtimeClassName)) return false
    context.annotate?.(`${prefix}exempt`, 'runtimeClass')
    return true
  }

  const validateWorkload = (
    object: DeepReadonly<ApiObject>,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void => {
    const found = applicablePolicy(attributes, context)
    if (found === undefined) return
    const { policy, errors } = found
    if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
    const template = templateOf(object)
    if (template?.spec === undefined || isExemptClass(template.spec, context)) return
    evaluatePod(checkedPod(template.metadata, template.spec), object, { ...found, enforced: false }, attributes, context)
  }

  const validateNamespace = (
    object: DeepReadonly<ApiObject>,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void | Promise<void> => {
    const name = object.metadata.name ?? ''
    const { policy, errors } = policyFor(object.metadata.labels)
    const refuse = () => ApiError.invalid({ group: '', kind: 'Namespace' }, name, errors)
    if (attributes.operation === 'CREATE') {
      if (errors.length > 0) throw refuse()
      if (exemptions.namespaces.has(name)) warnExempt(name, policy, context)
      return
    }
    const before = policyFor(attributes.oldObject?.metadata.labels)
    if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(before.errors)) throw refuse()
    const { enforce } = policy
    const old = before.policy.enforce
    if (sameLevelVersion(enforce, old) || enforce.level === 'privileged') return
    if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 1) return
    if (exemptions.namespaces.has(name)) return warnExempt(name, policy, context)
    return warnOfExistingPods(name, enforce, context)
  }

  const warnOfExistingPods = async (namespace: string, enforce: LevelVersion, context: AdmissionContext): Promise<void> => {
    const pods = (await context.reader.list({ group: '', resource: 'pods' }, namespace)) as readonly DeepReadonly<Pod>[]
    const evaluatePodAt = ({ metadata, spec }: DeepReadonly<Pod>) =>
      exemptions.runtimeClasses.has(spec.runtimeClassName ?? '') ? [] : evaluate(enforce, checkedPod(metadata, spec))
    const options = { namespace, enforce, evaluate: evaluatePodAt }
    for (const text of existingPodWarnings(pods, options)) context.warn(text)
  }

  const warnExempt = (name: string, policy: PodPolicy, { warn }: AdmissionContext): void => {
    const isDefault = (['enforce', 'audit', 'warn'] as const).every((mode) => sameLevelVersion(policy[mode], defaults[mode]))
    if (isPrivileged(policy) || isDefault) return
    warn(
      `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${formatPolicy(policy)}) will be ignored`,
    )
  }

  return {
    name: 'PodSecurity',
    handles,
    validate(object, attributes, context) {
      if (object === undefined) return
      const { resource } = attributes
      if (resource.group === '' && resource.resource === 'namespaces') return validateNamespace(object, attributes, context)
      if (resource.group === '' && resource.resource === 'pods')
        return validatePod(object as DeepReadonly<Pod>, attributes, context)
      return validateWorkload(object, attributes, context)
    },
  }
}

function handles({ operation, resource: { group, resource }, subresource }: AdmissionTarget): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false
  if (group === '' && resource === 'namespaces') return subresource === ''
  if (group === '' && resource === 'pods') return !ignoredSubresources.has(subresource)
  return subresource === '' && Object.hasOwn(workloads, group) && (workloads[group]?.includes(resource) ?? false)
}

type Template = DeepReadonly<{ metadata?: ApiObject['metadata']; spec?: PodSpec }>

function templateOf(object: DeepReadonly<ApiObject>): Template | undefined {
  const { template, spec } = object as {
    template?: Template
    spec?: { template?: Template; jobTemplate?: { spec?: { template?: Template } } }
  }
  return template ?? spec?.template ?? spec?.jobTemplate?.spec?.template
}

/** Whether an update changes members that the standards check; most of a pod is immutable. */
function isSignificant(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod> | undefined, { domain }: NamingProfile): boolean {
  if (old === undefined) return true
  const annotationOf = (object: DeepReadonly<Pod>, key: string) => object.metadata.annotations?.[key] ?? ''
  const differs = (a: DeepReadonly<Container>, b: DeepReadonly<Container> | undefined): boolean =>
    b === undefined ||
    a.image !== b.image ||
    annotationOf(pod, `container.seccomp.security.alpha.${domain}/${a.name}`) !==
      annotationOf(old, `container.seccomp.security.alpha.${domain}/${a.name}`)
  for (const kind of ['containers', 'initContainers'] as const) {
    const [now, before] = [pod.spec[kind] ?? [], old.spec[kind] ?? []]
    if (now.length !== before.length || now.some((container, i) => differs(container, before[i]))) return true
  }
  const known = new Map((old.spec.ephemeralContainers ?? []).map((container) => [container.name, container]))
  return (pod.spec.ephemeralContainers ?? []).some((container) => differs(container, known.get(container.name)))
}
