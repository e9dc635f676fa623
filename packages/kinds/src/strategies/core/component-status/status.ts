import type { ComponentStatus } from '../../../types/core-v1.generated.ts'

/**
 * The status of a component that works.
 *
 * @example
 * import { healthyComponent } from '@krmkit/kinds/strategies'
 * healthyComponent('storage-0').conditions?.[0]?.status // 'True'
 */
export function healthyComponent(name: string): ComponentStatus {
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name, creationTimestamp: null },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  }
}
