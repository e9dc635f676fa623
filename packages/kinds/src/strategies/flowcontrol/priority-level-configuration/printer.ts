import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import type { PriorityLevelConfiguration } from '../../../types/flowcontrol-v1.generated.ts'

export const priorityLevelPrinter: Printer<PriorityLevelConfiguration> = /* @__PURE__ */ agedPrinter(
  [
    column('Type', 'string', 'Whether requests of the level are limited.'),
    column('NominalConcurrencyShares', 'string', 'Concurrency shares of the level.'),
    column('Queues', 'string', 'Number of queues.'),
    column('HandSize', 'string', 'Number of queues a flow may use.'),
    column('QueueLengthLimit', 'string', 'Requests that may wait in a queue.'),
  ],
  ({ spec }) => {
    const queuing = spec?.limited?.limitResponse?.queuing
    return [
      spec?.type ?? '',
      spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : '<none>',
      queuing ? (queuing.queues ?? 0) : '<none>',
      queuing ? (queuing.handSize ?? 0) : '<none>',
      queuing ? (queuing.queueLengthLimit ?? 0) : '<none>',
    ]
  },
)
