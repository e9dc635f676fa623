import type { JsonObject, JsonValue } from '@krmkit/meta'
import { printYaml } from '@krmkit/schema'
import { columns } from '../../../packages/cli/src/access/access-text.ts'
import { TerminalError } from './terminal-error.ts'

/** Objects and tables as text. */

/** A Table of the server. */
export interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority?: number }[]
  readonly rows?: readonly TableRow[]
  readonly metadata?: { readonly resourceVersion?: string }
}

interface TableRow {
  readonly cells: readonly JsonValue[]
  readonly object?: {
    readonly metadata?: { readonly name?: string; readonly namespace?: string; readonly labels?: Record<string, string> }
  }
}

export interface TableOptions {
  /** Prints columns of lower priority. */
  readonly wide: boolean
  readonly namespaces: boolean
  readonly labels: boolean
  readonly headers: boolean
}

/** Aligns the rows of a table. */
export function tableText({ columnDefinitions, rows = [] }: Table, { wide, namespaces, labels, headers }: TableOptions): string {
  const shown = columnDefinitions.flatMap(({ priority = 0 }, index) => (wide || priority === 0 ? [index] : []))
  const head = [
    ...(namespaces ? ['NAMESPACE'] : []),
    ...shown.map((index) => columnDefinitions[index]!.name.toUpperCase()),
    ...(labels ? ['LABELS'] : []),
  ]
  const lines = rows.map(({ cells, object }) => [
    ...(namespaces ? [object?.metadata?.namespace ?? ''] : []),
    ...shown.map((index) => cellText(cells[index])),
    ...(labels ? [labelText(object?.metadata?.labels)] : []),
  ])
  return columns([...(headers ? [head] : []), ...lines])
}

function cellText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '<none>'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === '' ? ' ' : text
}

function labelText(labels: Readonly<Record<string, string>> = {}): string {
  return (
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',') || '<none>'
  )
}

/** Prints an object as YAML or JSON, by default without managed fields. @throws TerminalError for another format */
export function objectText(object: JsonObject, format: string, { managedFields }: { readonly managedFields: boolean }): string {
  const shown = managedFields ? object : withoutManagedFields(object)
  if (format === 'yaml') return printYaml(shown)
  if (format === 'json') return `${JSON.stringify(shown, null, 4)}\n`
  throw new TerminalError(`unknown output format ${JSON.stringify(format)}; available: yaml, json, name, wide`)
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata, items } = object as { metadata?: JsonObject; items?: JsonObject[] }
  const { managedFields: _, ...rest } = metadata ?? {}
  return {
    ...object,
    ...(metadata === undefined ? {} : { metadata: rest }),
    ...(items === undefined ? {} : { items: items.map(withoutManagedFields) }),
  }
}
