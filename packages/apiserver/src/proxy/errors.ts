import { ApiError } from '@krmkit/meta'

/** 500 without a reason, which kube-apiserver answers for errors that are no Status. The message is for the client. */
export function plainError(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}
