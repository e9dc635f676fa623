import type { Authorizer } from '@krmkit/authorization'
import { whenDone } from '@krmkit/base/work'
import { equalValues } from '@krmkit/fieldmanager/value'
import { ApiError, type ApiObject, type DeepReadonly, type JsonObject, type JsonValue } from '@krmkit/meta'
import { DecodeError, loadCel } from '@krmkit/schema'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, AdmissionTarget, ObjectVersion } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'
import { reinvocationState, scheduleReinvocation } from '../reinvocation.ts'
import { checkPatchedKind } from '../webhook/patched-kind.ts'
import { requestMembers } from '../webhook/review.ts'
import { versionedObjects } from '../webhook/versioned-objects.ts'
import { Activation } from './activation.ts'
import { applyMutation, MutationError } from './apply-mutation.ts'
import { BudgetExceededError, evaluateExpression } from './evaluate-expression.ts'
import { conditionCostBudget, evaluateConditions, timedConditions } from './match-conditions.ts'
import { versionByCriteria } from './match-criteria.ts'
import { type MutatingPolicy, type Mutation, mutatingPolicyOf } from './mutating-policy.ts'
import { namespaceOf } from './namespace-of.ts'
import { ConfigurationError, collectParams, paramResource } from './params.ts'
import type { Binding } from './policy.ts'
import { type BoundPolicy, PolicySource, type PolicySourceOptions } from './policy-source.ts'
import { policyVariables } from './policy-variables.ts'

const pluginName = 'MutatingAdmissionPolicy'
/** Cost budget of one mutation. */
const costBudget = 10_000_000

/**
 * The plugin of MutatingAdmissionPolicy. Each policy is evaluated for every binding that matches the request, with every parameter
 * object of the binding; its mutations apply in order. After a change, all mutating plugins run a second time, including the policies
 * with the reinvocation policy `IfNeeded` that ran before a later change.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { mutatingPolicies } from '@krmkit/admission/policies'
 * import { alwaysDenyAuthorizer } from '@krmkit/authorization'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
 * const expression = 'Object{metadata: Object.metadata{labels: Object.metadata.labels{team: "shop"}}}'
 * const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
 * const policy = { matchConstraints: { resourceRules: rules }, mutations, failurePolicy: 'Fail', reinvocationPolicy: 'Never' }
 * const stored = { apiVersion: 'admissionregistration.k8s.io/v1alpha1', metadata: { name: 'team' } }
 * const cluster = new ObjectSet()
 * const put = (resource: string, kind: string, spec: object) =>
 *   cluster.put({ group: 'admissionregistration.k8s.io', resource }, { ...stored, kind, spec })
 * put('mutatingadmissionpolicies', 'MutatingAdmissionPolicy', policy)
 * put('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding', { policyName: 'team' })
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
 * const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace: 'shop' } }
 * const plugins = [mutatingPolicies({ profile: stockProfile, authorizer: alwaysDenyAuthorizer })]
 * const request = { kind, resource: { group: '', version: 'v1', resource: 'configmaps' }, object }
 * const result = await admit(request, plugins, cluster)
 * result.object?.metadata.labels // { team: 'shop' }
 * ```
 */
export function mutatingPolicies(options: PolicyOptions): AdmissionPlugin {
  const source = new PolicySource(options, 'mutating', mutatingPolicyOf)
  return {
    name: pluginName,
    changes: 'whole',
    handles: (target: AdmissionTarget) => target.operation !== 'DELETE' && source.handles(target),
    admit(object, attributes, context) {
      return whenDone(source.bound(attributes, context), (bound) =>
        bound.length === 0 ? undefined : mutateByAll(bound, new MutationRun(object, attributes, context, options)),
      )
    },
  }
}

async function mutateByAll(bound: readonly BoundPolicy<MutatingPolicy>[], run: MutationRun): Promise<ApiObject | undefined> {
  for (const { policy, bindings } of bound) await run.select(policy, bindings)
  return run.mutate()
}

interface PolicyOptions extends PolicySourceOptions {
  readonly authorizer: Authorizer
}

