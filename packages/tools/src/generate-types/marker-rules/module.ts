/** The modules of rules for packages/kinds/src/marker-rules/texts: a text per group folder, which notation.ts of that package describes. */
import { type DatedLine, fold } from '../../release-facts/line-tree.ts'
import { type Model, minorsOf, viewAt } from '../../release-facts/model.ts'
import { header } from '../facts.ts'
import { range } from '../history-text.ts'
import { firstEnforcing, ruleLines } from './rule-lines.ts'

/** Texts by file name. */
export function ruleModules(model: Model): ReadonlyMap<string, string> {
  const folders = ruleFolders(model)
  const files = new Map<string, string>()
  for (const [folder, text] of folders) {
    files.set(`${folder}.generated.ts`, `${header}\nexport const rules = \`\n${text.replace(/[\\`$]/g, '\\$&')}\`\n`)
  }
  const loads = [...folders.keys()].map((folder) => `  ${folder}: () => import('./${folder}.generated.ts'),\n`)
  const about = `/** The first release that enforces rules of markers. */\nexport const firstEnforcing = '1.${firstEnforcing}'\n`
  const table = `/** Loads the rules of a group by the folder of its facts. */\nexport const ruleTexts: Readonly<Record<string, () => Promise<{ readonly rules: string }>>> = {\n${loads.join('')}}\n`
  return files.set('index.generated.ts', `${header}\n${about}\n${table}`)
}

/** Lines of all releases by folder. */
export function ruleFolders(model: Model): ReadonlyMap<string, string> {
  const folders = new Map<string, DatedLine[]>()
  const minors = minorsOf(model).filter((minor) => minor >= firstEnforcing)
  for (const [i, minor] of minors.entries()) {
    const lines = ruleLines(viewAt(model, minor).groups, minor)
    for (const folder of new Set([...folders.keys(), ...lines.keys()])) {
      const known = folders.get(folder) ?? []
      folders.set(folder, fold(known, lines.get(folder) ?? [], i === 0 ? undefined : minor))
    }
  }
  return new Map(
    [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, versions]) => [folder, versions.map(textOf).join('')]),
  )
}

function textOf(version: DatedLine): string {
  const types = version.lines.map((type) => {
    const parts = type.lines.map((part) => ` ${range(part, '~')}${part.text}`)
    return `${range(type, ' ')}${type.text}${parts.join('')}\n`
  })
  return `${range(version, ' ')}${version.text}\n${types.join('')}`
}
