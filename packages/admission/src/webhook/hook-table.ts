import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, ObjectConvertor, ObjectVersion } from '../interfaces.ts'
import { type Hook, hooksOf } from './hook.ts'
import { ruleCovers } from './rule.ts'

/** A webhook whose rules cover a kind of request, and the form in which it wants to be shown the object. */
export interface Candidate {
  readonly hook: Hook
  /** Position among all webhooks of its type. */
  readonly index: number
  readonly form: ObjectVersion
}

/** Kinds of requests are few, but custom resources come and go. */
const maxTargets = 4096

/**
 * The webhooks of all configurations, in the order of their names. Which of them have a rule for a kind of request is worked out
 * once, so that those that have none cost nothing.
 */
export class HookTable {
  readonly hooks: readonly Hook[]
  readonly #chosen = new Map<string, readonly Candidate[]>()
  #served: unknown

  constructor(configurations: readonly DeepReadonly<ApiObject>[]) {
    const sorted = [...configurations].sort((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''))
    this.hooks = sorted.flatMap(hooksOf)
  }

  /** In the order in which they are called. */
  candidates(attributes: AdmissionAttributes, forms: ObjectConvertor | undefined): readonly Candidate[] {
    if (this.hooks.length === 0) return none
    const { operation, resource, subresource, namespace } = attributes
    if (forms !== undefined && forms.served !== this.#served) {
      this.#chosen.clear()
      this.#served = forms.served
    }
    const place = namespace === '' ? 'c' : 'n'
    const key = `${operation} ${place} ${resource.group}/${resource.version}/${resource.resource}/${subresource}/${attributes.kind.kind}`
    const known = this.#chosen.get(key)
    if (known !== undefined) return known
    const chosen = this.#choose(attributes, forms)
    if (this.#chosen.size >= maxTargets) this.#chosen.clear()
    this.#chosen.set(key, chosen)
    return chosen
  }

  #choose(attributes: AdmissionAttributes, forms: ObjectConvertor | undefined): readonly Candidate[] {
    const chosen: Candidate[] = []
    for (const [index, hook] of this.hooks.entries()) {
      const form = formFor(hook, attributes, forms)
      if (form !== undefined) chosen.push({ hook, index, form })
    }
    return chosen
  }
}

const none: readonly Candidate[] = []

/** As it was asked for when a rule covers that; otherwise the first other version that a rule covers. */
function formFor(hook: Hook, attributes: AdmissionAttributes, forms: ObjectConvertor | undefined): ObjectVersion | undefined {
  const { resource, kind, subresource } = attributes
  if (hook.rules.some((rule) => ruleCovers(rule, attributes))) return { resource, kind }
  if (!hook.equivalent || forms === undefined) return undefined
  const others = forms.equivalents(resource, subresource)
  for (const rule of hook.rules) {
    for (const other of others) {
      const same = other.resource.group === resource.group && other.resource.version === resource.version
      if (!same && ruleCovers(rule, { ...attributes, resource: other.resource })) return other
    }
  }
  return undefined
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
