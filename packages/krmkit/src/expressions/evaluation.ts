import { cel, loadCel } from '@krmkit/schema'
import type { Program, Type } from '@krmkit/schema/cel'

/** The language, and its environment of everything there is: what is configured is the operator's own choice. */
export async function language() {
  await loadCel()
  const { engine, storedExpressions: stored } = cel()
  return { engine, environment: stored }
}

export type Language = Awaited<ReturnType<typeof language>>

/** A program with one variable, given as JSON. The work that it may do is bounded for each evaluation. */
export function evaluator(
  { engine }: Language,
  options: { readonly program: Program; readonly variable: string },
): (subject: object) => { readonly value: unknown } | { readonly error: string } {
  const { program, variable } = options
  return (subject) => {
    const { value } = program.evaluate({ [variable]: engine.fromJson(subject) }, { work: engine.createWorkBudget() })
    return value instanceof engine.ErrorValue ? { error: value.message } : { value: engine.toJson(value) }
  }
}

/** Of what the attributes of users and requests are made. */
export interface Structures {
  readonly text: Type
  readonly texts: Type
  readonly textsByName: Type
  readonly struct: (name: string, members: Readonly<Record<string, Type>>) => Type
}

/** Texts, lists of texts, and texts and lists by name. */
export function structures({ engine }: Language): Structures {
  const { listOf, mapOf, stringType, structOf } = engine
  const texts = listOf(stringType)
  return {
    text: stringType,
    texts,
    textsByName: mapOf(stringType, texts),
    struct: (name, members) => structOf(`kubernetes.${name}`, new Map(Object.entries(members))),
  }
}
