import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionContext } from '../interfaces.ts'
import { type Binding, bindingOf, type Policy, policyOf } from './policy.ts'

/** A policy with the bindings that make it count. */
export interface BoundPolicy {
  readonly policy: Policy
  readonly bindings: readonly Binding[]
}

/** Follows policies and bindings: what was stored before a request counts for it. */
export class PolicySource {
  readonly #policies: Followed<Policy>
  readonly #bindings: Followed<Binding>
  #bound: readonly BoundPolicy[] = []
  #from: readonly [readonly Policy[], readonly Binding[]] | undefined

  constructor({ apiDomain }: NamingProfile) {
    const group = `admissionregistration.${apiDomain}`
    this.#policies = new Followed({ group, resource: 'validatingadmissionpolicies' }, policyOf)
    this.#bindings = new Followed({ group, resource: 'validatingadmissionpolicybindings' }, bindingOf)
  }

  /** Those with bindings, in the order of their names; made anew only when something has changed. */
  async bound(context: AdmissionContext): Promise<readonly BoundPolicy[]> {
    const bindings = await this.#bindings.all(context)
    if (bindings.length === 0) return []
    const policies = await this.#policies.all(context)
    if (this.#from?.[0] === policies && this.#from[1] === bindings) return this.#bound
    this.#from = [policies, bindings]
    this.#bound = policies.flatMap((policy) => {
      const own = bindings.filter(({ policyName }) => policyName === policy.name)
      return own.length === 0 ? [] : [{ policy, bindings: own }]
    })
    return this.#bound
  }
}

/** What is made of the objects of a resource; what is made of an object that stays the same stays, too. */
class Followed<T> {
  readonly #resource: { readonly group: string; readonly resource: string }
  readonly #make: (object: DeepReadonly<ApiObject>) => T
  #objects: readonly DeepReadonly<ApiObject>[] = []
  #made = new Map<string, T>()
  #list: readonly T[] = []

  constructor(resource: { readonly group: string; readonly resource: string }, make: (object: DeepReadonly<ApiObject>) => T) {
    this.#resource = resource
    this.#make = make
  }

  async all({ reader }: AdmissionContext): Promise<readonly T[]> {
    const objects = reader.listNow?.(this.#resource) ?? (await reader.list(this.#resource))
    const before = this.#objects
    if (objects.length === before.length && objects.every((object, i) => object === before[i])) return this.#list
    this.#objects = objects
    const made = new Map<string, T>()
    for (const object of objects) {
      const { name = '', uid = '', resourceVersion = '' } = object.metadata
      const key = `${name} ${uid} ${resourceVersion}`
      made.set(key, this.#made.get(key) ?? this.#make(object))
    }
    const same = made.size === this.#made.size && [...made].every(([key, value]) => this.#made.get(key) === value)
    if (!same) {
      this.#made = made
      this.#list = [...made.values()]
    }
    return this.#list
  }
}
