import type {
  AdmissionMetrics,
  AdmissionOutcome,
  PhaseLabels,
  PluginLabels,
  PodSecurityLabels,
  PodSecurityMetrics,
  PolicyMetrics,
  WebhookMetrics,
} from '@krmkit/admission'
import { Histogram } from './histogram.ts'
import type { Instruments } from './instruments.ts'
import { matchConditionMetrics } from './match-condition-metrics.ts'
import { metricCode } from './request-labels.ts'
import { histogramSamples, type SampledMetric, sampledMetric } from './sampled-metric.ts'

const prefix = 'apiserver_admission'
const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

/** @see API protocol specification, 6 */
export function admissionMetrics(instruments: Instruments): AdmissionMetrics {
  const phases = new OutcomeHistograms()
  const plugins = new OutcomeHistograms()
  const sampled = [
    phases.metric(`${prefix}_step_admission_duration_seconds`, 'Latency of the phases of admission in seconds.'),
    plugins.metric(`${prefix}_controller_admission_duration_seconds`, 'Latency of admission plugins in seconds.'),
  ]
  for (const metric of sampled) instruments.register(metric)
  const conditions = conditionMetrics(instruments)
  return {
    pluginCompleted: (labels, outcome) => plugins.observe(`${labels.name} ${labels.type} ${labels.operation}`, labels, outcome),
    phaseCompleted: (labels, outcome) => phases.observe(`${labels.type} ${labels.operation}`, labels, outcome),
    webhooks: webhookMetrics(instruments, conditions),
    podSecurity: podSecurityMetrics(instruments),
    policies: policyMetrics(instruments, conditions),
  }
}

/** Latencies by labels and outcome. One map lookup per observation is cheaper than a metric that sorts its labels. */
class OutcomeHistograms {
  readonly #series = new Map<
    string,
    { readonly labels: PhaseLabels | PluginLabels; readonly outcomes: readonly [Histogram, Histogram] }
  >()

  observe(key: string, labels: PhaseLabels | PluginLabels, { seconds, rejected }: AdmissionOutcome): void {
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels, outcomes: [new Histogram(bounds), new Histogram(bounds)] }
      this.#series.set(key, series)
    }
    series.outcomes[rejected ? 1 : 0].observe(seconds)
  }

  metric(name: string, help: string): SampledMetric {
    return sampledMetric('histogram', [name, help], () =>
      [...this.#series.values()].flatMap(({ labels, outcomes }) =>
        outcomes.flatMap((histogram, i) =>
          histogram.total === 0 ? [] : histogramSamples(name, { ...labels, rejected: String(i === 1) }, histogram),
        ),
      ),
    )
  }
}

/** The label value of a status code; 0 means a failure without a code. */
function webhookCode(code: number): number {
  return code === 0 ? 0 : metricCode(code)
}

function webhookMetrics(instruments: Instruments, conditions: ConditionMetrics): WebhookMetrics {
  const rejections = instruments.counter({
    name: `${prefix}_webhook_rejection_count`,
    help: 'Number of requests rejected by admission webhooks, by error type and HTTP status code.',
    labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  })
  const failOpen = instruments.counter({
    name: `${prefix}_webhook_fail_open_count`,
    help: 'Number of failed calls to admission webhooks that were ignored.',
    labelNames: ['name', 'type'],
  })
  const requests = instruments.counter({
    name: `${prefix}_webhook_request_total`,
    help: 'Number of calls to admission webhooks, by HTTP status code.',
    labelNames: ['name', 'type', 'operation', 'code', 'rejected'],
  })
  const durations = instruments.histogram({
    name: `${prefix}_webhook_admission_duration_seconds`,
    help: 'Latency of admission webhooks in seconds.',
    labelNames: ['name', 'type', 'operation', 'rejected'],
    buckets: [...bounds, 10, 25],
  })
  return {
    called(labels, { seconds, rejected, code }) {
      requests.inc({ ...labels, code: webhookCode(code), rejected: String(rejected) })
      durations.observe({ ...labels, rejected: String(rejected) }, seconds)
    },
    rejected: (labels, { cause, code }) => rejections.inc({ ...labels, error_type: cause, rejection_code: webhookCode(code) }),
    failedOpen: ({ name, type }) => failOpen.inc({ name, type }),
    conditionsEvaluated: (labels, result) => conditions({ ...labels, kind: 'webhook' }, result),
  }
}

