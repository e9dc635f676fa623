import { expressions, loadExpressions } from '@krmkit/schema'
import type { Program, Type } from '@krmkit/schema/cel'

/** The language, and its environment of everything there is: what is configured is the operator's own choice. */
export async function loadCel() {
  await loadExpressions()
  const { engine, stored } = expressions()
  return { engine, environment: stored }
}

export type Cel = Awaited<ReturnType<typeof loadCel>>

/** A program with one variable, given as JSON. The work that it may do is bounded for each evaluation. */
export function createEvaluator(
  { engine }: Cel,
  options: { readonly program: Program; readonly variable: string },
): (subject: object) => { readonly value: unknown } | { readonly error: string } {
  const { program, variable } = options
  return (subject) => {
    const { value } = program.evaluate({ [variable]: engine.fromJson(subject) }, { work: engine.requestWork() })
    return value instanceof engine.Fault ? { error: value.message } : { value: engine.toJson(value) }
  }
}

/** Of what the attributes of users and requests are made. */
export interface CelTypes {
  readonly text: Type
  readonly texts: Type
  readonly textsByName: Type
  readonly struct: (name: string, members: Readonly<Record<string, Type>>) => Type
}

/** Texts, lists of texts, and texts and lists by name. */
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
