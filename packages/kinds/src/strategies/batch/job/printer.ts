import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, containerColumns, nameColumn, selectorColumn } from '../../../printers/columns.ts'
import { humanDuration, parseTimestamp, since } from '../../../printers/duration.ts'
import { containerCells, selectorText } from '../../../printers/text.ts'
import type { Job, JobStatus } from '../../../types/batch-v1.generated.ts'

export const jobPrinter: Printer<Job> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'State of the job.'),
    column('Completions', 'string', 'Succeeded pods out of the required ones.'),
    column('Duration', 'string', 'Time from the start of the job to its end, or to now.'),
    ageColumn,
    ...containerColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    jobStatus(status, metadata.deletionTimestamp !== undefined),
    completions(status?.succeeded ?? 0, spec?.completions, spec?.parallelism ?? 0),
    jobDuration(status, now),
    since(metadata.creationTimestamp, now),
    ...containerCells(spec?.template?.spec?.containers),
    selectorText(spec?.selector),
  ],
}

/** The first condition in this order names the state; a deleted, unfinished job is terminating. */
function jobStatus(status: DeepReadonly<JobStatus> | undefined, deleted: boolean): string {
  const holds = (type: string) => status?.conditions?.find((each) => each.type === type)?.status === 'True'
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (deleted) return 'Terminating'
  if (holds('Suspended')) return 'Suspended'
  return holds('FailureTarget') ? 'FailureTarget' : 'Running'
}

function completions(succeeded: number, wanted: number | undefined, parallelism: number): string {
  if (wanted !== undefined) return `${succeeded}/${wanted}`
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(status: DeepReadonly<JobStatus> | undefined, now: number): string {
  const start = parseTimestamp(status?.startTime)
  return start === undefined ? '' : humanDuration((parseTimestamp(status?.completionTime) ?? now) - start)
}
