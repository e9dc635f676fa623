import type { KindFile, VersionFile } from './facts.ts'
import { type Model, minorsOf, type ReleaseView, viewAt } from './model.ts'

/** The table of lifecycles: what the releases up to one said about each kind. release-facts/README.md describes the rows. */

export interface LifecycleRow {
  group: string
  version: string
  kind: string
  list: string | null
  namespaced: boolean | null
  introduced: string | null
  deprecated: string | null
  removed: string | null
  replacement: string | null
  explicit: readonly string[]
  markersFrom: string
  typesFirst: string | null
  typesLast: string | null
  served133?: boolean
  servedFirst?: string
  servedLast?: string
  history?: (string | null)[][]
}

/** The release of the first table, which has facts of releases before those of the model. */
const firstMinor = 33

/** The table of a release. @param first that of 1.33 */
export function lifecyclesAt(model: Model, first: readonly LifecycleRow[], minor: number): LifecycleRow[] {
  const later = minorsOf(model).filter((each) => each > firstMinor && each <= minor)
  return later.reduce<LifecycleRow[]>((rows, each) => nextTable(rows, viewAt(model, each), `1.${each}`), [...first])
}

const announced = ['introduced', 'deprecated', 'removed', 'replacement'] as const

/** Rows of kinds that the release registers take its announcements, new kinds get a row, the others stay. */
function nextTable(before: readonly LifecycleRow[], view: ReleaseView, release: string): LifecycleRow[] {
  const rows = before.map((row) => ({ ...row }))
  const known = new Map(rows.map((row) => [`${row.group}/${row.version}/${row.kind}`, row]))
  const served = servedKinds(view)
  for (const [folder, { group, versions }] of view.groups) {
    if (folder === 'meta') continue
    for (const [version, { goPackage, kinds }] of Object.entries(versions)) {
      for (const [kind, facts] of Object.entries(kinds)) {
        const key = `${group}/${version}/${kind}`
        let row = known.get(key)
        if (row === undefined) {
          row = newRow({ group, version, kind }, goPackage.startsWith('k8s.io/api/') ? release : null)
          known.set(key, row)
          insert(rows, row)
        }
        update(row, { facts, release, isServed: served.has(`${folder}/${version}.${kind}`) })
      }
    }
  }
  return rows
}

function newRow(at: Pick<LifecycleRow, 'group' | 'version' | 'kind'>, typesFirst: string | null): LifecycleRow {
  return {
    ...at,
    ...{ list: null, namespaced: null, introduced: null, deprecated: null, removed: null, replacement: null },
    ...{ explicit: [], markersFrom: '', typesFirst, typesLast: '' },
  }
}

/** Keeps the versions of a group, and the kinds of a version, together. */
function insert(rows: LifecycleRow[], added: LifecycleRow): void {
  const isBefore = ({ version, kind }: LifecycleRow) =>
    version < added.version || (version === added.version && kind < added.kind)
  const last = rows.findLastIndex((row) => row.group === added.group && isBefore(row))
  rows.splice(last < 0 ? rows.length : last + 1, 0, added)
}

interface Announcement {
  readonly facts: KindFile
  readonly release: string
  readonly isServed: boolean
}

function update(row: LifecycleRow, { facts, release, isServed }: Announcement): void {
  const before = announced.map((member) => row[member])
  const after = announced.map((member) => facts[member] ?? null)
  if (row.markersFrom !== '' && before.some((value, i) => value !== after[i])) {
    const isLate = row.typesFirst !== null && Number(row.typesFirst.slice(2)) > 19
    row.history = [...(row.history ?? [[isLate ? row.typesFirst : '1.19', ...before]]), [release, ...after]]
  }
  for (const [i, member] of announced.entries()) row[member] = after[i]!
  row.list = facts.list ?? null
  row.namespaced = facts.namespaced ?? null
  row.explicit = facts.explicit ?? []
  row.markersFrom = release
  row.typesLast = release
  if (!isServed) return
  row.servedFirst ??= row.served133 === true ? `1.${firstMinor}` : release
  row.servedLast = release
}

/** Kinds that the server has a resource of, by `folder/version.Kind`: of their version, or below a resource of another one. */
function servedKinds({ groups }: ReleaseView): ReadonlySet<string> {
  const served = new Set<string>()
  const add = (folder: string, version: string, { resources }: VersionFile) => {
    for (const { kind, from } of Object.values(resources)) {
      if (from !== 'client') served.add(kind.includes('/') ? kind : `${folder}/${version}.${kind}`)
    }
  }
  for (const [folder, { versions }] of groups) {
    for (const [version, facts] of Object.entries(versions)) add(folder, version, facts)
  }
  return served
}
