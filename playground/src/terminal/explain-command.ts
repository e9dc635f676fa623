import { apiVersionOf } from '../discovery.ts'
import { isSet } from './arguments.ts'
import type { Session } from './session.ts'
import { TerminalError } from './terminal-error.ts'

/** `explain`: the documentation of a field, from the OpenAPI document of the server. */

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly enum?: readonly string[]
  readonly $ref?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}

type Definitions = Readonly<Record<string, Schema>>

const width = 80

export async function explain(session: Session): Promise<void> {
  const [path] = session.given.words
  if (path === undefined) throw new TerminalError('usage: explain TYPE[.FIELD...]')
  const [type = '', ...fields] = path.split('.')
  const resource = await session.resource(type)
  const { definitions } = await session.send<{ definitions: Definitions }>({ path: '/openapi/v2' })
  const { group, version, kind } = resource
  const root = Object.values(definitions).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (each) => each.group === group && each.version === version && each.kind === kind,
    ),
  )
  if (root === undefined) throw new TerminalError(`the server documents no ${kind} in ${apiVersionOf(resource)}`)
  let schema = root
  let owner = root
  for (const field of fields) {
    owner = objectOf(schema, definitions)
    const next = owner.properties?.[field]
    if (next === undefined) throw new TerminalError(`field "${field}" does not exist`)
    schema = next
  }
  const target = objectOf(schema, definitions)
  const lines = [...(group === '' ? [] : [`GROUP:      ${group}`]), `KIND:       ${kind}`, `VERSION:    ${version}`, '']
  if (fields.length > 0)
    lines.push(`FIELD: ${fields.at(-1)} <${typeText(schema, definitions)}>${isRequired(owner, fields.at(-1)!)}`, '')
  lines.push('DESCRIPTION:', ...wrapped(schema.description ?? target.description ?? '<empty>', 4), '')
  if (target.properties !== undefined) {
    lines.push('FIELDS:')
    lines.push(...fieldLines(target, definitions, { depth: 1, isRecursive: isSet(session.given, 'recursive'), above: [] }))
  }
  session.output.print(`${lines.join('\n')}\n`)
}

/** The schema with fields: behind references, lists and maps. */
function objectOf(schema: Schema, definitions: Definitions): Schema {
  if (schema.$ref !== undefined) return objectOf(definitions[schema.$ref.replace('#/definitions/', '')] ?? {}, definitions)
  if (schema.items !== undefined) return objectOf(schema.items, definitions)
  if (typeof schema.additionalProperties === 'object') return objectOf(schema.additionalProperties, definitions)
  return schema
}

function typeText(schema: Schema, definitions: Definitions): string {
  if (schema.$ref !== undefined) {
    const target = definitions[schema.$ref.replace('#/definitions/', '')] ?? {}
    return target.properties === undefined ? (target.type ?? 'Object') : (schema.$ref.split('.').at(-1) ?? 'Object')
  }
  if (schema.items !== undefined) return `[]${typeText(schema.items, definitions)}`
  if (typeof schema.additionalProperties === 'object') return `map[string]${typeText(schema.additionalProperties, definitions)}`
  return schema.type === undefined || schema.type === 'object' ? 'Object' : schema.type
}

function isRequired({ required = [] }: Schema, name: string): string {
  return required.includes(name) ? ' -required-' : ''
}

interface Depth {
  readonly depth: number
  readonly isRecursive: boolean
  /** Schemas on the way, so that recursive types end. */
  readonly above: readonly Schema[]
}

function fieldLines(schema: Schema, definitions: Definitions, { depth, isRecursive, above }: Depth): string[] {
  const indent = '  '.repeat(depth)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const head = `${indent}${name}\t<${typeText(field, definitions)}>${isRequired(schema, name)}`
    if (!isRecursive) return [head, ...wrapped(field.description ?? '<no description>', depth * 2 + 2), '']
    const target = objectOf(field, definitions)
    const isEnd = above.includes(target) || depth > 12
    return [head, ...(isEnd ? [] : fieldLines(target, definitions, { depth: depth + 1, isRecursive, above: [...above, target] }))]
  })
}

function wrapped(text: string, indent: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + word.length + 1 > width - indent) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((each) => `${' '.repeat(indent)}${each}`)
}
