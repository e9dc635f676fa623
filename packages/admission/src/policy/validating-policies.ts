import type { Authorizer } from '@krmkit/authorization'
import { whenDone } from '@krmkit/base/work'
import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { loadCel, stringifyJson } from '@krmkit/schema'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget, ObjectVersion } from '../interfaces.ts'
import type { PolicyCheckLabels } from '../metrics.ts'
import { forbidden } from '../refusals.ts'
import { requestMembers } from '../webhook/review.ts'
import { versionedObjects } from '../webhook/versioned-objects.ts'
import { Activation } from './activation.ts'
import { evaluatePolicy, type PolicyDecision } from './evaluate-policy.ts'
import { versionByCriteria } from './match-criteria.ts'
import { namespaceOf } from './namespace-of.ts'
import { ConfigurationError, collectParams, paramResource } from './params.ts'
import { type Binding, type MatchCriteria, type Policy, policyOf } from './policy.ts'
import { type BoundPolicy, PolicySource, type PolicySourceOptions } from './policy-source.ts'

/**
 * The plugin of ValidatingAdmissionPolicy. A policy is evaluated for every binding that matches the request, with every parameter
 * object of the binding. The first denial refuses the request.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { validatingPolicies } from '@krmkit/admission/policies'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }]
 * const validations = [{ expression: '!object.spec.hostNetwork', message: 'the host network is not available' }]
 * const policy = { matchConstraints: { resourceRules: rules }, validations, failurePolicy: 'Fail' }
 * const stored = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'network' } }
 * const cluster = new ObjectSet()
 * const put = (resource: string, kind: string, spec: object) =>
 *   cluster.put({ group: 'admissionregistration.k8s.io', resource }, { ...stored, kind, spec })
 * put('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', policy)
 * const binding = { policyName: 'network', validationActions: ['Deny'] }
 * put('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', binding)
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { hostNetwork: true } }
 * const plugins = [validatingPolicies({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })]
 * const { status } = await admit({ ...pods, object }, plugins, cluster)
 * status?.message
 * // pods "web" is forbidden: ValidatingAdmissionPolicy 'network' with binding 'network' denied request:
 * // the host network is not available
 * ```
 */
export function validatingPolicies(
  options: PolicySourceOptions & {
    readonly authorizer: Authorizer
  },
): AdmissionPlugin {
  const { profile, authorizer } = options
  const source = new PolicySource(options, 'validating', policyOf)
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (target: AdmissionTarget) => source.handles(target),
    validate(object, attributes, context) {
      return whenDone(source.bound(attributes, context), (bound) =>
        bound.length === 0
          ? undefined
          : evaluateAll(bound, new PolicyEvaluation(object, attributes, context, { profile, authorizer })),
      )
    },
  }
}

async function evaluateAll(bound: readonly BoundPolicy[], evaluation: PolicyEvaluation): Promise<void> {
  for (const { policy, bindings } of bound) await evaluation.evaluate(policy, bindings)
  evaluation.throwFirstDenial()
}

interface Denied {
  readonly policy: string
  readonly binding: string | undefined
  readonly message: string
  readonly reason: string
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 }
const maxAnnotation = 10 * 1024

class PolicyEvaluation {
  readonly #object: DeepReadonly<ApiObject> | undefined
  readonly #attributes: AdmissionAttributes
  readonly #context: AdmissionContext
  readonly #options: { readonly profile: NamingProfile; readonly authorizer: Authorizer }
  readonly #activations = new Map<string, Activation>()
  readonly #denied: Denied[] = []

  constructor(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
    options: { readonly profile: NamingProfile; readonly authorizer: Authorizer },
  ) {
    this.#object = object
    this.#attributes = attributes
    this.#context = context
    this.#options = options
  }

