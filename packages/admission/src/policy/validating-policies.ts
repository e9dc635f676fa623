import type { Authorizer } from '@krmkit/authorization'
import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import { loadCel, stringifyJson } from '@krmkit/schema'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget, ObjectVersion } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { show } from '../webhook/mutating.ts'
import { requestFacts } from '../webhook/review.ts'
import { Activation } from './activation.ts'
import { matchedForm } from './criteria.ts'
import { decide, type PolicyDecision } from './evaluate-policy.ts'
import { ConfigurationError, collectParams, paramResource } from './params.ts'
import type { Binding, Policy } from './policy.ts'
import { PolicySource } from './policy-source.ts'

/**
 * Policies written as expressions: each is evaluated for every binding that picks the request, with every set of parameters that
 * the binding names. The first denial is the answer.
 */
export function validatingPolicies({
  profile,
  authorizer,
}: {
  readonly profile: NamingProfile
  readonly authorizer: Authorizer
}): AdmissionPlugin {
  const source = new PolicySource(profile)
  const exempt = exemptResources(profile)
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: ({ resource }: AdmissionTarget) => !exempt.has(`${resource.group}/${resource.resource}`),
    async validate(object, attributes, context) {
      const bound = await source.bound(context)
      if (bound.length === 0) return
      const request = new OneRequest(object, attributes, context, { profile, authorizer })
      for (const { policy, bindings } of bound) await request.apply(policy, bindings)
      request.refuse()
    },
  }
}

/** What could not be mended any more if a policy forbade it, and what only asks. */
function exemptResources({ apiDomain }: NamingProfile): ReadonlySet<string> {
  const of = (group: string, ...resources: readonly string[]) => resources.map((resource) => `${group}.${apiDomain}/${resource}`)
  return new Set([
    ...of('admissionregistration', 'validatingadmissionpolicies', 'validatingadmissionpolicybindings'),
    ...of('admissionregistration', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'),
    ...of('authentication', 'tokenreviews', 'selfsubjectreviews'),
    ...of(
      'authorization',
      'subjectaccessreviews',
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
    ),
  ])
}

interface Denied {
  readonly policy: string
  readonly binding: string | undefined
  readonly message: string
  readonly reason: string
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413, Invalid: 422 }
const maxAnnotation = 10 * 1024

class OneRequest {
  readonly #object: DeepReadonly<ApiObject> | undefined
  readonly #attributes: AdmissionAttributes
  readonly #context: AdmissionContext
  readonly #options: { readonly profile: NamingProfile; readonly authorizer: Authorizer }
  readonly #subjects = new Map<string, Activation>()
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

  async apply(policy: Policy, bindings: readonly Binding[]): Promise<void> {
    const form = this.#guarded(policy, undefined, () => this.#form(policy.criteria))
    if (form === undefined) return
    const annotations = new Map<string, Set<string>>()
    const resource = this.#guarded(policy, undefined, () => ({
      of: policy.paramKind === undefined ? undefined : paramResource(policy.paramKind, this.#context),
    }))
    if (resource === undefined) return
    for (const binding of bindings) {
      const picked =
        binding.criteria === undefined || this.#guarded(policy, binding, () => this.#form(binding.criteria!)) !== undefined
      if (!picked) continue
      const { namespace } = this.#attributes
      const params = await this.#waiting(policy, binding, () =>
        collectParams(resource.of, binding.paramRef, { namespace, context: this.#context }),
      )
      for (const each of params ?? []) {
        await loadCel()
        const decision = await decide(policy, await this.#subject(form), each)
        this.#take(policy, binding, decision, annotations)
      }
    }
    for (const [key, values] of annotations) this.#context.annotate?.(`${policy.name}/${key}`, [...values].join(', '))
  }

  #form(criteria: Policy['criteria']): ObjectVersion | undefined {
    return matchedForm(criteria, this.#object, this.#attributes, this.#context)
  }

  /** What is wrong with a policy or a binding denies the request, unless failures are to be ignored. */
  #guarded<T>(policy: Policy, binding: Binding | undefined, run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      this.#misconfigured(policy, binding, error)
      return undefined
    }
  }

  async #waiting<T>(policy: Policy, binding: Binding, run: () => Promise<T>): Promise<T | undefined> {
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
      this.#context.explain?.(`policy ${policy.name}: ${error.message}; its policy is to ignore that`)
      return
    }
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`
    this.#denied.push({ policy: policy.name, binding: binding?.name, message, reason: 'Invalid' })
  }

  /** The variables of the request, once for each form that it is looked at in. */
  async #subject(form: ObjectVersion): Promise<Activation> {
    const key = `${form.resource.group}/${form.resource.version}/${form.resource.resource}`
    const known = this.#subjects.get(key)
    if (known !== undefined) return known
    const attributes = this.#attributes
    const { profile, authorizer } = this.#options
    const { before, after } = requestFacts(attributes, form, profile)
    const shown = (object: DeepReadonly<ApiObject> | undefined) =>
      object === undefined ? null : show(object, form, this.#context)
    const subject = new Activation(
      {
        attributes,
        object: await shown(this.#object),
        oldObject: await shown(attributes.oldObject),
        request: { ...before, ...after },
        namespace: this.#namespace(),
      },
      authorizer,
    )
    this.#subjects.set(key, subject)
    return subject
  }

  /** A Namespace is in none. */
  #namespace(): DeepReadonly<ApiObject> | undefined {
    const { namespace, kind } = this.#attributes
    if (namespace === '' || (kind.kind === 'Namespace' && kind.group === '')) return undefined
    const namespaces = { group: '', resource: 'namespaces' }
    const found = this.#context.reader.get(namespaces, '', namespace)
    if (found === undefined) throw ApiError.notFound(namespaces, namespace)
    return found
  }

  #take(policy: Policy, binding: Binding, decision: PolicyDecision, annotations: Map<string, Set<string>>): void {
    const context = this.#context
    for (const { index, message, reason = 'Invalid' } of decision.denials) {
      const named = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
      if (binding.actions.includes('Deny')) this.#denied.push({ policy: policy.name, binding: binding.name, message, reason })
      if (binding.actions.includes('Warn')) context.warn(`Validation failed for ${named}: ${message}`)
      if (binding.actions.includes('Audit')) this.#publish(policy, binding, { index, message })
      context.explain?.(`${named}: ${message}`)
    }
    for (const annotation of decision.annotations) {
      if ('error' in annotation) {
        this.#denied.push({ policy: policy.name, binding: binding.name, message: annotation.error, reason: 'Invalid' })
        continue
      }
      const values = annotations.get(annotation.key) ?? new Set<string>()
      annotations.set(annotation.key, values.add(annotation.value.slice(0, maxAnnotation)))
    }
  }

  #publish(policy: Policy, binding: Binding, { index, message }: { readonly index: number; readonly message: string }): void {
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
  refuse(): void {
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
