import { ApiError } from '@krmkit/meta'

/** A 500 without a reason, as kube-apiserver returns for errors that are not a Status. The client sees the message. */
export function plainError(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}
