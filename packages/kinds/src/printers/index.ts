import type { Printer } from '../interfaces.ts'

/** Columns and cells of the built-in kinds that have their own, by `group/Kind` of the storage version; the core group is empty. */
export const printers: Readonly<Record<string, Printer>> = {}
