import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import type { DeviceTaintRule } from '../../../types/resource-v1alpha3.generated.ts'

export const deviceTaintRulePrinter: Printer<DeviceTaintRule> = {
  columns: [
    nameColumn,
    column('Key', 'string', 'Key of the taint.'),
    column('Value', 'string', 'Value of the taint.'),
    column('Effect', 'string', 'Effect of the taint.'),
    column('TimeAdded', 'string', 'Time since the taint was added.'),
    ageColumn,
  ],
  cells({ metadata, spec }, { now }) {
    const taint = spec?.taint
    return [
      metadata.name ?? '',
      taint?.key ?? '',
      taint?.value ?? '',
      taint?.effect ?? '',
      taint?.timeAdded ? since(taint.timeAdded, now) : '',
      since(metadata.creationTimestamp, now),
    ]
  },
}
