import type { RequestContext } from '../request/context.ts'
import type { WriteOptions } from '../request/query.ts'
import { requestedOptions, type ServerScope } from '../request/scope.ts'
import type { Expected } from './body-type.ts'
import { type Body, bodyEncoding, decodeObject, readBytes, type SizedObject } from './request-body.ts'

/** Options and body of a POST that stores or reviews an object. */
export interface Creation {
  readonly options: WriteOptions
  readonly decoded: SizedObject
  readonly body: Body
}

/**
 * Reads options and body of a POST. The options are checked after the media type of the body; an update checks its options first.
 *
 * @throws ApiError 400, 413, 415, 422
 */
export async function readCreation(
  scope: ServerScope,
  context: RequestContext,
  expected: Omit<Expected, 'fieldValidation'>,
): Promise<Creation> {
  const encoding = bodyEncoding(context, scope.responses)
  const options = requestedOptions(scope, context, 'CreateOptions')
  const { fieldValidation } = options
  const bytes = await readBytes(scope, context, expected)
  context.span?.event('limitedReadBody succeeded', () => ({ len: bytes.byteLength }))
  context.span?.event('About to convert to expected version')
  const decoded = await decodeObject(scope, context, { fieldValidation, ...expected }, { bytes, encoding })
  context.span?.event('Conversion done')
  return { options, decoded, body: { bytes, encoding } }
}
