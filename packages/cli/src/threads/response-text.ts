import type { ApiResponse } from '@krmkit/protocol'

/** The text of a response that is not streamed. */
export function textOf({ body }: ApiResponse): string {
  const parts = body.kind === 'bytes' ? [body.bytes] : body.kind === 'list' ? body.parts : []
  return parts.map((part) => Buffer.from(part instanceof Uint8Array ? part : part.bytes()).toString()).join('')
}
