/** Converts the headers and resets of a stream to the outcome of a call. */
import {
  cancelledStatus,
  internalStatus,
  permissionDenied,
  RpcError,
  unauthenticated,
  unavailableStatus,
  unimplemented,
  unknownStatus,
} from '../rpc-error.ts'
import { resetCode } from './frames.ts'
import type { Headers } from './header-block.ts'

/** gRPC statuses for the HTTP statuses of servers that do not speak gRPC. */
const statusOfHttp: Readonly<Record<string, number>> = {
  400: internalStatus,
  401: unauthenticated,
  403: permissionDenied,
  404: unimplemented,
  429: unavailableStatus,
  502: unavailableStatus,
  503: unavailableStatus,
  504: unavailableStatus,
}

/** The error for headers that cannot begin a gRPC response; `undefined` for valid headers. */
export function refusedHeaders(headers: Headers): RpcError | undefined {
  const status = headers.get(':status') ?? ''
  const type = headers.get('content-type') ?? ''
  if (status === '200' && type.startsWith('application/grpc')) return undefined
  return new RpcError({
    status: status === '200' ? unknownStatus : (statusOfHttp[status] ?? unknownStatus),
    message: `the server does not speak gRPC: status ${status}, content type ${type === '' ? 'unknown' : type}`,
  })
}

/** The failure that trailers report; `undefined` means success. */
export function failureInTrailers(trailers: Headers): RpcError | undefined {
  const status = trailers.get('grpc-status')
  if (status === '0') return undefined
  if (status === undefined || !/^\d{1,3}$/.test(status)) {
    return new RpcError({ status: unknownStatus, message: 'the server ended the call without a status' })
  }
  return new RpcError({ status: Number(status), message: percentDecoded(trailers.get('grpc-message') ?? '') })
}

/** The failure of a stream that the server has reset. */
export function failureOfReset(code: number): RpcError {
  if (code === resetCode.refused) {
    return new RpcError({ status: unavailableStatus, message: 'the server refused the stream', unsent: true })
  }
  const status = code === resetCode.cancel ? cancelledStatus : internalStatus
  return new RpcError({ status, message: `the server reset the stream with code ${code}` })
}

/** Decodes text with percent-encoded bytes; malformed escapes are kept. */
function percentDecoded(text: string): string {
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