  async evaluate(policy: Policy, bindings: readonly Binding[]): Promise<void> {
    const version = this.#guarded(policy, undefined, () => this.#matchedVersion(policy.criteria))
    if (version === undefined) return
    const annotations = new Map<string, Set<string>>()
    const params = this.#guarded(policy, undefined, () => ({
      resource: policy.paramKind === undefined ? undefined : paramResource(policy.paramKind, this.#context),
    }))
    if (params === undefined) return
    for (const binding of bindings) {
      const { criteria, paramRef } = binding
      const matches = criteria === undefined || this.#guarded(policy, binding, () => this.#matchedVersion(criteria)) !== undefined
      if (!matches) continue
      const { namespace } = this.#attributes
      const found = await this.#guardedAsync(policy, binding, () =>
        collectParams(params.resource, paramRef, { namespace, context: this.#context }),
      )
      for (const each of found ?? []) {
        await loadCel()
        const decision = await evaluatePolicy(policy, await this.#activation(version), each, this.#context.metrics?.policies)
        this.#apply(policy, binding, decision, annotations)
      }
    }
    for (const [key, values] of annotations) this.#context.annotate?.(`${policy.name}/${key}`, [...values].join(', '))
  }

  #matchedVersion(criteria: MatchCriteria): ObjectVersion | undefined {
    return versionByCriteria(criteria, this.#object, this.#attributes, this.#context)
  }

  /** Runs a step; its configuration errors deny the request, unless the policy ignores failures. */
  #guarded<T>(policy: Policy, binding: Binding | undefined, run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      this.#misconfigured(policy, binding, error)
      return undefined
    }
  }

  async #guardedAsync<T>(policy: Policy, binding: Binding, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run()
    } catch (error) {
      this.#misconfigured(policy, binding, error)
      return undefined
    }
  }

  #misconfigured(policy: Policy, binding: Binding | undefined, error: unknown): void {
    if (!(error instanceof ConfigurationError || error instanceof ApiError)) throw error
    if (policy.failsOpen) {
      this.#context.explain?.(`policy ${policy.name}: ${error.message}; ignored by its failure policy`)
      return
    }
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`
    this.#denied.push({ policy: policy.name, binding: binding?.name, message, reason: 'Invalid' })
  }

  /** The variables of the request, cached for each version. */
  async #activation(version: ObjectVersion): Promise<Activation> {
    const { group, version: name, resource } = version.resource
    const key = `${group}/${name}/${resource}`
    const cached = this.#activations.get(key)
    if (cached !== undefined) return cached
    const attributes = this.#attributes
    const { profile, authorizer } = this.#options
    const { before, after } = requestMembers(attributes, version, profile)
    const versioned = await versionedObjects(this.#object, version, attributes, this.#context)
    const request = { ...before, ...after }
    const activation = new Activation(
      { attributes, ...versioned, request, namespace: namespaceOf(attributes, this.#context) },
      authorizer,
    )
    this.#activations.set(key, activation)
    return activation
  }

  #apply(policy: Policy, binding: Binding, decision: PolicyDecision, annotations: Map<string, Set<string>>): void {
    const context = this.#context
    const check = (action: PolicyCheckLabels['action'], message: string, seconds: number) =>
      context.metrics?.policies.checked(
        { policy: policy.name, binding: binding.name, errorType: errorTypeOf(message), action },
        seconds,
      )
    for (const { message, seconds } of decision.ignored) check('allow', message, seconds)
    for (const { index, message, seconds, reason = 'Invalid' } of decision.denials) {
      for (const action of binding.actions) check(action.toLowerCase() as PolicyCheckLabels['action'], message, seconds)
      const named = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
      if (binding.actions.includes('Deny')) this.#denied.push({ policy: policy.name, binding: binding.name, message, reason })
      if (binding.actions.includes('Warn')) context.warn(`Validation failed for ${named}: ${message}`)
      if (binding.actions.includes('Audit')) this.#annotateFailure(policy, binding, { index, message })
      context.explain?.(`${named}: ${message}`)
    }
    for (const annotation of decision.annotations) {
      if ('error' in annotation) {
        check('deny', annotation.error, annotation.seconds)
        this.#denied.push({ policy: policy.name, binding: binding.name, message: annotation.error, reason: 'Invalid' })
        continue
      }
      const values = annotations.get(annotation.key) ?? new Set<string>()
      annotations.set(annotation.key, values.add(annotation.value.slice(0, maxAnnotation)))
    }
  }

  #annotateFailure(
    policy: Policy,
    binding: Binding,
    { index, message }: { readonly index: number; readonly message: string },
  ): void {
    const failure = {
      message,
      policy: policy.name,
      binding: binding.name,
      expressionIndex: index,
      validationActions: [...binding.actions],
    }
    const key = `validation.policy.admission.${this.#options.profile.apiDomain}/validation_failure`
    this.#context.annotate?.(key, stringifyJson([failure]))
  }

  /** @throws ApiError for the first denial. */
  throwFirstDenial(): void {
    const [first] = this.#denied
    if (first === undefined) return
    const bound = first.binding === undefined ? '' : ` with binding '${first.binding}'`
    const message = `ValidatingAdmissionPolicy '${first.policy}'${bound} denied request: ${first.message}`
    const { status } = forbidden(this.#attributes, this.#object, message)
    throw new ApiError({
      ...status,
      reason: first.reason as NonNullable<typeof status.reason>,
      code: codes[first.reason] ?? 422,
      details: { ...status.details, causes: [...(status.details?.causes ?? []), { message }] },
    })
  }
}

/** The label for a decision with this message. */
function errorTypeOf(message: string): PolicyCheckLabels['errorType'] {
  if (message.startsWith('compilation')) return 'compile_error'
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error'
}
