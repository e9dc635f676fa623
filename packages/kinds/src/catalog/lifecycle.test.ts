import { expect, it } from 'vitest'
import { readLifecycle } from './lifecycle.ts'

it('knows the release that removed a version [P334]', () => {
  const rows = readLifecycle()
  const find = (group: string, version: string, kind: string) =>
    rows.find((row) => row.group === group && row.version === version && row.kind === kind)
  expect(find('networking.k8s.io', 'v1beta1', 'Ingress')).toMatchObject({
    removed: '1.22',
    replacement: 'networking.k8s.io,v1,Ingress',
  })
  expect(find('batch', 'v1beta1', 'CronJob')?.removed).toBe('1.25')
  expect(find('autoscaling', 'v2beta2', 'HorizontalPodAutoscaler')?.removed).toBe('1.26')
})
