import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import type { ObjectTarget } from '../metrics-provider.ts'

/** The parts of autoscalers and scales that the controller reads and writes. */

export interface MetricTarget {
  type?: string
  value?: string
  averageValue?: string
  averageUtilization?: number
}

export interface MetricIdentifier {
  name: string
  selector?: LabelSelectorObject | null
}

export interface MetricSpec {
  type: string
  resource?: { name: string; target: MetricTarget }
  containerResource?: { name: string; container: string; target: MetricTarget }
  pods?: { metric: MetricIdentifier; target: MetricTarget }
  object?: { describedObject: ObjectTarget; metric: MetricIdentifier; target: MetricTarget }
  external?: { metric: MetricIdentifier; target: MetricTarget }
}

export interface ScalingRules {
  stabilizationWindowSeconds?: number
  selectPolicy?: string
  policies?: { type: string; value: number; periodSeconds: number }[]
}

export interface AutoscalerCondition {
  type: string
  status: string
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface AutoscalerStatus {
  currentReplicas?: number
  desiredReplicas: number
  lastScaleTime?: string
  currentMetrics?: object[] | null
  conditions?: AutoscalerCondition[]
  [member: string]: unknown
}

export interface Autoscaler extends ApiObject {
  spec?: {
    scaleTargetRef: ObjectTarget
    minReplicas?: number
    maxReplicas: number
    metrics?: MetricSpec[]
    behavior?: { scaleUp?: ScalingRules; scaleDown?: ScalingRules } | null
  }
  status?: AutoscalerStatus
}

export interface Scale extends ApiObject {
  spec?: { replicas?: number }
  status?: { replicas?: number; selector?: string }
}

export type ReadonlyAutoscaler = DeepReadonly<Autoscaler>

export const autoscalers = resourceType<Autoscaler>({
  group: 'autoscaling',
  version: 'v2',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
})
