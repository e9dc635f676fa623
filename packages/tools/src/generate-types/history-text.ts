/**
 * The types that differ between releases, for packages/kinds/src/releases/type-history.ts, which describes the text: the compact lines of all
 * releases folded into one.
 */

import type { GroupFile } from '../release-facts/facts.ts'
import { type DatedLine, fold, type Line, line } from '../release-facts/line-tree.ts'
import { type Model, minorsOf, viewAt } from '../release-facts/model.ts'
import { header } from './facts.ts'
import { packedTypes, versionLine } from './packed-text.ts'

/** Before this release the modules do not state which types OpenAPI omits. */
const firstWithOpenAPI = 24

/** @param served the groups of the release that the text is compared with */
export function typeHistoryModule(model: Model, served: ReadonlyMap<string, GroupFile>): string {
  const texts = [...typeHistory(model, served)].map(([folder, text]) => `  ${folder}: \`${text}\`,\n`)
  return `${header}\n/** Text by folder of the group. */\nexport const typeHistory: Readonly<Record<string, string>> = {\n${texts.join('')}}\n`
}

/** Text by folder; types of the served release that all releases have alike are absent. */
function typeHistory(model: Model, served: ReadonlyMap<string, GroupFile>): ReadonlyMap<string, string> {
  const folders = new Map<string, DatedLine[]>()
  const names = new Map<string, string>()
  const hidden = hiddenTypes(viewAt(model, firstWithOpenAPI).groups)
  for (const [i, minor] of minorsOf(model).entries()) {
    const { groups } = viewAt(model, minor)
    for (const folder of new Set([...folders.keys(), ...groups.keys()])) {
      const group = groups.get(folder)
      const shown = group === undefined || minor >= firstWithOpenAPI ? group : withHidden(folder, group, hidden)
      if (group !== undefined) names.set(folder, group.group)
      const lines = shown === undefined ? [] : linesOf(folder, shown)
      folders.set(folder, fold(folders.get(folder) ?? [], lines, i === 0 ? undefined : minor))
    }
  }
  return new Map(
    [...folders]
      .sort()
      .map(([folder, versions]): [string, string] => {
        const known = Object.keys(served.get(folder)?.versions ?? {})
        const lines = versions.flatMap((each) => textOfVersion(each, known))
        return [folder, lines.length === 0 ? '' : [names.get(folder)!, ...lines].join('\n')]
      })
      .filter(([, text]) => text !== ''),
  )
}

/** Versions, their types, and the marks and fields of structs. */
function linesOf(folder: string, { versions }: GroupFile): Line[] {
  return Object.entries(versions).map(([version, facts]) => {
    const types = [...packedTypes({ folder, version, facts })].map(([name, rest]) => {
      if (/^[|>]/.test(rest)) return line(name + rest)
      const [marks = '', ...fields] = rest.split(' ')
      return line(name, [...(marks === '' ? [] : [line(marks)]), ...fields.map((field) => line(field))])
    })
    return line(versionLine(version, facts), types)
  })
}

function textOfVersion({ text, since, until, lines }: DatedLine, known: readonly string[]): string[] {
  const isKnown = known.includes(text.slice(1).split(' ')[0]!)
  const changed = lines.filter((type) => !isKnown || isDated(type) || type.lines.some(isDated))
  if (changed.length === 0 && since === undefined && until === undefined) return []
  return [
    `${range({ since, until }, ' ')}${text}`,
    ...changed.map(
      (type) => `${range(type, ' ')}${[type.text, ...type.lines.map((each) => range(each, '~') + each.text)].join(' ')}`,
    ),
  ]
}

const isDated = ({ since, until }: Pick<DatedLine, 'since' | 'until'>) => since !== undefined || until !== undefined

export function range(
  { since, until }: { readonly since?: number | undefined; readonly until?: number | undefined },
  end: string,
): string {
  return since === undefined && until === undefined ? '' : `${since ?? ''}-${until ?? ''}${end}`
}

function hiddenTypes(groups: ReadonlyMap<string, GroupFile>): ReadonlySet<string> {
  const names = [...groups].flatMap(([folder, { versions }]) =>
    Object.entries(versions).flatMap(([version, { types }]) =>
      Object.entries(types)
        .filter(([, { noOpenAPI }]) => noOpenAPI)
        .map(([name]) => `${folder}/${version}.${name}`),
    ),
  )
  return new Set(names)
}

function withHidden(folder: string, { group, versions }: GroupFile, hidden: ReadonlySet<string>): GroupFile {
  const shown = Object.entries(versions).map(([version, facts]) => {
    const types = Object.entries(facts.types).map(
      ([name, type]) => [name, hidden.has(`${folder}/${version}.${name}`) ? { ...type, noOpenAPI: true } : type] as const,
    )
    return [version, { ...facts, types: Object.fromEntries(types) }] as const
  })
  return { group, versions: Object.fromEntries(shown) }
}