/** A policy with one matching binding and one parameter object. */
interface Invocation {
  readonly key: string
  readonly policy: MutatingPolicy
  readonly binding: Binding
  readonly version: ObjectVersion
  readonly params: DeepReadonly<ApiObject> | null
}

interface Failure {
  readonly message: string
  readonly reason: 'Forbidden' | 'Invalid'
}

class MutationRun {
  readonly #attributes: AdmissionAttributes
  readonly #context: AdmissionContext
  readonly #options: PolicyOptions
  readonly #invocations: Invocation[] = []
  readonly #failures: Failure[] = []
  #object: ApiObject

  constructor(object: ApiObject, attributes: AdmissionAttributes, context: AdmissionContext, options: PolicyOptions) {
    this.#object = object
    this.#attributes = attributes
    this.#context = context
    this.#options = options
  }

  /** Adds the invocations of a policy: one per matching binding and parameter object. */
  async select(policy: MutatingPolicy, bindings: readonly Binding[]): Promise<void> {
    const attributes = this.#attributes
    const context = this.#context
    let current: Binding | undefined
    try {
      const version = versionByCriteria(policy.criteria, this.#object, attributes, context)
      if (version === undefined) return
      const resource = policy.paramKind === undefined ? undefined : paramResource(policy.paramKind, context)
      for (const binding of bindings) {
        current = binding
        const { criteria, paramRef } = binding
        if (criteria !== undefined && versionByCriteria(criteria, this.#object, attributes, context) === undefined) continue
        const { namespace } = attributes
        for (const params of await collectParams(resource, paramRef, { namespace, context })) {
          const key = JSON.stringify([policy.name, binding.name, params?.metadata.namespace, params?.metadata.name])
          this.#invocations.push({ key, policy, binding, version, params })
        }
      }
    } catch (error) {
      if (!(error instanceof ConfigurationError || error instanceof ApiError)) throw error
      const what = current === undefined ? 'policy' : 'binding'
      this.#fail(policy, current, `failed to configure ${what}: ${error.message}`, 'Forbidden')
    }
  }

  /** Runs the selected invocations. @returns the changed object; undefined when nothing changed. @throws ApiError */
  async mutate(): Promise<ApiObject | undefined> {
    const before = this.#object
    if (this.#invocations.length > 0) {
      await loadCel()
      await this.#runAll()
    }
    this.#throwFailures()
    return this.#object === before ? undefined : this.#object
  }

  async #runAll(): Promise<void> {
    const { reinvocation } = this.#context
    const state = reinvocationState(this.#context, pluginName)
    const round = reinvocation?.round ?? 0
    if (round > 0 && !sameObject(state.lastOutput, this.#object)) scheduleReinvocation(state)
    for (const invocation of this.#invocations) {
      const changed = await this.#run(invocation, (key) => round === 0 || state.reinvoke.has(key))
      if (changed === 'skipped') continue
      if (changed === 'changed') {
        scheduleReinvocation(state)
        reinvocation?.requestReinvocation()
      }
      if (invocation.policy.reinvocable) state.invoked.add(invocation.key)
    }
    state.lastOutput = this.#object
  }

  async #run(invocation: Invocation, isDue: (key: string) => boolean): Promise<'skipped' | 'changed' | 'unchanged'> {
    const { policy, params, key } = invocation
    const programs = policy.programs()
    if (programs.conditions.length > 0) {
      const activation = await this.#activation(invocation.version)
      const budget = { cost: conditionCostBudget, work: activation.work }
      const labels = { name: policy.name, operation: this.#attributes.operation }
      const result = await timedConditions(this.#context.metrics?.policies, labels, () =>
        evaluateConditions(programs.conditions, activation.variables(params, { authorizer: true }), budget),
      )
      if (result.outcome === 'error') this.#fail(policy, invocation.binding, result.message, 'Invalid')
      if (result.outcome !== 'match') return 'skipped'
    }
    if (!isDue(key)) return 'skipped'
    const before = this.#object
    for (const mutation of programs.mutations) await this.#mutateOnce(invocation, mutation)
    if (sameObject(before, this.#object)) return 'unchanged'
    this.#context.explain?.(`policy '${policy.name}' with binding '${invocation.binding.name}' changed the object`)
    return 'changed'
  }

  async #mutateOnce(invocation: Invocation, { type, source }: Mutation): Promise<void> {
    const { policy, binding, params, version } = invocation
    const activation = await this.#activation(version)
    const { work } = activation
    const outer = activation.variables(params, { authorizer: true })
    const { variables, spending } = policyVariables(policy.programs().variables, outer, work)
    try {
      const result = await evaluateExpression(source, variables, { budget: { cost: costBudget, work }, spending })
      if ('error' in result) {
        this.#fail(policy, binding, result.error, 'Invalid')
        return
      }
      const object = activation.object as unknown as JsonObject
      const next = applyMutation(type, result.value, { object, typeRef: this.#context.versionConverter?.typeOf?.(version) })
      if (type === 'JSONPatch') this.#checkShape(next, version)
      if (!equalValues(object, next)) this.#object = await this.#stored(next, version)
    } catch (error) {
      if (!(error instanceof BudgetExceededError || error instanceof MutationError)) throw error
      this.#fail(policy, binding, error.message, 'Invalid')
    }
  }

  /** A JSON Patch may produce anything. @throws ApiError 500 */
  #checkShape(value: JsonObject, version: ObjectVersion): void {
    checkPatchedKind(value, version, this.#context.versionConverter)
    const unknown = this.#context.versionConverter?.unknownFields?.(value, version) ?? []
    if (unknown.length > 0) throw ApiError.internalError(`strict decoding error: ${unknown.join(', ')}`)
  }

  /** The object in the version that plugins run on, with defaults. */
  async #stored(value: JsonObject, version: ObjectVersion): Promise<ApiObject> {
    const { versionConverter } = this.#context
    if (versionConverter === undefined) return value as unknown as ApiObject
    const { resource, kind } = this.#attributes
    try {
      return (await versionConverter.fromVersion(value as JsonValue, version, { resource, kind })).object
    } catch (error) {
      if (error instanceof DecodeError) throw ApiError.internalError(error.message)
      throw error
    }
  }

  async #activation(version: ObjectVersion): Promise<MutationActivation> {
    const attributes = this.#attributes
    const { profile, authorizer } = this.#options
    const { before, after } = requestMembers(attributes, version, profile)
    const versioned = await versionedObjects(this.#object, version, attributes, this.#context)
    const request = { ...before, ...after }
    const input = { attributes, ...versioned, request, namespace: namespaceOf(attributes, this.#context) }
    return new MutationActivation(input, authorizer, versioned.object ?? this.#object)
  }

  #fail({ name, failsOpen }: MutatingPolicy, binding: Binding | undefined, detail: string, reason: Failure['reason']): void {
    if (failsOpen) {
      this.#context.explain?.(`policy ${name}: ${detail}; ignored by its failure policy`)
      return
    }
    const subject = binding === undefined ? `policy ${JSON.stringify(name)}` : `policy '${name}' with binding '${binding.name}'`
    this.#failures.push({ message: `${subject} denied request: ${detail}`, reason })
  }

  #throwFailures(): void {
    const [first] = this.#failures
    if (first === undefined) return
    const { status } = forbidden(this.#attributes, this.#object, first.message)
    throw new ApiError({
      ...status,
      message: first.message,
      reason: first.reason,
      code: 403,
      details: {
        ...status.details,
        causes: [...(status.details?.causes ?? []), ...this.#failures.map(({ message }) => ({ message }))],
      },
    })
  }
}

/** The variables of one mutation, and the object that it changes. */
class MutationActivation extends Activation {
  readonly object: DeepReadonly<ApiObject>

  constructor(input: ConstructorParameters<typeof Activation>[0], authorizer: Authorizer, object: DeepReadonly<ApiObject>) {
    super(input, authorizer)
    this.object = object
  }
}

function sameObject(a: DeepReadonly<ApiObject> | undefined, b: DeepReadonly<ApiObject> | undefined): boolean {
  return a === b || equalValues(a as unknown as JsonValue, b as unknown as JsonValue)
}
