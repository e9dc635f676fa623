import { type Command, Option } from '../commander.ts'
import { duration, flag, fraction, integer } from '../flag-values.ts'
import { auditModes } from './options.ts'

/** Adds the flags of the audit trail; named as those of kube-apiserver. */
export function addAuditFlags(command: Command): Command {
  command.optionsGroup('Audit trail:')
  command.addOption(
    option('--audit-policy-file <file>', 'Policy of audit.k8s.io/v1 that says what is kept; without it nothing is'),
  )
  for (const each of [...logOptions(), ...webhookOptions()]) command.addOption(each)
  return command
}

function logOptions(): Option[] {
  return [
    option('--audit-log-path <file>', 'file that entries are written to; - for the standard output'),
    option('--audit-log-format <format>', 'json: one object a line; legacy: one sentence a line')
      .choices(['json', 'legacy'])
      .default('json'),
    option('--audit-log-mode <mode>', 'batch: requests do not wait; blocking: they do; blocking-strict: and fail with the log')
      .choices(auditModes)
      .default('blocking'),
    number('--audit-log-maxage <days>', 'days that old log files are kept; 0: as long as there is room for them', 0),
    number('--audit-log-maxbackup <n>', 'old log files that are kept; 0: all', 0),
    number('--audit-log-maxsize <megabytes>', 'size at which a new log file begins; 0: 100', 0),
    option('--audit-log-compress [bool]', 'compress old log files with gzip').default(false).argParser(flag),
    ...batchOptions('log', { maxSize: 1, maxWait: [0, '0s'], throttle: false }),
    ...truncateOptions('log'),
  ]
}

function webhookOptions(): Option[] {
  return [
    option('--audit-webhook-config-file <file>', 'kubeconfig of the service that entries are posted to'),
    option('--audit-webhook-initial-backoff <duration>', 'pause before entries are posted again')
      .default(10_000, '10s')
      .argParser(duration),
    option('--audit-webhook-mode <mode>', 'as for the log').choices(auditModes).default('batch'),
    ...batchOptions('webhook', { maxSize: 400, maxWait: [30_000, '30s'], throttle: true }),
    ...truncateOptions('webhook'),
  ]
}

function batchOptions(
  name: 'log' | 'webhook',
  defaults: { readonly maxSize: number; readonly maxWait: readonly [number, string]; readonly throttle: boolean },
): Option[] {
  const prefix = `--audit-${name}-batch`
  return [
    number(`${prefix}-buffer-size <n>`, 'mode batch: entries that may wait; more are lost', 10_000, 1),
    number(`${prefix}-max-size <n>`, 'mode batch: entries that go together', defaults.maxSize, 1),
    option(`${prefix}-max-wait <duration>`, 'mode batch: how long entries wait for others')
      .default(...defaults.maxWait)
      .argParser(duration),
    option(`${prefix}-throttle-enable [bool]`, 'mode batch: limit the number of batches')
      .default(defaults.throttle)
      .argParser(flag),
    option(`${prefix}-throttle-qps <n>`, 'mode batch: batches a second')
      .default(10)
      .argParser(fraction({ min: 0.001, max: 1e6 })),
    number(`${prefix}-throttle-burst <n>`, 'mode batch: batches that may go at once after a pause', 15, 1),
  ]
}

function truncateOptions(name: 'log' | 'webhook'): Option[] {
  const prefix = `--audit-${name}-truncate`
  return [
    option(`${prefix}-enabled [bool]`, 'take bodies out of entries that are too large').default(false).argParser(flag),
    number(`${prefix}-max-event-size <bytes>`, 'size of an entry that is too large', 102_400, 1),
    number(`${prefix}-max-batch-size <bytes>`, 'size of entries that go together', 10_485_760, 1),
  ]
}

function number(flags: string, description: string, value: number, min = 0): Option {
  return option(flags, description)
    .default(value)
    .argParser(integer({ min, max: 2 ** 31 - 1 }))
}

function option(flags: string, description: string): Option {
  return new Option(flags, description)
}
