/** The messages of etcd's v3 API, as far as the client uses them. */
import { MessageType } from '@krmkit/base/protobuf'

export interface ResponseHeader {
  /** Revision of the store when the response was made. */
  readonly revision: number
}

export interface KeyValue {
  readonly key: Uint8Array
  readonly create_revision: number
  readonly mod_revision: number
  /** Number of writes since the key was created. */
  readonly version: number
  readonly value: Uint8Array
  readonly lease: number
}

export interface RangeRequest {
  readonly key: Uint8Array
  /** The key after the last one; absent: a single key. */
  readonly range_end?: Uint8Array | undefined
  readonly limit?: number
  /** Absent or 0: the newest. */
  readonly revision?: number | undefined
  /** Whether the member may answer without consensus, possibly with an older state. */
  readonly serializable?: boolean
  readonly keys_only?: boolean
  readonly count_only?: boolean
}

export interface RangeResponse {
  readonly header: ResponseHeader
  readonly kvs: readonly KeyValue[]
  readonly more: boolean
  readonly count: number
}

export interface PutRequest {
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Identifier of the lease that the key is removed with; absent or 0: none. */
  readonly lease?: number | undefined
}

export interface DeleteRangeRequest {
  readonly key: Uint8Array
  readonly range_end?: Uint8Array | undefined
}

/** A condition on one key: the member that `target` names equals the given value. */
export interface Compare {
  readonly result: number
  readonly target: number
  readonly key: Uint8Array
  readonly version?: number
  readonly mod_revision?: number
}

export const compareEqual = 0
export const compareVersion = 0
export const compareModRevision = 2

/** Exactly one member is set. */
export interface RequestOp {
  readonly request_range?: RangeRequest
  readonly request_put?: PutRequest
  readonly request_delete_range?: DeleteRangeRequest
}

export interface ResponseOp {
  readonly response_range?: RangeResponse
}

