/**
 * Fields that are younger than their type or were removed from it, for packages/kinds/src/releases/fields.ts, which describes the rows. The
 * releases come from the model; `field-gates.ts` has what it does not state.
 */
import type { FieldFile } from '../release-facts/facts.ts'
import { type Model, minorsOf, type ReleaseView, viewAt } from '../release-facts/model.ts'
import { header, quote } from './facts.ts'
import { fieldGates } from './field-gates.ts'

interface FieldHistory {
  readonly name: string
  /** Releases whose type has the field. */
  readonly minors: number[]
  /** The gate that the newest of them names. */
  gate?: string
}

export function fieldRowsModule(model: Model, newest: number): string {
  const rows = [...fieldRows(model, newest)].map(
    ([type, texts]) => `  ${quote(type)}: [\n${texts.map((text) => `    ${quote(text)},\n`).join('')}  ],\n`,
  )
  return `${header}\nexport const fieldRows: Readonly<Record<string, readonly string[]>> = {\n${rows.join('')}}\n`
}

type Views = readonly (readonly [number, ReleaseView])[]

/** Rows of the types of a release by type, such as `core/v1.PodSpec`, over the releases up to it. */
export function fieldRows(model: Model, newest: number): ReadonlyMap<string, readonly string[]> {
  const minors = minorsOf(model).filter((minor) => minor <= newest)
  const views = minors.map((minor) => [minor, viewAt(model, minor)] as const)
  const known = new Map<string, readonly string[]>()
  for (const [folder, { versions }] of views.at(-1)![1].groups) {
    for (const [version, { types }] of Object.entries(versions)) {
      for (const type of Object.keys(types)) {
        const { fields, first } = historyOf(views, [folder, version, type])
        const name = `${folder}/${version}.${type}`
        const rows = [...fields.values()].flatMap((field) => rowOf(field, { type: name, first, views }))
        if (rows.length > 0) known.set(name, rows)
      }
    }
  }
  return known
}

/** The fields of a type in all releases, and the first release with the type. */
function historyOf(views: Views, [folder, version, type]: readonly [string, string, string]) {
  const fields = new Map<string, FieldHistory>()
  let first: number | undefined
  for (const [minor, { groups }] of views) {
    const own = groups.get(folder)?.versions[version]?.types[type]
    if (own === undefined) continue
    first ??= minor
    for (const field of own.fields) if (field.json !== '') note(fields, field, minor)
  }
  return { fields, first }
}

function note(fields: Map<string, FieldHistory>, { json, featureGate }: FieldFile, minor: number): void {
  const known = fields.get(json) ?? { name: json, minors: [] }
  known.minors.push(minor)
  if (featureGate !== undefined) known.gate = featureGate[0]!
  fields.set(json, known)
}

interface RowSources {
  readonly type: string
  readonly first: number | undefined
  readonly views: Views
}

/** `name introduced [enabled] [Gate] [-removed]`; nothing for a field that all releases of its type have, unless it is listed. */
function rowOf({ name, minors, gate: marked }: FieldHistory, { type, first, views }: RowSources): string[] {
  const listed = fieldGates[type]?.find((each) => each.startsWith(`${name} `))?.split(' ')
  const [, listedGate, listedIntroduced, listedEnabled] = listed ?? []
  const gate = listedGate === '-' ? undefined : (listedGate ?? marked)
  const last = minors.at(-1)!
  const isRemoved = last < views.at(-1)![0]
  if (minors[0] === first && !isRemoved && listed === undefined) return []
  const introduced = listedIntroduced ?? `1.${minors[0]!}`
  const enabled = listedEnabled ?? (gate === undefined ? undefined : enabledFor(gate, views))
  const words = [name, introduced, enabled, gate, isRemoved ? `-1.${last + 1}` : undefined]
  return [words.filter((word) => word !== undefined).join(' ')]
}

/**
 * The release after the last one that has a gate off; undefined where no release has it off, and for a gate that the newest release has, as
 * its lifecycle states when it is on.
 */
function enabledFor(gate: string, views: Views): string | undefined {
  if (views.at(-1)![1].release.featureGates[gate] !== undefined) return undefined
  const off = views.findLast(([, { release }]) => release.featureGates[gate]?.history.at(-1)?.default === false)
  return off === undefined ? undefined : `1.${off[0] + 1}`
}
