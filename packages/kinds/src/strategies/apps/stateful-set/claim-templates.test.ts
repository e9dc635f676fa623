import { expect, it } from 'vitest'
import type { PersistentVolumeClaim } from '../../../types/core-v1.generated.ts'
import { defaultClaimTemplate } from './claim-templates.ts'

it('amounts of claim templates are rounded up to thousandths', () => {
  const amounts = (storage: string) => ({
    spec: { resources: { limits: { storage }, requests: { storage } } },
    status: { capacity: { storage }, allocatedResources: { storage } },
  })
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data' },
    ...amounts('1500u'),
  }
  defaultClaimTemplate(claim)
  expect(claim).toMatchObject(amounts('2m'))
})
