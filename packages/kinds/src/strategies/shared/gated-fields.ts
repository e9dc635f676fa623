/** Members behind feature gates: a write with the gate off loses them, unless the stored object already has one of them. */
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'

/** Members of a kind that one gate controls. */
export interface GatedFields {
  readonly gate: string
  /** Member paths such as `containers.*.resizePolicy`; `*` is every item of a list or map. */
  readonly paths: readonly string[]
  /** Paths that show that the stored object uses the feature. Default: `paths`. */
  readonly usedBy?: readonly string[]
  /** Only objects with a value at this path lose the members. Default: all. */
  readonly when?: string
}

/** Drops members whose gate is off, unless `old` uses them. Mutates `object`. */
export function dropGatedFields(
  object: object | undefined,
  old: DeepReadonly<object> | undefined,
  { table, features }: { readonly table: readonly GatedFields[]; readonly features: Features },
): void {
  if (object === undefined) return
  for (const row of table) {
    if (gateEnabled(row.gate, features)) continue
    if (old !== undefined && (row.usedBy ?? row.paths).some((path) => isUsed(old, stepsOf(path), 0))) continue
    if (row.when !== undefined && !isUsed(object, stepsOf(row.when), 0)) continue
    for (const path of row.paths) removeAt(object, stepsOf(path), 0)
  }
}

/** The paths of the tables, split: every write asks for all of them. */
const splitPaths = new Map<string, readonly string[]>()

function stepsOf(path: string): readonly string[] {
  let steps = splitPaths.get(path)
  if (steps === undefined) {
    steps = path.split('.')
    splitPaths.set(path, steps)
  }
  return steps
}

function isUsed(value: unknown, path: readonly string[], at: number): boolean {
  if (value === undefined || value === null) return false
  const step = path[at]
  if (step === undefined) return value !== '' && (!Array.isArray(value) || value.length > 0)
  if (step === '*') return typeof value === 'object' && Object.values(value).some((item) => isUsed(item, path, at + 1))
  return typeof value === 'object' && isUsed((value as Record<string, unknown>)[step], path, at + 1)
}

function removeAt(value: unknown, path: readonly string[], at: number): void {
  if (typeof value !== 'object' || value === null) return
  const step = path[at] as string
  if (step === '*') {
    for (const item of Object.values(value)) removeAt(item, path, at + 1)
    return
  }
  const members = value as Record<string, unknown>
  // Deleting an absent member costs as much as deleting a present one.
  if (at === path.length - 1) {
    if (step in members) delete members[step]
  } else removeAt(members[step], path, at + 1)
}
