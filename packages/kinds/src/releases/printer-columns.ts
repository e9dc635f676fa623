import type { Column, Printer } from '../interfaces.ts'
import { laterPrinter } from './later-printers.ts'
import { factMinor } from './release-names.ts'

/** Columns of Tables as a release had them. Facts from release notes and from the printers of the releases. */

/** A column that a release added to a kind, renamed or moved. */
interface ChangedColumn {
  readonly column: string
  readonly since: string
  /** The name that the column had before, when it existed. */
  readonly before?: string
  /** The place that the column had before, when it existed, among the columns of the release; 0 is the first. */
  readonly placeBefore?: number
}

/** Key: `group/Kind` of stored objects, with stock names. */
const changedColumns: Readonly<Record<string, readonly ChangedColumn[]>> = {
  'certificates.k8s.io/CertificateSigningRequest': [{ column: 'RequestedDuration', since: '1.22' }],
  'certificates.k8s.io/PodCertificateRequest': [{ column: 'UnverifiedUserAnnotations', since: '1.35' }],
  'batch/CronJob': [{ column: 'Timezone', since: '1.30' }],
  'batch/Job': [{ column: 'Status', since: '1.30' }],
  'scheduling.k8s.io/PriorityClass': [{ column: 'PreemptionPolicy', since: '1.32' }],
  '/ResourceQuota': [{ column: 'Age', since: '1.33', placeBefore: 1 }],
  '/PersistentVolume': [{ column: 'VolumeAttributesClass', since: '1.29' }],
  '/PersistentVolumeClaim': [{ column: 'VolumeAttributesClass', since: '1.29' }],
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': [
    { column: 'NominalConcurrencyShares', since: '1.26', before: 'AssuredConcurrencyShares' },
  ],
}

/** A cell whose value a release changed. */
interface ChangedCell {
  readonly column: string
  readonly since: string
  /** The type that the column had before, when it had another one. */
  readonly typeBefore?: Column['type']
  readonly before: (text: string) => string | number
}

const changedCells: Readonly<Record<string, ChangedCell>> = {
  // The time of the last restart follows the number.
  '/Pod': { column: 'Restarts', since: '1.22', typeBefore: 'integer', before: (text) => Number.parseInt(text, 10) },
  // Each target has the name of its metric in front.
  'autoscaling/HorizontalPodAutoscaler': {
    column: 'Targets',
    since: '1.30',
    before: (text) => text.replaceAll(/(^|, )[\w./-]+: /g, '$1'),
  },
}

/** The printer of a kind in a release: without younger columns, and with the names and places of the time. @param key `group/Kind` */
export function printerAt(printer: Printer, key: string, minor: number): Printer {
  const later = (changedColumns[key] ?? []).filter(({ since }) => factMinor(since) > minor)
  const cell = changedCells[key]
  const changed = cell === undefined || factMinor(cell.since) <= minor ? printer : withCell(printer, cell)
  return laterPrinter(later.length === 0 ? changed : withColumns(changed, later), key, minor)
}

function withCell(printer: Printer, { column, typeBefore, before }: ChangedCell): Printer {
  const at = printer.columns.findIndex(({ name }) => name === column)
  const columns = printer.columns.map((each, i) => (i === at && typeBefore !== undefined ? { ...each, type: typeBefore } : each))
  return {
    ...printer,
    columns,
    cells: (object, options) => printer.cells(object, options).map((cell, i) => (i === at ? before(String(cell)) : cell)),
  }
}

function withColumns(printer: Printer, later: readonly ChangedColumn[]): Printer {
  const isNew = ({ before, placeBefore }: ChangedColumn) => before === undefined && placeBefore === undefined
  const absent = new Set(later.filter(isNew).map(({ column }) => column))
  const renamed = new Map(later.flatMap(({ column, before }) => (before === undefined ? [] : [[column, before] as const])))
  const kept = printer.columns.map(({ name }, at) => (absent.has(name) ? -1 : at)).filter((at) => at >= 0)
  for (const { column, placeBefore } of later) {
    if (placeBefore === undefined) continue
    const from = kept.findIndex((at) => printer.columns[at]!.name === column)
    kept.splice(placeBefore, 0, ...kept.splice(from, 1))
  }
  return {
    ...printer,
    columns: kept.map((at) => {
      const column = printer.columns[at]!
      return { ...column, name: renamed.get(column.name) ?? column.name }
    }),
    cells(object, options) {
      const cells = printer.cells(object, options)
      return kept.map((at) => cells[at]!)
    },
  }
}
