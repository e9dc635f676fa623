import type { Printer } from '../interfaces.ts'
import { column, nameColumn } from './columns.ts'

/**
 * Columns of kinds that have none of their own: Name and Created At, which holds the time itself.
 *
 * @see API protocol specification, 2.5
 */
export const defaultPrinter: Printer = {
  columns: [nameColumn, column('Created At', 'date', 'When the server created the object.')],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
}
