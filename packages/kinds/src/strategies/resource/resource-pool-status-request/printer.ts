import type { Cell, Printer } from '../../../interfaces.ts'
import { column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { conditionsOf } from '../../shared/status-kind.ts'

interface Pool {
  readonly totalDevices?: number
  readonly availableDevices?: number
  readonly allocatedDevices?: number
  readonly unavailableDevices?: number
  readonly validationError?: string | null
}

interface Request {
  readonly spec?: { readonly driver?: string }
  readonly status?: { readonly poolCount?: number; readonly pools?: readonly Pool[] }
}

const counts = ['totalDevices', 'availableDevices', 'allocatedDevices', 'unavailableDevices'] as const

/** Numbers of devices in all pools, and of pools with errors. */
function countCells(pools: readonly Pool[]): string[] {
  const sums = counts.map((name) => String(pools.reduce((sum, pool) => sum + (pool[name] ?? 0), 0)))
  return [...sums, String(pools.filter(({ validationError }) => typeof validationError === 'string').length)]
}

export const resourcePoolStatusRequestPrinter: Printer = {
  columns: [
    nameColumn,
    column('Driver', 'string', 'Driver of the pools.'),
    column('Total', 'string', 'Number of devices in all pools.'),
    column('Available', 'string', 'Number of available devices in all pools.'),
    column('Allocated', 'string', 'Number of allocated devices in all pools.'),
    column('Unavailable', 'string', 'Number of unavailable devices in all pools.'),
    column('Errors', 'string', 'Number of pools with errors.'),
    column('Pools', 'integer', 'Number of matching pools.'),
    column('Status', 'string', 'State of the request.'),
    column('Completed', 'string', 'Time since the request was completed.'),
  ],
  cells(object, { now }): readonly Cell[] {
    const { spec, status } = object as Request
    const ended = conditionsOf(object).find((each) => each.status === 'True' && ['Complete', 'Failed'].includes(each.type))
    const { poolCount = 0, pools = [] } = status ?? {}
    const state = ended?.type ?? 'Pending'
    const shown = state === 'Complete' && poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : state
    const isCounted = status !== undefined && state !== 'Failed'
    return [
      object.metadata.name ?? '',
      spec?.driver ?? '',
      ...(isCounted ? countCells(pools) : ['-', '-', '-', '-', '-']),
      poolCount,
      shown,
      state === 'Complete' ? since(ended?.lastTransitionTime, now) : '<none>',
    ]
  },
}
