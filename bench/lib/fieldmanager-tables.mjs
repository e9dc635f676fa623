/** Tables of the field management benchmark; the second shows the growth of cost with object size. */
import { factor, figure, markdownTable } from './table.mjs'

const columns = [
  ['apply, create', 'create'],
  ['apply, change', 'change'],
  ['apply, same', 'noop'],
  ['track a create', 'trackCreate'],
  ['track an update', 'trackUpdate'],
]
const names = columns.map(([name]) => name)

/** Sections of a report: title, head, rows. @param rows of `fieldManagerRows`. */
export function fieldManagerSections(rows) {
  const times = rows.map((row) => [row.object, figure(row.leaves), ...columns.map(([, key]) => figure(row[key]))])
  return [
    ['Field management alone, in µs', ['object', 'leaves', ...names], times],
    ['Field management: growth for ten times the size', ['object', ...names], growthRows(rows)],
  ]
}

/** @param rows of `fieldManagerRows`. */
export function fieldManagerTables(rows) {
  return fieldManagerSections(rows)
    .map(([title, head, body]) => `## ${title}\n\n${markdownTable(head, body)}`)
    .join('\n')
}

/** Rows of the same kind with ten times the size of the previous row. */
function growthRows(rows) {
  return rows.flatMap((row, i) => {
    const before = rows[i - 1]
    if (before === undefined || row.object.split(',')[0] !== before.object.split(',')[0]) return []
    return [[row.object, ...columns.map(([, key]) => factor(row[key] / before[key]))]]
  })
}
