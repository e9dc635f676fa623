import { concatBytes, utf8Text } from '@krmkit/base/bytes'
import type { ApiBody } from '@krmkit/protocol'

/** Reads a whole response body as UTF-8 text. @throws Error for a body above `limitBytes`. */
export async function readBodyText({ body }: { readonly body: ApiBody }, limitBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  const take = (part: Uint8Array): void => {
    length += part.byteLength
    if (length > limitBytes) throw new Error(`the response body is longer than ${limitBytes} bytes`)
    parts.push(part)
  }
  if (body.kind === 'bytes') take(body.bytes)
  else if (body.kind === 'list') for (const part of body.parts) take(part instanceof Uint8Array ? part : part.bytes())
  else if (body.kind === 'stream') for await (const part of body.stream) take(part)
  else if (body.kind === 'connection') body.connection.destroy()
  return utf8Text(concatBytes(parts))
}
