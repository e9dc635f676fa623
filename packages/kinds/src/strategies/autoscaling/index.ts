import type { Strategy } from '../../interfaces.ts'
import { horizontalPodAutoscalerStrategy } from './horizontal-pod-autoscaler.ts'

/** Policies of the group, by `group/Kind`. */
export const autoscalingStrategies: Readonly<Record<string, Strategy>> = {
  'autoscaling/HorizontalPodAutoscaler': horizontalPodAutoscalerStrategy,
}
