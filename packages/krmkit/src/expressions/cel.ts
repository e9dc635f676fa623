import { cel, loadCel } from '@krmkit/schema'
import type { Program, Type } from '@krmkit/schema/cel'

/** Loads CEL with all libraries enabled, as operators write the configuration. */
export async function loadOperatorCel() {
  await loadCel()
  const { engine, storedExpressions: stored } = cel()
  return { engine, environment: stored }
}

export type Cel = Awaited<ReturnType<typeof loadOperatorCel>>

/** Creates an evaluator for a program with one variable, given as JSON. The cost of each evaluation is limited. */
export function createEvaluator(
  { engine }: Cel,
  options: { readonly program: Program; readonly variable: string },
): (input: object) => { readonly value: unknown } | { readonly error: string } {
  const { program, variable } = options
  return (input) => {
    const { value } = program.evaluate({ [variable]: engine.fromJson(input) }, { work: engine.createWorkBudget() })
    return value instanceof engine.ErrorValue ? { error: value.message } : { value: engine.toJson(value) }
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
