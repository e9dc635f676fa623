import { createTurns, runInLaterTurns } from '@krmkit/base/work'
import type { Evaluation, Program } from '@krmkit/cel'
import type { Type } from '@krmkit/cel/types'
import { cel, loadCel } from '@krmkit/schema'

/** Loads CEL with all libraries enabled, because operators write the configuration. */
export async function loadOperatorCel() {
  await loadCel()
  const { engine, storedExpressions: stored } = cel()
  return { engine, environment: stored }
}

export type Cel = Awaited<ReturnType<typeof loadOperatorCel>>

type Result = { readonly value: unknown } | { readonly error: string }

const turns = createTurns()

/**
 * Creates an evaluator for a program with one variable, given as JSON. The cost of each evaluation is limited. A long
 * evaluation pauses and returns a promise.
 *
 * @param read converts the value to the result of the evaluator.
 */
export function createEvaluator<T>(
  { engine }: Cel,
  options: { readonly program: Program; readonly variable: string; readonly read: (result: Result) => T },
): (input: object) => T | Promise<T> {
  const { program, variable, read } = options
  const resultOf = ({ value }: Evaluation): T =>
    read(value instanceof engine.ErrorValue ? { error: value.message } : { value: engine.toJson(value) })
  return (input) => {
    const started = program.start({ [variable]: engine.fromJson(input) }, { work: engine.createWorkBudget() })
    if (!(started instanceof engine.PausedEvaluation)) return resultOf(started)
    return runInLaterTurns(started.rest(), turns).then(resultOf)
  }
}

/** CEL types for the attributes of users and requests. */
export interface CelTypes {
  readonly text: Type
  readonly texts: Type
  readonly textsByName: Type
  readonly struct: (name: string, members: Readonly<Record<string, Type>>) => Type
}

/** Returns strings, lists of strings, maps of lists of strings, and a constructor of struct types. */
export function celTypes({ engine }: Cel): CelTypes {
  const { listOf, mapOf, stringType, structOf } = engine
  const texts = listOf(stringType)
  return {
    text: stringType,
    texts,
    textsByName: mapOf(stringType, texts),
    struct: (name, members) => structOf(`kubernetes.${name}`, new Map(Object.entries(members))),
  }
}
