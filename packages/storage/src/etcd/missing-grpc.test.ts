import { expect, it, vi } from 'vitest'
import { etcdStorage } from './etcd-storage.ts'

vi.mock('@grpc/grpc-js', () => {
  throw new Error('Cannot find package')
})

it('refuses to open a store in etcd when the packages it needs cannot be loaded', async () => {
  await expect(etcdStorage({ endpoints: ['http://127.0.0.1:1'] })).rejects.toMatchObject({
    code: 'Unavailable',
    detail: { reason: 'module', problem: expect.stringContaining('needs the packages @grpc/grpc-js') },
  })
})
