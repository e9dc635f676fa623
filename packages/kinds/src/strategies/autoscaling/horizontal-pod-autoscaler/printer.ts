import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { agedPrinter, column } from '../../../printers/columns.ts'
import { firstFew } from '../../../printers/text.ts'
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../types/autoscaling-v2.generated.ts'

export const horizontalPodAutoscalerPrinter: Printer<HorizontalPodAutoscaler> = /* @__PURE__ */ agedPrinter(
  [
    column('Reference', 'string', 'Object to scale.'),
    column('Targets', 'string', 'Current and target value of each metric; at most two.'),
    column('MinPods', 'string', 'Minimum of pods.'),
    column('MaxPods', 'string', 'Maximum of pods.'),
    column('Replicas', 'string', 'Current number of pods.'),
  ],
  ({ spec, status }) => [
    `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
    metricsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
    spec?.minReplicas === undefined ? '<unset>' : String(spec.minReplicas),
    spec?.maxReplicas ?? 0,
    status?.currentReplicas ?? 0,
  ],
)

function metricsText(specs: DeepReadonly<MetricSpec[]>, statuses: DeepReadonly<MetricStatus[]>): string {
  return specs.length === 0
    ? '<none>'
    : firstFew(
        specs.map((spec, i) => metricText(spec, statuses[i])),
        2,
        { separator: ', ' },
      )
}

type Target = DeepReadonly<MetricTarget> | undefined

type Current = DeepReadonly<MetricValueStatus> | undefined

/** Pairs the status and the specification of a metric by index. */
function metricText(spec: DeepReadonly<MetricSpec>, status: DeepReadonly<MetricStatus> | undefined): string {
  switch (spec.type) {
    case 'External':
      return valueText(spec.external?.target, status?.external?.current)
    case 'Object':
      return valueText(spec.object?.target, status?.object?.current)
    case 'Pods':
      return `${averageOf(status?.pods?.current)}/${spec.pods?.target?.averageValue ?? '<nil>'}`
    case 'Resource':
      return `${spec.resource?.name}: ${usageText(spec.resource?.target, status?.resource?.current)}`
    case 'ContainerResource':
      return `${spec.containerResource?.name}: ${usageText(spec.containerResource?.target, status?.containerResource?.current)}`
    default:
      return '<unknown type>'
  }
}

function valueText(target: Target, current: Current): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue} (avg)`
  return `${current === undefined ? '<unknown>' : (current.value ?? '<nil>')}/${target?.value ?? '<nil>'}`
}

function usageText(target: Target, current: Current): string {
  if (target?.averageValue !== undefined) return `${averageOf(current)}/${target.averageValue}`
  return `${percent(current?.averageUtilization) ?? '<unknown>'}/${percent(target?.averageUtilization) ?? '<auto>'}`
}

function averageOf(current: Current): string {
  return current === undefined ? '<unknown>' : (current.averageValue ?? '<nil>')
}

function percent(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}%`
}
