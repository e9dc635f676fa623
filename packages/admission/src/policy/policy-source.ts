import { whenDone } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionContext, AdmissionTarget, ObjectReader } from '../interfaces.ts'
import type { StaticObjects } from '../manifests/static-objects.ts'
import { reviewResources } from '../review-resources.ts'
import { type Binding, bindingOf, type Policy } from './policy.ts'

/** A policy with its bindings. */
export interface BoundPolicy<P = Policy> {
  readonly policy: P
  readonly bindings: readonly Binding[]
}

type Bound<P> = readonly BoundPolicy<P>[]
type Objects = readonly DeepReadonly<ApiObject>[]
type Target = Pick<AdmissionTarget, 'resource'>

export interface PolicySourceOptions {
  readonly profile: NamingProfile
  /** Policies and bindings of files. */
  readonly manifests?: StaticObjects | undefined
}

const policyResources = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]

/** The policies and bindings. A request sees every one that was stored before it. */
export class PolicySource<P extends { readonly name: string } = Policy> {
  readonly #policies: ParsedCollection<P>
  readonly #bindings: ParsedCollection<Binding>
  readonly #none: readonly BoundPolicy<P>[] = []
  #bound = this.#none
  #from: readonly [readonly P[], readonly Binding[]] | undefined
  readonly #static: StaticPolicies<P> | undefined
  /** Resources of policies, which only policies of files may match, since others could block their own repair. */
  readonly #configurations: ReadonlySet<string>
  readonly #reviews: ReadonlySet<string>
  #joined: { readonly from: readonly [Bound<P>, Bound<P>]; readonly all: Bound<P> } | undefined

  /** @param kind prefix of the two resources: `validating` or `mutating`. */
  constructor({ profile, manifests }: PolicySourceOptions, kind: string, parse: (object: DeepReadonly<ApiObject>) => P) {
    const group = `admissionregistration.${profile.apiDomain}`
    this.#policies = new ParsedCollection({ group, resource: `${kind}admissionpolicies` }, parse)
    this.#bindings = new ParsedCollection({ group, resource: `${kind}admissionpolicybindings` }, bindingOf)
    this.#static = manifests === undefined ? undefined : new StaticPolicies(manifests, kind, parse)
    this.#configurations = new Set(policyResources.map((resource) => `${group}/${resource}`))
    this.#reviews = new Set(reviewResources(profile))
  }

  /** Whether policies may apply to a target: never to reviews, and to policies only those of files. */
  handles({ resource }: Target): boolean {
    const key = `${resource.group}/${resource.resource}`
    return !this.#reviews.has(key) && (this.#static !== undefined || !this.#configurations.has(key))
  }

  /**
   * The policies that have bindings: those of files, then those of the API, each sorted by name; rebuilt only after a change. Asynchronous
   * until both collections are cached.
   */
  bound({ resource }: Target, context: Pick<AdmissionContext, 'reader'>): Bound<P> | Promise<Bound<P>> {
    const found = this.#static?.bound()
    if (found === undefined) return this.#ofApi(context)
    if (this.#configurations.has(`${resource.group}/${resource.resource}`)) return found
    return whenDone(this.#ofApi(context), (others) => this.#both(found, others))
  }

  #both(first: Bound<P>, second: Bound<P>): Bound<P> {
    const { from, all } = this.#joined ?? {}
    if (all !== undefined && from?.[0] === first && from[1] === second) return all
    const joined = [...first, ...second]
    this.#joined = { from: [first, second], all: joined }
    return joined
  }

  #ofApi({ reader }: Pick<AdmissionContext, 'reader'>): Bound<P> | Promise<Bound<P>> {
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
    this.#bound = joinPolicies(policies, bindings)
    return this.#bound
  }
}

/** The policies and bindings of files. */
class StaticPolicies<P extends { readonly name: string }> {
  readonly #manifests: StaticObjects
  readonly #kind: string
  readonly #parse: (object: DeepReadonly<ApiObject>) => P
  #from: readonly [Objects, Objects] | undefined
  #bound: Bound<P> = []

  constructor(manifests: StaticObjects, kind: string, parse: (object: DeepReadonly<ApiObject>) => P) {
    this.#manifests = manifests
    this.#kind = kind
    this.#parse = parse
  }

  bound(): Bound<P> {
    const policies = this.#manifests.list(`${this.#kind}admissionpolicies`)
    const bindings = this.#manifests.list(`${this.#kind}admissionpolicybindings`)
    if (this.#from?.[0] !== policies || this.#from[1] !== bindings) {
      this.#from = [policies, bindings]
      this.#bound = joinPolicies(policies.map(this.#parse), bindings.map(bindingOf))
    }
    return this.#bound
  }
}

function joinPolicies<P extends { readonly name: string }>(policies: readonly P[], bindings: readonly Binding[]): Bound<P> {
  return policies.flatMap((policy) => {
    const own = bindings.filter(({ policyName }) => policyName === policy.name)
    return own.length === 0 ? [] : [{ policy, bindings: own }]
  })
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
