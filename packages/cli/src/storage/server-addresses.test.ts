import { memoryStorage, StorageError } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { Log } from '../log.ts'
import { storedAddresses } from './server-addresses.ts'

function recordingLog(): Log & { readonly errors: unknown[] } {
  const errors: unknown[] = []
  return { errors, info: () => undefined, error: (text, error) => void errors.push(text, error) }
}

describe('storedAddresses', () => {
  it('announces, renews and removes the address of a server', async () => {
    await using storage = memoryStorage()
    const log = recordingLog()
    const addresses = storedAddresses(storage, log)
    await addresses.renew('10.0.0.1')
    await addresses.renew('10.0.0.1')
    await addresses.renew('10.0.0.2')
    expect([...(await addresses.list())].sort()).toEqual(['10.0.0.1', '10.0.0.2'])
    const stored = new TextDecoder().decode(storage.peek('/core/masterleases/10.0.0.1')?.value)
    expect(JSON.parse(stored)).toMatchObject({ kind: 'Endpoints', metadata: { generation: 2 } })
    await addresses.remove('10.0.0.1')
    await addresses.remove('10.0.0.3')
    expect(await addresses.list()).toEqual(['10.0.0.2'])
    expect(log.errors).toEqual([])
  })

  it('logs an address that cannot be removed, and leaves it to its expiry', async () => {
    await using storage = memoryStorage()
    const unavailable = new StorageError({ code: 'Unavailable', reason: 'remote', problem: 'no etcd' })
    const log = recordingLog()
    await storedAddresses(storage, log).renew('10.0.0.1')
    Object.assign(storage, { delete: () => Promise.reject(unavailable) })
    await storedAddresses(storage, log).remove('10.0.0.1')
    expect(log.errors).toEqual([expect.stringContaining('10.0.0.1'), unavailable])
    expect(storage.count('/core/masterleases/')).toBe(1)
  })
})
