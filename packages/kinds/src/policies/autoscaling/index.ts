import type { KindPolicy } from '../../interfaces.ts'
import { horizontalPodAutoscalerPolicy } from './horizontal-pod-autoscaler.ts'

/** Policies of the group, by `group/Kind`. */
export const autoscalingPolicies: Readonly<Record<string, KindPolicy>> = {
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerPolicy,
}
