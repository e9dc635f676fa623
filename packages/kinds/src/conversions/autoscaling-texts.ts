import { type DeepReadonly, MetaError } from '@krmkit/meta'
import { normalizeQuantity } from '@krmkit/meta/quantity'
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HPAScalingRules,
} from '../types/autoscaling-v2.generated.ts'
import { type Loose, omitUndefined } from './convert.ts'

/** Annotations that hold JSON, written as Go writes it. Clients can change them, so reading checks every type. */

export type { Loose } from './convert.ts'

/** Thrown by the readers below, caught within the conversions. */
class MalformedText extends Error {}

/** JSON with `<`, `>` and `&` escaped, as Go writes it. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A JSON list whose elements `read` parses; undefined if there is no text or it is malformed. */
export function readText<T>(source: string | undefined, read: (element: unknown) => T): T[] | undefined {
  return attempt(source, (value) => (value === null ? [] : list(value).map(read)))
}

/** The annotation uses the Go names of the members: `ScaleUp`, `StabilizationWindowSeconds`. */
export function behaviorToText({ scaleUp, scaleDown }: DeepReadonly<HorizontalPodAutoscalerBehavior>): string {
  return goJson({ ScaleUp: rulesToText(scaleUp), ScaleDown: rulesToText(scaleDown) })
}

/** Undefined if the text is absent or sets nothing. Member names may be in any case. */
export function behaviorFromText(source: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  const behavior = attempt(source, (value) => {
    const { scaleup, scaledown } = lowerCased(value)
    return omitUndefined({ scaleUp: rulesFromText(scaleup), scaleDown: rulesFromText(scaledown) })
  })
  return behavior === undefined || Object.keys(behavior).length === 0 ? undefined : behavior
}

export function conditionsFromText(source: string | undefined): HorizontalPodAutoscalerCondition[] | undefined {
  const conditions = readText(source, (value) => {
    const { type, status, lastTransitionTime, reason, message } = object(value)
    return omitUndefined({
      type: text(type),
      status: text(status),
      lastTransitionTime: optionalText(lastTransitionTime) ?? null,
      reason: optionalText(reason),
      message: optionalText(message),
    }) as unknown as HorizontalPodAutoscalerCondition
  })
  return conditions?.length ? conditions : undefined
}

/** Absent counts as empty. */
export function text(value: unknown): string {
  return optionalText(value) ?? ''
}

export function optionalText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new MalformedText()
  return value
}

export function optionalInteger(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  if (!Number.isInteger(value)) throw new MalformedText()
  return value as number
}

export function optionalQuantity(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' && typeof value !== 'number') throw new MalformedText()
  return normalizeQuantity(String(value))
}

export function object(value: unknown): Loose {
  return optionalObject(value) ?? {}
}

export function optionalObject(value: unknown): Loose | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw new MalformedText()
  return value as Loose
}

export function list(value: unknown): readonly unknown[] {
  if (value === null) return []
  if (!Array.isArray(value)) throw new MalformedText()
  return value
}

function rulesToText(rules: DeepReadonly<HPAScalingRules> | undefined): Loose | null {
  if (rules === undefined) return null
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies:
      rules.policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ??
      null,
    Tolerance: rules.tolerance ?? null,
  }
}

function rulesFromText(value: unknown): HPAScalingRules | undefined {
  if (value === undefined || value === null) return undefined
  const { stabilizationwindowseconds, selectpolicy, policies, tolerance } = lowerCased(value)
  return omitUndefined({
    stabilizationWindowSeconds: optionalInteger(stabilizationwindowseconds),
    selectPolicy: optionalText(selectpolicy),
    policies:
      policies === undefined || policies === null
        ? undefined
        : list(policies).map((each) => {
            const policy = lowerCased(each)
            return {
              type: text(policy.type),
              value: optionalInteger(policy.value) ?? 0,
              periodSeconds: optionalInteger(policy.periodseconds) ?? 0,
            }
          }),
    tolerance: optionalQuantity(tolerance),
  })
}

function lowerCased(value: unknown): Loose {
  return Object.fromEntries(Object.entries(object(value)).map(([name, member]) => [name.toLowerCase(), member]))
}

function attempt<T>(source: string | undefined, read: (value: unknown) => T): T | undefined {
  if (source === undefined) return undefined
  try {
    return read(JSON.parse(source))
  } catch (error) {
    if (error instanceof MalformedText || error instanceof SyntaxError || error instanceof MetaError) return undefined
    throw error
  }
}
