import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, selectorText } from '../../../printers/text.ts'
import type { CronJob } from '../../../types/batch-v1.generated.ts'

export const cronJobPrinter: Printer<CronJob> = {
  columns: [
    nameColumn,
    column('Schedule', 'string', 'When jobs are started, in cron format.'),
    column('Timezone', 'string', 'Time zone in which the schedule is read.'),
    column('Suspend', 'boolean', 'Whether no further jobs are started.'),
    column('Active', 'integer', 'Jobs that are running.'),
    column('Last Schedule', 'string', 'Time since a job was last started.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.schedule ?? '',
    spec?.timeZone ?? '<none>',
    spec?.suspend === undefined ? '<unset>' : spec.suspend ? 'True' : 'False',
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? since(status.lastScheduleTime, now) : '<none>',
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.jobTemplate?.spec?.template?.spec?.containers),
    selectorText(spec?.jobTemplate?.spec?.selector),
  ],
}
