import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { PriorityClass } from '../../../types/scheduling-v1.generated.ts'

export const priorityClassPrinter: Printer<PriorityClass> = {
  columns: [
    nameColumn,
    column('Value', 'integer', 'Priority of pods of the class; higher goes first.'),
    column('Global-Default', 'boolean', 'Whether pods without a class get it.'),
    ageColumn,
    column('PreemptionPolicy', 'string', 'Whether pods of the class push others out.'),
  ],
  cells: ({ metadata, value, globalDefault, preemptionPolicy }, { now }) => [
    metadata.name ?? '',
    value ?? 0,
    globalDefault ?? false,
    since(metadata.creationTimestamp, now),
    preemptionPolicy ?? '',
  ],
}
