import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionContext, ObjectReader } from '../interfaces.ts'
import { type Binding, bindingOf, type Policy } from './policy.ts'

/** A policy with its bindings. */
export interface BoundPolicy<P = Policy> {
  readonly policy: P
  readonly bindings: readonly Binding[]
}

/** The policies and bindings. A request sees every one that was stored before it. */
export class PolicySource<P extends { readonly name: string } = Policy> {
  readonly #policies: ParsedCollection<P>
  readonly #bindings: ParsedCollection<Binding>
  readonly #none: readonly BoundPolicy<P>[] = []
  #bound = this.#none
  #from: readonly [readonly P[], readonly Binding[]] | undefined

  /** @param kind prefix of the two resources: `validating` or `mutating`. */
  constructor({ apiDomain }: NamingProfile, kind: string, parse: (object: DeepReadonly<ApiObject>) => P) {
    const group = `admissionregistration.${apiDomain}`
    this.#policies = new ParsedCollection({ group, resource: `${kind}admissionpolicies` }, parse)
    this.#bindings = new ParsedCollection({ group, resource: `${kind}admissionpolicybindings` }, bindingOf)
  }

  /** The policies that have bindings, sorted by name; rebuilt only after a change. Asynchronous until both collections are cached. */
  bound({ reader }: Pick<AdmissionContext, 'reader'>): readonly BoundPolicy<P>[] | Promise<readonly BoundPolicy<P>[]> {
    const bindings = this.#bindings.now(reader)
    if (bindings === undefined) return this.#read(reader)
    if (bindings.length === 0) return this.#none
    const policies = this.#policies.now(reader)
    return policies === undefined ? this.#read(reader) : this.#join(policies, bindings)
  }

  async #read(reader: ObjectReader): Promise<readonly BoundPolicy<P>[]> {
    const bindings = await this.#bindings.all(reader)
    return bindings.length === 0 ? this.#none : this.#join(await this.#policies.all(reader), bindings)
  }

  #join(policies: readonly P[], bindings: readonly Binding[]): readonly BoundPolicy<P>[] {
    if (this.#from?.[0] === policies && this.#from[1] === bindings) return this.#bound
    this.#from = [policies, bindings]
    this.#bound = policies.flatMap((policy) => {
      const own = bindings.filter(({ policyName }) => policyName === policy.name)
      return own.length === 0 ? [] : [{ policy, bindings: own }]
    })
    return this.#bound
  }
}

/** The parsed objects of a resource. An unchanged object keeps its parsed value. */
class ParsedCollection<T> {
  readonly #resource: { readonly group: string; readonly resource: string }
  readonly #parse: (object: DeepReadonly<ApiObject>) => T
  #objects: readonly DeepReadonly<ApiObject>[] = []
  #parsed = new Map<string, T>()
  #list: readonly T[] = []

  constructor(resource: { readonly group: string; readonly resource: string }, parse: (object: DeepReadonly<ApiObject>) => T) {
    this.#resource = resource
    this.#parse = parse
  }

  /** The parsed objects; undefined until the collection is cached. */
  now(reader: ObjectReader): readonly T[] | undefined {
    const objects = reader.listNow?.(this.#resource)
    return objects === undefined ? undefined : this.#parsedOf(objects)
  }

  async all(reader: ObjectReader): Promise<readonly T[]> {
    return this.now(reader) ?? this.#parsedOf(await reader.list(this.#resource))
  }

  #parsedOf(objects: readonly DeepReadonly<ApiObject>[]): readonly T[] {
    const before = this.#objects
    if (objects === before) return this.#list
    if (objects.length === before.length && objects.every((object, i) => object === before[i])) return this.#list
    this.#objects = objects
    const parsed = new Map<string, T>()
    for (const object of objects) {
      const { name = '', uid = '', resourceVersion = '' } = object.metadata
      const key = `${name} ${uid} ${resourceVersion}`
      parsed.set(key, this.#parsed.get(key) ?? this.#parse(object))
    }
    const same = parsed.size === this.#parsed.size && [...parsed].every(([key, value]) => this.#parsed.get(key) === value)
    if (!same) {
      this.#parsed = parsed
      this.#list = [...parsed.values()]
    }
    return this.#list
  }
}
