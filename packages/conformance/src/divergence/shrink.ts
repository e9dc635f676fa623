import type { JsonObject, JsonValue } from '@krmkit/meta'
import { signature } from './compare.ts'
import type { Scenario, Step } from './scenario.ts'
import type { SideBySide, SideBySideResult } from './side-by-side.ts'

/** A scenario with its result. */
export interface Shrunk {
  readonly scenario: Scenario
  readonly result: SideBySideResult
}

/**
 * Shortens a scenario while its divergence keeps its signature: drops steps, then members and items of bodies, then parts of the query.
 *
 * @param attempts number of runs at most
 */
export async function shrink(duel: SideBySide, start: Shrunk, attempts = 120): Promise<Shrunk> {
  const wanted = start.result.divergence === undefined ? '' : signature(start.result.divergence)
  let best = start
  let left = attempts
  const tries = async (scenario: Scenario): Promise<boolean> => {
    if (left-- <= 0) return false
    const result = await duel.run(scenario)
    if (result.divergence === undefined || signature(result.divergence) !== wanted) return false
    best = { scenario, result }
    return true
  }
  const last = best.result.divergence?.step.id
  const end = best.scenario.steps.findIndex(({ id }) => id === last)
  if (!best.scenario.steps.some(({ watch }) => watch))
    await tries({ ...best.scenario, steps: best.scenario.steps.slice(0, end + 1) })
  for (let i = best.scenario.steps.length - 1; i >= 0; i--) {
    if (best.scenario.steps[i]?.id !== last) await tries({ ...best.scenario, steps: best.scenario.steps.toSpliced(i, 1) })
  }
  for (let i = 0; i < best.scenario.steps.length; i++) {
    for (let again = true; again && left > 0; ) {
      again = false
      for (const step of smallerSteps(best.scenario.steps[i] as Step)) {
        if (await tries({ ...best.scenario, steps: best.scenario.steps.with(i, step) })) {
          again = true
          break
        }
      }
    }
  }
  return best
}

function* smallerSteps(step: Step): Generator<Step> {
  const { body, query, headers, as, ...rest } = step
  if (body !== undefined && 'json' in body) {
    for (const json of smallerValues(body.json)) yield { ...step, body: { json } }
  }
  if (body !== undefined && 'protobuf' in body) {
    // Without its type an object cannot be encoded.
    for (const object of smallerValues(body.protobuf.object))
      if (isTyped(object)) yield { ...step, body: { protobuf: { ...body.protobuf, object: object as JsonObject } } }
  }
  if (Array.isArray(query)) {
    for (let i = 0; i < query.length; i++) yield { ...step, query: query.toSpliced(i, 1) }
  }
  for (const name of Object.keys(headers ?? {})) {
    const others = Object.entries(headers ?? {}).filter(([key]) => key !== name)
    const kept = {
      ...rest,
      ...(body === undefined ? {} : { body }),
      ...(query === undefined ? {} : { query }),
      ...(as === undefined ? {} : { as }),
    }
    yield others.length === 0 ? kept : { ...kept, headers: Object.fromEntries(others) }
  }
}

function isTyped(value: JsonValue): boolean {
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown }
  return typeof apiVersion === 'string' && typeof kind === 'string'
}

/** The value without one of its parts; large parts first. */
function* smallerValues(value: JsonValue): Generator<JsonValue> {
  if (typeof value !== 'object' || value === null) return
  const keys = Object.keys(value).sort((a, b) => size(value, b) - size(value, a))
  for (const key of keys) yield without(value, key)
  for (const key of keys) {
    for (const smaller of smallerValues((value as Record<string, JsonValue>)[key] ?? null)) yield withPart(value, key, smaller)
  }
}

function size(value: object, key: string): number {
  return JSON.stringify((value as Record<string, unknown>)[key])?.length ?? 0
}

function without(value: object, key: string): JsonValue {
  if (Array.isArray(value)) return value.toSpliced(Number(key), 1) as JsonValue
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key)) as JsonValue
}

function withPart(value: object, key: string, part: JsonValue): JsonValue {
  return (Array.isArray(value) ? value.with(Number(key), part) : { ...value, [key]: part }) as JsonValue
}
