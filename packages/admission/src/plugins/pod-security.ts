import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import type { Container, Pod, PodSpec } from '../pod.ts'
import type { CheckedPod, Violation } from '../pod-security/check.ts'
import { defaultPodSecurity, type PodSecurityConfiguration } from '../pod-security/configuration.ts'
import { detailsOf, podEvaluator } from '../pod-security/evaluator.ts'
import { existingPodWarnings } from '../pod-security/existing-pods.ts'
import {
  compareLevels,
  formatLevelVersion,
  isPrivileged,
  type LevelVersion,
  type PodPolicy,
  sameLevelVersion,
} from '../pod-security/levels.ts'
import { compactPolicy, labelPrefix, type NamespacePolicy, policyOf } from '../pod-security/namespace-policy.ts'
import { forbidden, joinedTexts } from '../refusals.ts'

export interface PodSecurityOptions {
  readonly profile: NamingProfile
  readonly configuration?: PodSecurityConfiguration
  /** Pods with users of their own are judged more mildly (gate `UserNamespacesPodSecurityStandards`). Default false. */
  readonly relaxedForOwnUsers?: boolean
}

type Labels = Readonly<Record<string, string>> | undefined

const namespaces = { group: '', resource: 'namespaces' }

/** Objects with a pod template, by group; they are warned about but not refused. */
const workloads: Readonly<Record<string, readonly string[]>> = {
  '': ['replicationcontrollers', 'podtemplates'],
  apps: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'],
  batch: ['jobs', 'cronjobs'],
}

/** Sub-resources of pods that do not change what runs. */
const harmlessSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

/**
 * Holds pods to the standard that the labels of their namespace choose, in one of three ways: refuse, warn, note in the audit trail.
 *
 * @see API protocol specification, 5.10
 */
export function podSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const { profile, configuration = defaultPodSecurity, relaxedForOwnUsers = false } = options
  const { defaults, exemptions } = configuration
  const prefix = labelPrefix(profile.domain)
  const evaluate = podEvaluator()
  const policyFor = (labels: Labels): NamespacePolicy => policyOf(labels, { defaults, prefix })
  const checked = (metadata: DeepReadonly<ApiObject['metadata']> | undefined, spec: DeepReadonly<PodSpec>): CheckedPod => ({
    annotations: metadata?.annotations ?? {},
    spec,
    ownUsers: relaxedForOwnUsers && spec.hostUsers === false,
    domain: profile.domain,
  })

  const judgePod = (
    pod: CheckedPod,
    object: DeepReadonly<ApiObject> | undefined,
    { policy, errors, enforced }: NamespacePolicy & { readonly enforced: boolean },
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void => {
    const note = (key: string, value: string) => context.annotate?.(prefix + key, value)
    if (errors.length > 0) {
      note('error', `Failed to parse policy: ${joinedTexts(errors.map(({ field, message }) => `${field}: ${message}`))}`)
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
    const told = (standard: LevelVersion) => `violate PodSecurity ${JSON.stringify(formatLevelVersion(standard))}`
    const enforcing = enforced ? violationsOf(policy.enforce) : []
    if (enforced) note('enforce-policy', formatLevelVersion(policy.enforce))
    const auditing = violationsOf(policy.audit)
    if (auditing.length > 0) note('audit-violations', `would ${told(policy.audit)}: ${detailsOf(auditing)}`)
    if (enforcing.length > 0) {
      const detail = `${told(policy.enforce).replace('violate', 'violates')}: ${detailsOf(enforcing)}`
      throw forbidden(attributes, object, detail)
    }
    const warning = violationsOf(policy.warn)
    if (warning.length > 0) context.warn(`would ${told(policy.warn)}: ${detailsOf(warning)}`)
  }

  /** The policy of the namespace, unless it or the user is exempt. */
  const applicable = ({ namespace, user }: AdmissionAttributes, context: AdmissionContext): NamespacePolicy | undefined => {
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
    const found = applicable(attributes, context)
    if (found === undefined) return
    if (found.errors.length === 0 && isPrivileged(found.policy)) {
      context.annotate?.(`${prefix}enforce-policy`, 'privileged:latest')
      return
    }
    if (attributes.operation === 'UPDATE' && !isSignificant(pod, attributes.oldObject as DeepReadonly<Pod> | undefined, profile))
      return
    if (isExemptClass(pod.spec, context)) return
    judgePod(checked(pod.metadata, pod.spec), pod, { ...found, enforced: true }, attributes, context)
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
    const found = applicable(attributes, context)
    if (found === undefined) return
    const { policy, errors } = found
    if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
    const template = templateOf(object)
    if (template?.spec === undefined || isExemptClass(template.spec, context)) return
    judgePod(checked(template.metadata, template.spec), object, { ...found, enforced: false }, attributes, context)
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
    const judge = ({ metadata, spec }: DeepReadonly<Pod>) =>
      exemptions.runtimeClasses.has(spec.runtimeClassName ?? '') ? [] : evaluate(enforce, checked(metadata, spec))
    for (const text of existingPodWarnings(pods, { namespace, enforce, judge })) context.warn(text)
  }

  const warnExempt = (name: string, policy: PodPolicy, { warn }: AdmissionContext): void => {
    const usual = (['enforce', 'audit', 'warn'] as const).every((mode) => sameLevelVersion(policy[mode], defaults[mode]))
    if (isPrivileged(policy) || usual) return
    warn(
      `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${compactPolicy(policy)}) will be ignored`,
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
  if (group === '' && resource === 'pods') return !harmlessSubresources.has(subresource)
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

/** Whether an update changes what the standards speak of; most of a pod never changes. */
function isSignificant(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod> | undefined, { domain }: NamingProfile): boolean {
  if (old === undefined) return true
  const noted = (object: DeepReadonly<Pod>, key: string) => object.metadata.annotations?.[key] ?? ''
  const differs = (a: DeepReadonly<Container>, b: DeepReadonly<Container> | undefined): boolean =>
    b === undefined ||
    a.image !== b.image ||
    noted(pod, `container.seccomp.security.alpha.${domain}/${a.name}`) !==
      noted(old, `container.seccomp.security.alpha.${domain}/${a.name}`)
  for (const kind of ['containers', 'initContainers'] as const) {
    const [now, before] = [pod.spec[kind] ?? [], old.spec[kind] ?? []]
    if (now.length !== before.length || now.some((container, i) => differs(container, before[i]))) return true
  }
  const known = new Map((old.spec.ephemeralContainers ?? []).map((container) => [container.name, container]))
  return (pod.spec.ephemeralContainers ?? []).some((container) => differs(container, known.get(container.name)))
}
