/**
 * What discovery shows in releases after the served one, for packages/kinds/src/releases/later-facts.ts, which describes the lines: the entries
 * of their catalogs that differ from those of the served release.
 */
import type { ReleaseFile } from '../release-facts/facts.ts'
import { type Model, minorsOf, viewAt } from '../release-facts/model.ts'
import { catalogOf, type GroupCatalog } from './data-text.ts'
import { header } from './facts.ts'
import { groupsAt, servedMinor } from './served-release.ts'

export function catalogHistoryModule(model: Model): string {
  return `${header}\nexport const catalogHistory: string = \`\n${catalogHistory(model).join('\n')}\n\`\n`
}

/** `34-36 core/v1 resource:pods {...}`, in the order of the newest release with the entry; without a value the release lacks the entry. */
function catalogHistory(model: Model): string[] {
  const minors = minorsOf(model).filter((minor) => minor > servedMinor)
  const served = entriesAt(model, servedMinor)
  const later = minors.map((minor) => [minor, entriesAt(model, minor)] as const)
  const names = new Set([...later.flatMap(([, entries]) => [...entries.keys()]), ...served.keys()])
  return [...names].flatMap((name) => {
    const ranges: { since: number; until: number; value: string | undefined }[] = []
    for (const [minor, entries] of later) {
      const value = entries.get(name)
      const open = ranges.at(-1)
      if (open !== undefined && open.value === value) open.until = minor
      else ranges.push({ since: minor, until: minor, value })
    }
    return ranges
      .filter(({ value }) => value !== served.get(name))
      .map(({ since, until, value }) => {
        return [`${since}-${until === minors.at(-1) ? '' : until}`, name, ...(value === undefined ? [] : [value])].join(' ')
      })
  })
}

/** The entries of the catalog of a release as JSON, by place and name. */
function entriesAt(model: Model, minor: number): ReadonlyMap<string, string> {
  const { release } = viewAt(model, minor)
  const entries = new Map<string, string>()
  for (const [folder, catalog] of Object.entries(catalogOf(groupsAt(model, minor)))) {
    for (const [name, value] of entriesOf(folder, catalog, release)) entries.set(`${folder}${name}`, JSON.stringify(value))
  }
  return entries
}

function entriesOf(folder: string, { group, versions }: GroupCatalog, release: ReleaseFile): [string, unknown][] {
  return [
    [' group', group],
    ...Object.entries(versions).flatMap(([version, { enabled = false, kinds, resources }]): [string, unknown][] => [
      [`/${version} enabled`, enabled],
      ...Object.entries(kinds).map(([kind, facts]): [string, unknown] => [`/${version} kind:${kind}`, facts]),
      ...Object.entries(resources).map(([name, facts]): [string, unknown] => {
        const isOn = release.enabledResources?.includes(`${folder}/${version}/${name.split('/')[0]!}`) === true
        return [`/${version} resource:${name}`, isOn && !enabled ? { ...facts, enabled: true } : facts]
      }),
    ]),
  ]
}
