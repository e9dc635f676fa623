import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { type LabelSelector, labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { MatchCondition } from './interfaces.ts'
import type { Rule } from './rule.ts'

/** The `clientConfig` of a webhook. */
export interface ClientConfig {
  readonly url?: string | null
  readonly service?: {
    readonly namespace?: string
    readonly name?: string
    readonly path?: string | null
    readonly port?: number | null
  } | null
  /** Base64 of PEM. */
  readonly caBundle?: string | null
}

/** One webhook of a configuration, with defaults filled in and selectors compiled. */
export interface Hook {
  /** Unique even for equal names: `configuration/name/n`. */
  readonly uid: string
  readonly configuration: string
  readonly name: string
  readonly client: ClientConfig
  readonly rules: readonly Rule[]
  readonly equivalent: boolean
  readonly namespaceSelector: LabelSelector | Error
  readonly objectSelector: LabelSelector | Error
  readonly conditions: readonly MatchCondition[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  /** Absent in configurations that predate the member. */
  readonly sideEffects: string | undefined
  readonly timeoutMs: number
  readonly reviewVersions: readonly string[]
  readonly reinvocable: boolean
}

interface HookMembers {
  readonly name?: string
  readonly clientConfig?: ClientConfig
  readonly rules?: readonly Rule[] | null
  readonly matchPolicy?: string
  readonly namespaceSelector?: object | null
  readonly objectSelector?: object | null
  readonly matchConditions?: readonly MatchCondition[] | null
  readonly failurePolicy?: string
  readonly sideEffects?: string | null
  readonly timeoutSeconds?: number | null
  readonly admissionReviewVersions?: readonly string[] | null
  readonly reinvocationPolicy?: string
}

const defaultTimeoutSeconds = 10

/** The webhooks of one configuration, in order. @param prefix of their identifiers */
export function hooksOf(configuration: DeepReadonly<ApiObject>, prefix = ''): readonly Hook[] {
  const owner = configuration.metadata.name ?? ''
  const { webhooks } = configuration as { readonly webhooks?: readonly HookMembers[] | null }
  const seen = new Map<string, number>()
  return (webhooks ?? []).map((members): Hook => {
    const { name = '' } = members
    const n = seen.get(name) ?? 0
    seen.set(name, n + 1)
    return {
      uid: `${prefix}${owner}/${name}/${n}`,
      configuration: owner,
      name,
      client: members.clientConfig ?? {},
      rules: members.rules ?? [],
      equivalent: (members.matchPolicy ?? 'Equivalent') === 'Equivalent',
      namespaceSelector: compileSelector(members.namespaceSelector),
      objectSelector: compileSelector(members.objectSelector),
      conditions: members.matchConditions ?? [],
      failurePolicy: members.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
      sideEffects: members.sideEffects ?? undefined,
      timeoutMs: (members.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
      reviewVersions: members.admissionReviewVersions ?? [],
      reinvocable: members.reinvocationPolicy === 'IfNeeded',
    }
  })
}

/** Compiles a selector. An invalid one, stored before validation existed, becomes an Error, and requests that it matches fail. */
export function compileSelector(given: object | null | undefined): LabelSelector | Error {
  try {
    return labelSelectorFromObject(given ?? {})
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
