import { memberNames } from '@krmkit/base/work'
import type { DeepReadonly, Features, JsonObject } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { isUnrecognizedFormat } from '@krmkit/schema/structural'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import type { Schema } from './schema.ts'

/**
 * Warnings about the schemas of a definition: formats that are not checked, from 1.34 on, and sets of objects or lists, from 1.37 on. An
 * update repeats none of them.
 */
export function schemaWarnings(
  { spec }: Definition,
  old: Definition | undefined,
  { release }: Pick<Features, 'release'>,
): string[] {
  if (!release.atLeast('1.34')) return []
  const found = warningsOf(spec, release)
  const before = old === undefined ? undefined : warningsOf(old.spec, release)
  return [...kept(found.formats, before?.formats), ...kept(found.sets, before?.sets).sort()]
}

type Definition = DeepReadonly<CustomResourceDefinition>

interface Warnings {
  readonly formats: ReadonlySet<string>
  readonly sets: ReadonlySet<string>
}

const kept = (texts: ReadonlySet<string>, before: ReadonlySet<string> = new Set()) =>
  [...texts].filter((text) => !before.has(text))

function warningsOf({ versions }: Definition['spec'], release: Features['release']): Warnings {
  const formats = new Set<string>()
  const sets = new Set<string>()
  for (const { schema } of versions ?? []) {
    for (const part of parts(schema?.openAPIV3Schema)) {
      if (isUnrecognizedFormat(part as JsonObject, release)) formats.add(`unrecognized format ${goQuote(part.format ?? '')}`)
      const type = release.atLeast('1.37') ? itemsOfSet(part) : undefined
      if (type !== 'object' && type !== 'array') continue
      sets.add(
        `x-kubernetes-list-type: set for items of type ${goQuote(type)} is not supported by server-side apply or CEL validation rules`,
      )
    }
  }
  return { formats, sets }
}

/** The type of the items of a set. */
function itemsOfSet({ 'x-kubernetes-list-type': list, items }: Schema): string | undefined {
  return list === 'set' && isSchema(items) ? (items.type ?? '') : undefined
}

/** A schema and the schemas in it, each before its parts. */
function* parts(schema: unknown): Generator<Schema> {
  const open: unknown[] = [schema]
  while (open.length > 0) {
    const part = open.pop()
    if (!isSchema(part)) continue
    yield part
    const inner: unknown[] = [part.items, ...(part.allOf ?? []), ...(part.anyOf ?? []), ...(part.oneOf ?? []), part.not]
    for (const name of [...memberNames(part.properties ?? {})].sort()) inner.push(part.properties?.[name])
    inner.push(part.additionalProperties)
    for (let i = inner.length - 1; i >= 0; i--) open.push(inner[i])
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
