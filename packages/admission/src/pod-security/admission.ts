import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import type { Container, Pod, PodSpec } from '../pod.ts'
import { forbidden } from '../refusals.ts'
import type { CheckedPod, Violation } from './check.ts'
import type { Exemptions, PodSecurityConfiguration } from './configuration.ts'
import { createPodEvaluator, detailsOf, type Evaluator } from './evaluator.ts'
import { existingPodWarnings } from './existing-pods.ts'
import { compareLevels, formatLevelVersion, isPrivileged, type LevelVersion, type PodPolicy, sameLevelVersion } from './levels.ts'
import { formatPolicy, labelPrefix, type NamespacePolicy, policyOf } from './namespace-policy.ts'
import { PodSecurityRecorder } from './recorder.ts'

type Labels = Readonly<Record<string, string>> | undefined

const namespaces = { group: '', resource: 'namespaces' }

/** Validates pods, objects with a pod template, and namespaces. */
export class PodSecurityAdmission {
  readonly #profile: NamingProfile
  readonly #defaults: PodPolicy
  readonly #exemptions: Exemptions
  readonly #relaxForUserNamespaces: boolean
  /** Of labels and audit annotations. */
  readonly #prefix: string
  readonly #newest: number
  readonly #evaluate: Evaluator

  constructor(
    profile: NamingProfile,
    { defaults, exemptions }: PodSecurityConfiguration,
    options: { readonly relaxForUserNamespaces: boolean; readonly newest: number; readonly checksProbeHosts: boolean },
  ) {
    this.#profile = profile
    this.#defaults = defaults
    this.#exemptions = exemptions
    this.#relaxForUserNamespaces = options.relaxForUserNamespaces
    this.#newest = options.newest
    this.#evaluate = createPodEvaluator(options.newest, options)
    this.#prefix = labelPrefix(profile.domain)
  }

