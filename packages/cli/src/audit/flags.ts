import { addOptionGroup, type Command, type Option, option } from '../commander.ts'
import { booleanOption, durationOption, fraction, integer } from '../flag-values.ts'
import { auditModes, auditVersions } from './options.ts'

/** Adds the audit flags, named as those of kube-apiserver. */
export function addAuditFlags(command: Command): Command {
  return addOptionGroup(command, 'Audit', [
    option('--audit-policy-file <file>', 'Policy of audit.k8s.io/v1; without it nothing is audited'),
    ...logOptions(),
    ...webhookOptions(),
  ])
}

function logOptions(): Option[] {
  return [
    option('--audit-log-path <file>', 'audit log file; - for standard output'),
    option('--audit-log-format <format>', 'json: one object per line; legacy: one text line per event')
      .choices(['json', 'legacy'])
      .default('json'),
    option(
      '--audit-log-mode <mode>',
      'batch: write asynchronously; blocking: requests wait for the write; blocking-strict: and fail when it fails',
    )
      .choices(auditModes)
      .default('blocking'),
    number('--audit-log-maxage <days>', 'days to keep rotated log files; 0: no limit', 0),
    number('--audit-log-maxbackup <n>', 'number of rotated log files to keep; 0: no limit', 0),
    number('--audit-log-maxsize <megabytes>', 'size at which the log file is rotated; 0: 100', 0),
    booleanOption('--audit-log-compress', 'compress rotated log files with gzip', false),
    versionOption('log'),
    ...batchOptions('log', { maxSize: 1, maxWait: [0, '0s'], throttle: false }),
    ...truncateOptions('log'),
  ]
}

/** Only one version of events is left. */
function versionOption(name: 'log' | 'webhook'): Option {
  const [version] = auditVersions
  return option(`--audit-${name}-version <version>`, 'group and version of the events').choices(auditVersions).default(version)
}

function webhookOptions(): Option[] {
  return [
    option('--audit-webhook-config-file <file>', 'kubeconfig of the audit webhook'),
    durationOption('--audit-webhook-initial-backoff', 'delay before the first retry', 10_000, '10s'),
    option('--audit-webhook-mode <mode>', 'see --audit-log-mode').choices(auditModes).default('batch'),
    versionOption('webhook'),
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
    number(`${prefix}-buffer-size <n>`, 'batch mode: buffered events; further events are dropped', 10_000, 1),
    number(`${prefix}-max-size <n>`, 'batch mode: maximum events per batch', defaults.maxSize, 1),
    durationOption(`${prefix}-max-wait`, 'batch mode: maximum wait before an incomplete batch is sent', ...defaults.maxWait),
    booleanOption(`${prefix}-throttle-enable`, 'batch mode: limit the rate of batches', defaults.throttle),
    option(`${prefix}-throttle-qps <n>`, 'batch mode: average batches per second')
      .default(10)
      .argParser(fraction({ min: 0.001, max: 1e6 })),
    number(`${prefix}-throttle-burst <n>`, 'batch mode: maximum burst of batches', 15, 1),
  ]
}

function truncateOptions(name: 'log' | 'webhook'): Option[] {
  const prefix = `--audit-${name}-truncate`
  return [
    booleanOption(`${prefix}-enabled`, 'remove request and response bodies from events above the size limit', false),
    number(`${prefix}-max-event-size <bytes>`, 'maximum size of an event', 102_400, 1),
    number(`${prefix}-max-batch-size <bytes>`, 'maximum size of a batch', 10_485_760, 1),
  ]
}

function number(flags: string, description: string, value: number, min = 0): Option {
  return option(flags, description)
    .default(value)
    .argParser(integer({ min, max: 2 ** 31 - 1 }))
}
