/** A process with a durable store, which does what its parent asks for over IPC. */
import { lmdbStorage } from '../../../packages/storage/src/lmdb/lmdb-storage.ts'
import { type ClientWrite, clientOf } from '../../../packages/storage/src/testing/linearizability/history-client.ts'

export interface StoreRequest {
  readonly id: number
  readonly call:
    | { readonly type: 'write'; readonly write: ClientWrite }
    | { readonly type: 'get'; readonly key: string }
    | { readonly type: 'list' }
}

export type StoreReply = { readonly id: number; readonly result?: unknown; readonly error?: string } | { readonly ready: true }

export async function serveStore(dir: string): Promise<void> {
  const storage = await lmdbStorage({ dir })
  const client = clientOf(storage)
  const reply = (message: StoreReply) => process.send?.(message)
  const answer = async ({ call }: StoreRequest) => {
    if (call.type === 'write') return client.write(call.write)
    return call.type === 'get' ? client.get(call.key) : client.list()
  }
  process.on('message', (request: StoreRequest) => {
    if (request.id % 40 === 0) void storage.compact(storage.revision)
    answer(request).then(
      (result) => reply({ id: request.id, result }),
      (error: unknown) => reply({ id: request.id, error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  reply({ ready: true })
}