  validatePod(pod: DeepReadonly<Pod>, attributes: AdmissionAttributes, context: AdmissionContext): void {
    const found = this.#applicablePolicy(attributes, context)
    if (found === undefined) return
    if (found.errors.length === 0 && isPrivileged(found.policy)) {
      context.annotate?.(`${this.#prefix}enforce-policy`, 'privileged:latest')
      new PodSecurityRecorder(attributes, context, this.#newest).evaluated('enforce', found.policy.enforce, false)
      return
    }
    if (
      attributes.operation === 'UPDATE' &&
      !isSignificant(pod, attributes.oldObject as DeepReadonly<Pod> | undefined, this.#profile)
    )
      return
    if (this.#isExemptClass(pod.spec, attributes, context)) return
    this.#evaluatePod(this.#checkedPod(pod.metadata, pod.spec), pod, { ...found, enforced: true }, attributes, context)
  }

  validateWorkload(object: DeepReadonly<ApiObject>, attributes: AdmissionAttributes, context: AdmissionContext): void {
    const found = this.#applicablePolicy(attributes, context)
    if (found === undefined) return
    const { policy, errors } = found
    if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return
    const template = templateOf(object)
    if (template?.spec === undefined || this.#isExemptClass(template.spec, attributes, context)) return
    this.#evaluatePod(
      this.#checkedPod(template.metadata, template.spec),
      object,
      { ...found, enforced: false },
      attributes,
      context,
    )
  }

  validateNamespace(
    object: DeepReadonly<ApiObject>,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void | Promise<void> {
    const name = object.metadata.name ?? ''
    const { policy, errors } = this.#policyOf(object.metadata.labels)
    const refuse = () => ApiError.invalid({ group: '', kind: 'Namespace' }, name, errors)
    if (attributes.operation === 'CREATE') {
      if (errors.length > 0) throw refuse()
      if (this.#exemptions.namespaces.has(name)) this.#warnExempt(name, policy, context)
      return
    }
    const before = this.#policyOf(attributes.oldObject?.metadata.labels)
    if (errors.length > 0 && JSON.stringify(errors) !== JSON.stringify(before.errors)) throw refuse()
    const { enforce } = policy
    const old = before.policy.enforce
    if (sameLevelVersion(enforce, old) || enforce.level === 'privileged') return
    if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 1) return
    if (this.#exemptions.namespaces.has(name)) return this.#warnExempt(name, policy, context)
    return this.#warnOfExistingPods(name, enforce, context)
  }

  #evaluatePod(
    pod: CheckedPod,
    object: DeepReadonly<ApiObject> | undefined,
    { policy, errors, enforced }: NamespacePolicy & { readonly enforced: boolean },
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): void {
    const annotate = (key: string, value: string) => context.annotate?.(this.#prefix + key, value)
    const recorder = new PodSecurityRecorder(attributes, context, this.#newest)
    if (errors.length > 0) {
      recorder.failed({ fatal: false })
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
        found = this.#evaluate(standard, pod)
        results.set(key, found)
      }
      return found
    }
    const violate = (standard: LevelVersion) => `violate PodSecurity ${JSON.stringify(formatLevelVersion(standard))}`
    const enforceViolations = enforced ? violationsOf(policy.enforce) : []
    if (enforced) {
      annotate('enforce-policy', formatLevelVersion(policy.enforce))
      recorder.evaluated('enforce', policy.enforce, enforceViolations.length > 0)
    }
    const auditViolations = violationsOf(policy.audit)
    if (auditViolations.length > 0) {
      recorder.evaluated('audit', policy.audit, true)
      annotate('audit-violations', `would ${violate(policy.audit)}: ${detailsOf(auditViolations)}`)
    }
    if (enforceViolations.length > 0) {
      const detail = `${violate(policy.enforce).replace('violate', 'violates')}: ${detailsOf(enforceViolations)}`
      throw forbidden(attributes, object, detail)
    }
    const warnViolations = violationsOf(policy.warn)
    if (warnViolations.length === 0) return
    recorder.evaluated('warn', policy.warn, true)
    context.warn(`would ${violate(policy.warn)}: ${detailsOf(warnViolations)}`)
  }

  /** The policy of the namespace; undefined when the namespace or the user is exempt. */
  #applicablePolicy(attributes: AdmissionAttributes, context: AdmissionContext): NamespacePolicy | undefined {
    const { namespace, user } = attributes
    const exempt = this.#exemptions.namespaces.has(namespace)
      ? 'namespace'
      : this.#exemptions.usernames.has(user.username)
        ? 'user'
        : undefined
    if (exempt !== undefined) {
      context.annotate?.(`${this.#prefix}exempt`, exempt)
      new PodSecurityRecorder(attributes, context, this.#newest).exempted()
      return undefined
    }
    const found = context.reader.get(namespaces, '', namespace)
    if (found === undefined) {
      new PodSecurityRecorder(attributes, context, this.#newest).failed({ fatal: true })
      throw ApiError.internalError(`failed to lookup namespace ${JSON.stringify(namespace)}`)
    }
    return this.#policyOf(found.metadata.labels)
  }

  #isExemptClass(
    { runtimeClassName }: DeepReadonly<PodSpec>,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): boolean {
    if (runtimeClassName === undefined || !this.#exemptions.runtimeClasses.has(runtimeClassName)) return false
    context.annotate?.(`${this.#prefix}exempt`, 'runtimeClass')
    new PodSecurityRecorder(attributes, context, this.#newest).exempted()
    return true
  }

  async #warnOfExistingPods(namespace: string, enforce: LevelVersion, context: AdmissionContext): Promise<void> {
    const pods = (await context.reader.list({ group: '', resource: 'pods' }, namespace)) as readonly DeepReadonly<Pod>[]
    const evaluatePodAt = ({ metadata, spec }: DeepReadonly<Pod>) =>
      this.#exemptions.runtimeClasses.has(spec.runtimeClassName ?? '')
        ? []
        : this.#evaluate(enforce, this.#checkedPod(metadata, spec))
    const options = { namespace, enforce, evaluate: evaluatePodAt }
    for (const text of existingPodWarnings(pods, options)) context.warn(text)
  }

  #warnExempt(name: string, policy: PodPolicy, { warn }: AdmissionContext): void {
    const isDefault = (['enforce', 'audit', 'warn'] as const).every((mode) =>
      sameLevelVersion(policy[mode], this.#defaults[mode]),
    )
    if (isPrivileged(policy) || isDefault) return
    warn(
      `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${formatPolicy(policy)}) will be ignored`,
    )
  }

  #policyOf(labels: Labels): NamespacePolicy {
    return policyOf(labels, { defaults: this.#defaults, prefix: this.#prefix })
  }

  #checkedPod(metadata: DeepReadonly<ApiObject['metadata']> | undefined, spec: DeepReadonly<PodSpec>): CheckedPod {
    return {
      annotations: metadata?.annotations ?? {},
      spec,
      usesUserNamespace: this.#relaxForUserNamespaces && spec.hostUsers === false,
      domain: this.#profile.domain,
    }
  }
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
