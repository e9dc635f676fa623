import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { containerCells, selectorText } from '../../../printers/text.ts'
import type { CronJob } from '../../../types/batch-v1.generated.ts'

export const cronJobPrinter: Printer<CronJob> = {
  columns: [
    nameColumn,
    column('Schedule', 'string', 'Schedule of the jobs in cron format.'),
    column('Timezone', 'string', 'Time zone of the schedule.'),
    column('Suspend', 'boolean', 'Whether the schedule is suspended.'),
    column('Active', 'integer', 'Number of running jobs.'),
    column('Last Schedule', 'string', 'Time since the last job was started.'),
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
