import type { Instruments } from './instruments.ts'

/** Metrics of the match conditions of webhooks and policies. Admission and authorization have the same metrics with different prefixes. */

export interface MatchConditionMetricsOptions {
  /** Prefix of the metric names, such as `apiserver_admission`. */
  readonly prefix: string
  /** The owner of the match conditions, with its article, for help texts. */
  readonly subject: 'an admission webhook or policy' | 'an authorization webhook'
  readonly labelNames: readonly string[]
}

/** The evaluation of the match conditions of one webhook or policy for one request. */
export interface MatchConditionEvaluation {
  readonly seconds: number
  /** Whether the webhook or policy is skipped. */
  readonly excluded: boolean
  readonly failed: boolean
}

export function matchConditionMetrics(
  instruments: Instruments,
  { prefix, subject, labelNames }: MatchConditionMetricsOptions,
): (labels: Readonly<Record<string, string>>, evaluation: MatchConditionEvaluation) => void {
  const errors = instruments.counter({
    name: `${prefix}_match_condition_evaluation_errors_total`,
    help: `Number of requests for which a match condition of ${subject} could not be evaluated.`,
    labelNames,
  })
  const exclusions = instruments.counter({
    name: `${prefix}_match_condition_exclusions_total`,
    help: `Number of calls to ${subject} that match conditions excluded.`,
    labelNames,
  })
  const durations = instruments.histogram({
    name: `${prefix}_match_condition_evaluation_seconds`,
    help: `Time to evaluate the match conditions of ${subject} in seconds.`,
    labelNames,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  })
  return (labels, { seconds, excluded, failed }) => {
    durations.observe(labels, seconds)
    if (excluded) exclusions.inc(labels)
    if (failed) errors.inc(labels)
  }
}
