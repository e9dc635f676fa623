import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { PriorityClass } from '../../../types/scheduling-v1.generated.ts'

export const priorityClassPrinter: Printer<PriorityClass> = {
  columns: [
    nameColumn,
    column('Value', 'integer', 'Priority of pods of the class; higher values come first.'),
    column('Global-Default', 'boolean', 'Whether it is the default for pods without a class.'),
    ageColumn,
    column('PreemptionPolicy', 'string', 'Whether pods of the class preempt others.'),
  ],
  cells: ({ metadata, value, globalDefault, preemptionPolicy }, { now }) => [
    metadata.name ?? '',
    value ?? 0,
    globalDefault ?? false,
    since(metadata.creationTimestamp, now),
    preemptionPolicy ?? '',
  ],
}
