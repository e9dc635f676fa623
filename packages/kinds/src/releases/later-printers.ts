/** Tables of 1.34 and later releases, as changes of those of 1.33. */

import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Cell, Column, Printer, PrintOptions } from '../interfaces.ts'
import { column, wide } from '../printers/columns.ts'
import { laterPodReason } from '../strategies/core/pod/printer.ts'
import type { CustomResourceDefinition } from '../types/apiextensions-v1.generated.ts'
import type { Job } from '../types/batch-v1.generated.ts'
import type { Pod } from '../types/core-v1.generated.ts'
import { factMinor } from './release-names.ts'

/** A change of the Table of a kind. */
interface LaterPrinter {
  readonly since: string
  readonly change: (printer: Printer) => Printer
}

interface Migration {
  readonly spec?: { readonly resource?: { readonly group?: string; readonly resource?: string } }
  readonly status?: { readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] }
}

const migrationStates = ['Running', 'Failed', 'Succeeded']

function migrationCells({ spec, status }: Migration): [resource: string, state: string] {
  const { group = '', resource = '' } = spec?.resource ?? {}
  const state = status?.conditions?.findLast((each) => each.status === 'True' && migrationStates.includes(each.type ?? ''))?.type
  return [group === '' ? resource : `${resource}.${group}`, state ?? 'Unknown']
}

const definitionColumns: readonly Column[] = [
  column('Scope', 'string', 'Whether objects are in namespaces.'),
  column('Versions', 'string', 'Versions that are served; the one that objects are stored in is marked.'),
  column('Created At', 'date', 'Creation time of the object.'),
  wide('Group', 'string', 'Group of the resource.'),
  wide('Kind', 'string', 'Kind of the objects.'),
  wide('ShortNames', 'string', 'Short names of the resource.'),
  wide('Established', 'boolean', 'Whether the resource is served.'),
]

function definitionCells({ metadata, spec, status }: DeepReadonly<CustomResourceDefinition>): Cell[] {
  const versions = (spec?.versions ?? [])
    .filter(({ served }) => served)
    .map(({ name, storage }) => `${name}${storage ? '(storage)' : ''}`)
  return [
    spec?.scope ?? '',
    versions.sort().join(','),
    metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
    spec?.group ?? '',
    spec?.names?.kind ?? '',
    (spec?.names?.shortNames ?? []).join(','),
    status?.conditions?.some(({ type, status: holds }) => type === 'Established' && holds === 'True') === true,
  ]
}

/** Key: `group/Kind` of stored objects, with stock names. Changes of one kind in the order of releases. */
const laterPrinters: Readonly<Record<string, readonly LaterPrinter[]>> = {
  '/Pod': [{ since: '1.35', change: withCellOf<Pod>('Status', (pod) => laterPodReason(pod)) }],
  '/ServiceAccount': [{ since: '1.35', change: (printer) => withoutColumn(printer, 'Secrets') }],
  'apiextensions.k8s.io/CustomResourceDefinition': [
    {
      since: '1.37',
      change: ({ columns, ...printer }) => ({
        ...printer,
        columns: [...columns.slice(0, 1), ...definitionColumns],
        cells: (object) => [object.metadata.name ?? '', ...definitionCells(object as DeepReadonly<CustomResourceDefinition>)],
      }),
    },
  ],
  'batch/Job': [{ since: '1.34', change: withCellOf<Job>('Status', jobState) }],
  'storage.k8s.io/VolumeAttributesClass': [
    { since: '1.34', change: withCellOf<ApiObject>('Name', ({ metadata }) => metadata.name ?? '') },
  ],
  'storagemigration.k8s.io/StorageVersionMigration': [
    {
      since: '1.35',
      change: ({ columns, ...printer }) => ({
        ...printer,
        columns: [...columns, column('Status', 'string', 'State of the migration.')],
        cells: (object) => [object.metadata.name ?? '', ...migrationCells(object as Migration)],
      }),
    },
  ],
}

/** The printer of a kind in a release after 1.33. @param key `group/Kind` */
export function laterPrinter(printer: Printer, key: string, minor: number): Printer {
  const changes = (laterPrinters[key] ?? []).filter(({ since }) => factMinor(since) <= minor)
  return changes.reduce((changed, { change }) => change(changed), printer)
}

/** A job whose criteria of success are met, but whose pods still run. */
function jobState({ status }: DeepReadonly<Job>, before: Cell): Cell {
  const holds = (type: string) => status?.conditions?.find((each) => each.type === type)?.status === 'True'
  return before === 'Running' && holds('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : before
}

function withCellOf<T>(name: string, cellOf: (object: DeepReadonly<T>, before: Cell) => Cell): LaterPrinter['change'] {
  return (printer) => {
    const at = printer.columns.findIndex((each) => each.name === name)
    return {
      ...printer,
      cells: (object, options: PrintOptions) =>
        printer.cells(object, options).map((cell, i) => (i === at ? cellOf(object as unknown as DeepReadonly<T>, cell) : cell)),
    }
  }
}

function withoutColumn(printer: Printer, name: string): Printer {
  const at = printer.columns.findIndex((each) => each.name === name)
  const kept = <T>(list: readonly T[]): readonly T[] => list.filter((_, i) => i !== at)
  return {
    ...printer,
    columns: kept(printer.columns),
    cells: (object, options) => kept(printer.cells(object, options)),
  }
}
