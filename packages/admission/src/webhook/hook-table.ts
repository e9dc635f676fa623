import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes, ObjectVersion, VersionConverter } from '../interfaces.ts'
import { type Hook, hooksOf } from './hook.ts'
import { matchedVersion } from './matched-version.ts'

/** A webhook whose rules match a request, and the version in which it receives the object. */
export interface WebhookInvocation {
  readonly hook: Hook
  /** Position among all webhooks of the type. */
  readonly index: number
  readonly version: ObjectVersion
}

/** Bounds the cache: custom resources add targets without end. */
const maxTargets = 4096

/** The webhooks of all configurations, by configuration name. Matches of rules are cached for each target. */
export class HookTable {
  readonly hooks: readonly Hook[]
  readonly #byTarget = new Map<string, readonly WebhookInvocation[]>()
  #served: unknown

  /** @param manifests configurations of files, sorted, whose webhooks come first. */
  constructor(configurations: readonly DeepReadonly<ApiObject>[], manifests: readonly DeepReadonly<ApiObject>[] = []) {
    const sorted = [...configurations].sort((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''))
    this.hooks = [...manifests.flatMap((each) => hooksOf(each, 'manifest/')), ...sorted.flatMap((each) => hooksOf(each))]
  }

  /** The webhooks whose rules match, in call order. */
  invocations(attributes: AdmissionAttributes, versionConverter: VersionConverter | undefined): readonly WebhookInvocation[] {
    if (this.hooks.length === 0) return none
    const { operation, resource, subresource, namespace } = attributes
    if (versionConverter !== undefined && versionConverter.served !== this.#served) {
      this.#byTarget.clear()
      this.#served = versionConverter.served
    }
    const scope = namespace === '' ? 'c' : 'n'
    const key = `${operation} ${scope} ${resource.group}/${resource.version}/${resource.resource}/${subresource}/${attributes.kind.kind}`
    const cached = this.#byTarget.get(key)
    if (cached !== undefined) return cached
    const invocations = this.#match(attributes, versionConverter)
    if (this.#byTarget.size >= maxTargets) this.#byTarget.clear()
    this.#byTarget.set(key, invocations)
    return invocations
  }

  #match(attributes: AdmissionAttributes, versionConverter: VersionConverter | undefined): readonly WebhookInvocation[] {
    const invocations: WebhookInvocation[] = []
    for (const [index, hook] of this.hooks.entries()) {
      const version = matchedVersion(hook.rules, attributes, { equivalent: hook.equivalent, versionConverter })
      if (version !== undefined) invocations.push({ hook, index, version })
    }
    return invocations
  }
}

const none: readonly WebhookInvocation[] = []

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
