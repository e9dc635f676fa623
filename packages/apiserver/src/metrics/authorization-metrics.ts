import type { AuthorizationMetrics } from '@krmkit/authorization'
import type { Instruments } from './instruments.ts'
import { matchConditionMetrics } from './match-condition-metrics.ts'

const prefix = 'apiserver_authorization'

/** @see API protocol specification, 6 */
export function authorizationMetrics(instruments: Instruments): AuthorizationMetrics {
  const decisions = instruments.counter({
    name: `${prefix}_decisions_total`,
    help: 'Number of final decisions, by authorizer and decision.',
    labelNames: ['decision', 'name', 'type'],
  })
  const evaluations = instruments.counter({
    name: `${prefix}_webhook_evaluations_total`,
    help: 'Number of calls to authorization webhooks.',
    labelNames: ['name', 'result'],
  })
  const durations = instruments.histogram({
    name: `${prefix}_webhook_duration_seconds`,
    help: 'Latency of authorization webhooks in seconds.',
    labelNames: ['name', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  const failOpen = instruments.counter({
    name: `${prefix}_webhook_evaluations_fail_open_total`,
    help: 'Number of failed calls to authorization webhooks that were left to the next authorizer.',
    labelNames: ['name', 'result'],
  })
  const subject = 'an authorization webhook'
  const conditions = matchConditionMetrics(instruments, { prefix, subject, labelNames: ['name', 'type'] })
  return {
    decisions(type, name) {
      const allowed = decisions.labels({ decision: 'allowed', name, type })
      const denied = decisions.labels({ decision: 'denied', name, type })
      return { allowed: () => allowed.inc(), denied: () => denied.inc() }
    },
    evaluated(name, { result, seconds }) {
      evaluations.inc({ name, result })
      durations.observe({ name, result }, seconds)
    },
    failedOpen: (name, result) => failOpen.inc({ name, result }),
    conditionsEvaluated: (name, evaluation) => conditions({ name, type: 'Webhook' }, evaluation),
    reloaded: reloadMetrics(instruments),
  }
}

function reloadMetrics(instruments: Instruments): AuthorizationMetrics['reloaded'] {
  const reloads = instruments.counter({
    name: `${prefix}_config_controller_automatic_reloads_total`,
    help: 'Number of reloads of the authorization configuration, by outcome.',
    labelNames: ['status'],
  })
  const last = instruments.gauge({
    name: `${prefix}_config_controller_automatic_reload_last_timestamp_seconds`,
    help: 'Time of the last reload of the authorization configuration in seconds since 1970, by outcome.',
    labelNames: ['status'],
  })
  return (status, timeMs) => {
    reloads.inc({ status })
    last.set({ status }, timeMs / 1000)
  }
}