function policyMetrics(instruments: Instruments, conditions: ConditionMetrics): PolicyMetrics {
  const labelNames = ['policy', 'policy_binding', 'error_type', 'enforcement_action']
  const checks = instruments.counter({
    name: 'apiserver_validating_admission_policy_check_total',
    help: 'Number of validations of admission policies that denied or failed, by policy, binding and enforcement action.',
    labelNames,
  })
  const durations = instruments.histogram({
    name: 'apiserver_validating_admission_policy_check_duration_seconds',
    help: 'Latency of validations of admission policies that denied or failed in seconds.',
    labelNames,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
  })
  return {
    checked({ policy, binding, errorType, action }, seconds) {
      const labels = { policy, policy_binding: binding, error_type: errorType, enforcement_action: action }
      checks.inc(labels)
      durations.observe(labels, seconds)
    },
    // kube-apiserver uses this type for validating and mutating policies alike.
    conditionsEvaluated: (labels, result) => conditions({ ...labels, kind: 'policy', type: 'validate' }, result),
  }
}

type ConditionMetrics = (
  labels: Readonly<Record<'name' | 'kind' | 'type' | 'operation', string>>,
  result: Parameters<WebhookMetrics['conditionsEvaluated']>[1],
) => void

function conditionMetrics(instruments: Instruments): ConditionMetrics {
  const evaluated = matchConditionMetrics(instruments, {
    prefix,
    subject: 'an admission webhook or policy',
    labelNames: ['name', 'kind', 'type', 'operation'],
  })
  return (labels, { seconds, outcome }) =>
    evaluated(labels, { seconds, excluded: outcome === 'noMatch', failed: outcome === 'error' })
}

function podSecurityMetrics(instruments: Instruments): PodSecurityMetrics {
  const request = ['request_operation', 'resource', 'subresource']
  const evaluations = instruments.counter({
    name: 'pod_security_evaluations_total',
    help: 'Number of evaluations of pod security policies; exempt requests do not count.',
    labelNames: ['decision', 'policy_level', 'policy_version', 'mode', ...request],
  })
  const exemptions = instruments.counter({
    name: 'pod_security_exemptions_total',
    help: 'Number of requests that are exempt from pod security policies.',
    labelNames: request,
  })
  const errors = instruments.counter({
    name: 'pod_security_errors_total',
    help: 'Number of requests whose pod security policy is invalid or could not be evaluated.',
    labelNames: ['fatal', ...request],
  })
  // The usual series exist from the start, as on kube-apiserver.
  for (const request_operation of ['create', 'update']) {
    for (const resource of ['pod', 'controller']) exemptions.inc({ request_operation, resource, subresource: '' }, 0)
    const policy = { decision: 'allow', policy_level: 'privileged', policy_version: 'latest', mode: 'enforce' }
    evaluations.inc({ ...policy, request_operation, resource: 'pod', subresource: '' }, 0)
  }
  const requestLabels = ({ operation, ...rest }: PodSecurityLabels) => ({ request_operation: operation, ...rest })
  return {
    evaluated: ({ decision, level, version, mode, ...labels }) =>
      evaluations.inc({ decision, policy_level: level, policy_version: version, mode, ...requestLabels(labels) }),
    exempted: (labels) => exemptions.inc(requestLabels(labels)),
    failed: (labels, fatal) => errors.inc({ fatal: String(fatal), ...requestLabels(labels) }),
  }
}
