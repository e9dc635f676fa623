/**
 * Fields that are younger than their type or were removed from it, for packages/kinds/src/releases/fields.ts, which describes the rows. The
 * releases come from the model; `field-gates.ts` has what it does not state.
 */
import type { FieldFile } from '../release-facts/facts.ts'
import { type Model, minorsOf, type ReleaseView, viewAt } from '../release-facts/model.ts'
import { header, quote } from './facts.ts'
import { fieldGates } from './field-gates.ts'
import { groupsOfBoth, servedMinor } from './served-release.ts'

interface FieldHistory {
  readonly name: string
  /** Releases whose type has the field. */
  readonly minors: number[]
  /** The gate that the newest of them names. */
  gate?: string
}

export function fieldRowsModule(model: Model): string {
  const rows = [...fieldRows(model)].map(
    ([type, texts]) => `  ${quote(type)}: [\n${texts.map((text) => `    ${quote(text)},\n`).join('')}  ],\n`,
  )
  return `${header}\nexport const fieldRows: Readonly<Record<string, readonly string[]>> = {\n${rows.join('')}}\n`
}

type Views = readonly (readonly [number, ReleaseView])[]

/** Rows of the types of the served release and the newest one by type, such as `core/v1.PodSpec`, over all releases. */
export function fieldRows(model: Model): ReadonlyMap<string, readonly string[]> {
  const views = minorsOf(model).map((minor) => [minor, viewAt(model, minor)] as const)
  const known = new Map<string, readonly string[]>()
  for (const [folder, { versions }] of groupsOfBoth(model)) {
    for (const [version, { types }] of Object.entries(versions)) {
      for (const type of Object.keys(types)) {
        const { fields, ...range } = historyOf(views, [folder, version, type])
        const name = `${folder}/${version}.${type}`
        const rows = [...fields.values()].flatMap((field) => rowOf(field, { type: name, ...range, views }))
        if (rows.length > 0) known.set(name, rows)
      }
    }
  }
  return known
}

/** The fields of a type in all releases, and the first and the last release with the type. */
function historyOf(views: Views, [folder, version, type]: readonly [string, string, string]) {
  const fields = new Map<string, FieldHistory>()
  let first: number | undefined
  let last: number | undefined
  for (const [minor, { groups }] of views) {
    const own = groups.get(folder)?.versions[version]?.types[type]
    if (own === undefined) continue
    first ??= minor
    last = minor
    for (const field of own.fields) if (field.json !== '') note(fields, field, minor)
  }
  return { fields, first, last }
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
  readonly last: number | undefined
  readonly views: Views
}

/** `name introduced [enabled] [Gate] [-removed]`; nothing for a field that all releases of its type have, unless it is listed. */
function rowOf({ name, minors, gate: marked }: FieldHistory, { type, first, last, views }: RowSources): string[] {
  const listed = fieldGates[type]?.find((each) => each.startsWith(`${name} `))?.split(' ')
  const [, listedGate, listedIntroduced, listedEnabled] = listed ?? []
  const gate = listedGate === '-' ? undefined : (listedGate ?? marked)
  const lastWithField = minors.at(-1)!
  const isRemoved = lastWithField !== last
  if (minors[0] === first && !isRemoved && listed === undefined) return []
  const introduced = listedIntroduced ?? `1.${minors[0]!}`
  const enabled = listedEnabled ?? (gate === undefined ? undefined : enabledFor(gate, views))
  const words = [name, introduced, enabled, gate, isRemoved ? `-1.${lastWithField + 1}` : undefined]
  return [words.filter((word) => word !== undefined).join(' ')]
}

/**
 * The release after the last one that has a gate off; undefined where no release has it off, and for a gate that the served release or a later
 * one has, as its lifecycle states when it is on.
 */
function enabledFor(gate: string, views: Views): string | undefined {
  const isRecorded = views.some(([minor, { release }]) => minor >= servedMinor && release.featureGates[gate] !== undefined)
  if (isRecorded) return undefined
  const off = views.findLast(([, { release }]) => release.featureGates[gate]?.history.at(-1)?.default === false)
  return off === undefined ? undefined : `1.${off[0] + 1}`
}
