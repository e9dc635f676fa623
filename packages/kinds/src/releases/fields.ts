import { enabledSince } from '@krmkit/meta/feature-gates'
import { fieldRows } from './field-rows.generated.ts'

/** Fields that are younger than their kind, or that were removed from it. */

export interface FieldLifecycle {
  /** Name of the type as in the model: `batch/v1.CronJobSpec`. Older versions of the kind have the same fields. */
  readonly type: string
  /** Name in JSON. */
  readonly field: string
  /** First release whose type has the field: earlier servers treat it as unknown. */
  readonly introduced: string
  /** First release that keeps the field by default: between `introduced` and this one, servers drop it unless its gate is on. */
  readonly enabled: string
  /** First release whose type lacks the field again. */
  readonly removed?: string
  readonly gate?: string
}

let parsed: readonly FieldLifecycle[] | undefined

/**
 * The lifecycles of fields since 1.16. Fields that are not listed are as old as their kind, or older than 1.16. `enabled` is `never`
 * when 1.37 drops the field by default.
 *
 * @example
 * import { fieldLifecycles } from '@krmkit/kinds/releases'
 * const timeZone = fieldLifecycles().find(({ type, field }) => type === 'batch/v1.CronJobSpec' && field === 'timeZone')
 * timeZone?.introduced // '1.24'
 */
export function fieldLifecycles(): readonly FieldLifecycle[] {
  parsed ??= Object.freeze(Object.entries(fieldRows).flatMap(([type, rows]) => rows.map((row) => fieldOf(type, row))))
  return parsed
}

/** Parses `name introduced [enabled] [Gate] [-removed]`. */
function fieldOf(type: string, row: string): FieldLifecycle {
  const [field = '', introduced = '', ...rest] = row.split(' ')
  const removed = rest.find((word) => word.startsWith('-'))?.slice(1)
  const gate = rest.find((word) => /^[A-Z]/.test(word))
  const recorded = gate === undefined ? undefined : enabledSince(gate)
  const enabled = recorded ?? rest.find((word) => /^1\.\d+$/.test(word)) ?? introduced
  return {
    type,
    field,
    introduced,
    enabled,
    ...(removed === undefined ? {} : { removed }),
    ...(gate === undefined ? {} : { gate }),
  }
}
