import type { Printer } from '../interfaces.ts'
import { agedPrinter, column, nameColumn } from './columns.ts'

/**
 * Columns of kinds without a printer: Name and Created At, which holds the time itself.
 *
 * @see API protocol specification, 2.5
 */
export const defaultPrinter: Printer = {
  columns: [nameColumn, column('Created At', 'date', 'Creation time of the object.')],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
}

/** Columns of kinds that show Name and Age only. */
export const nameAndAgePrinter: Printer = /* @__PURE__ */ agedPrinter([], () => [])