export interface TxnRequest {
  readonly compare: readonly Compare[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}

export interface TxnResponse {
  readonly header: ResponseHeader
  readonly succeeded: boolean
  readonly responses: readonly ResponseOp[]
}

export interface CompactionRequest {
  readonly revision: number
}

export interface WatchCreateRequest {
  readonly key: Uint8Array
  readonly range_end?: Uint8Array
  /** The first revision to send. */
  readonly start_revision: number
  readonly progress_notify?: boolean
  readonly prev_kv?: boolean
  /** Chosen by the client, unique in its stream. */
  readonly watch_id: number
  /** Whether to split large responses. */
  readonly fragment?: boolean
  /** Event types that are not sent. */
  readonly filters?: readonly number[]
}

export const filterPuts = 0
export const filterDeletes = 1

/** Exactly one member is set. */
export interface WatchRequest {
  readonly create_request?: WatchCreateRequest
  readonly cancel_request?: { readonly watch_id: number }
  readonly progress_request?: object
}

export interface WatchResponse {
  readonly header: ResponseHeader
  /** -1: concerns all watches of the stream. */
  readonly watch_id: number
  readonly created: boolean
  readonly canceled: boolean
  /** Set when the watch was cancelled because its start was compacted: the oldest revision that can be watched. */
  readonly compact_revision: number
  readonly cancel_reason: string
  /** Whether more fragments of the same response follow. */
  readonly fragment: boolean
  readonly events: readonly WatchEvent[]
}

export interface WatchEvent {
  /** 0 put, 1 delete. */
  readonly type: number
  readonly kv: KeyValue
  readonly prev_kv?: KeyValue
}

export const deleteEventType = 1

export interface LeaseGrantRequest {
  /** Seconds. */
  readonly TTL: number
  /** Chosen by the client; 0: by the server. */
  readonly ID: number
}

export interface LeaseGrantResponse {
  readonly ID: number
  readonly TTL: number
  readonly error: string
}

export interface StatusResponse {
  readonly header: ResponseHeader & { readonly member_id: number }
  readonly version: string
  /** Bytes. */
  readonly dbSize: number
  readonly dbSizeInUse: number
  /** 0 before etcd 3.6, which reports it. */
  readonly dbSizeQuota: number
  /** Identifier of the leader; 0: none. */
  readonly leader: number
  /** Problems of the member, such as a full disk. */
  readonly errors: readonly string[]
}

export interface SnapshotResponse {
  readonly remaining_bytes: number
  readonly blob: Uint8Array
}

const header = new MessageType<ResponseHeader>({ 3: ['revision', 'int'] })

export const keyValue = new MessageType<KeyValue>({
  1: ['key', 'bytes'],
  2: ['create_revision', 'int'],
  3: ['mod_revision', 'int'],
  4: ['version', 'int'],
  5: ['value', 'bytes'],
  6: ['lease', 'int'],
})

export const rangeRequest = new MessageType<RangeRequest>({
  1: ['key', 'bytes'],
  2: ['range_end', 'bytes'],
  3: ['limit', 'int'],
  4: ['revision', 'int'],
  7: ['serializable', 'bool'],
  8: ['keys_only', 'bool'],
  9: ['count_only', 'bool'],
})

export const rangeResponse = new MessageType<RangeResponse>({
  1: ['header', header],
  2: ['kvs', keyValue, 'repeated'],
  3: ['more', 'bool'],
  4: ['count', 'int'],
})

const putRequest = new MessageType<PutRequest>({ 1: ['key', 'bytes'], 2: ['value', 'bytes'], 3: ['lease', 'int'] })
const deleteRangeRequest = new MessageType<DeleteRangeRequest>({ 1: ['key', 'bytes'], 2: ['range_end', 'bytes'] })

const compare = new MessageType<Compare>({
  1: ['result', 'int'],
  2: ['target', 'int'],
  3: ['key', 'bytes'],
  4: ['version', 'int'],
  6: ['mod_revision', 'int'],
})

const requestOp = new MessageType<RequestOp>({
  1: ['request_range', rangeRequest],
  2: ['request_put', putRequest],
  3: ['request_delete_range', deleteRangeRequest],
})

const responseOp = new MessageType<ResponseOp>({ 1: ['response_range', rangeResponse] })

export const txnRequest = new MessageType<TxnRequest>({
  1: ['compare', compare, 'repeated'],
  2: ['success', requestOp, 'repeated'],
  3: ['failure', requestOp, 'repeated'],
})

export const txnResponse = new MessageType<TxnResponse>({
  1: ['header', header],
  2: ['succeeded', 'bool'],
  3: ['responses', responseOp, 'repeated'],
})

export const compactionRequest = new MessageType<CompactionRequest>({ 1: ['revision', 'int'] })
export const compactionResponse = new MessageType<{ header: ResponseHeader }>({ 1: ['header', header] })

const watchCreateRequest = new MessageType<WatchCreateRequest>({
  1: ['key', 'bytes'],
  2: ['range_end', 'bytes'],
  3: ['start_revision', 'int'],
  4: ['progress_notify', 'bool'],
  5: ['filters', 'int', 'repeated'],
  6: ['prev_kv', 'bool'],
  7: ['watch_id', 'int'],
  8: ['fragment', 'bool'],
})

export const watchRequest = new MessageType<WatchRequest>({
  1: ['create_request', watchCreateRequest],
  2: ['cancel_request', new MessageType<{ watch_id: number }>({ 1: ['watch_id', 'int'] })],
  3: ['progress_request', new MessageType<object>({})],
})

const watchEvent = new MessageType<WatchEvent>({ 1: ['type', 'int'], 2: ['kv', keyValue], 3: ['prev_kv', keyValue] })

export const watchResponse = new MessageType<WatchResponse>({
  1: ['header', header],
  2: ['watch_id', 'int'],
  3: ['created', 'bool'],
  4: ['canceled', 'bool'],
  5: ['compact_revision', 'int'],
  6: ['cancel_reason', 'text'],
  7: ['fragment', 'bool'],
  11: ['events', watchEvent, 'repeated'],
})

export const leaseGrantRequest = new MessageType<LeaseGrantRequest>({ 1: ['TTL', 'int'], 2: ['ID', 'int'] })
export const leaseGrantResponse = new MessageType<LeaseGrantResponse>({
  2: ['ID', 'int'],
  3: ['TTL', 'int'],
  4: ['error', 'text'],
})
export const leaseRevokeRequest = new MessageType<{ ID: number }>({ 1: ['ID', 'int'] })
/** A lease as etcd stores it. */
export const storedLease = new MessageType<{ ID: number; TTL: number }>({ 1: ['ID', 'int'], 2: ['TTL', 'int'] })
export const statusResponse = new MessageType<StatusResponse>({
  1: ['header', new MessageType<StatusResponse['header']>({ 2: ['member_id', 'int'], 3: ['revision', 'int'] })],
  2: ['version', 'text'],
  3: ['dbSize', 'int'],
  4: ['leader', 'int'],
  8: ['errors', 'text', 'repeated'],
  9: ['dbSizeInUse', 'int'],
  12: ['dbSizeQuota', 'int'],
})
export const snapshotResponse = new MessageType<SnapshotResponse>({ 2: ['remaining_bytes', 'int'], 3: ['blob', 'bytes'] })
/** A request or response whose members are not used. */
export const emptyMessage: MessageType<object> = new MessageType<object>({})
