import type { ApiObject } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { storedResponse } from '../encoding/object-response.ts'
import { readObject } from '../encoding/request-body.ts'
import { checkIdentity } from '../handlers/update.ts'
import { header, type RequestContext } from '../request-context.ts'
import { type RequestScope, requestedOptions } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'

interface Namespace extends ApiObject {
  spec?: { finalizers?: string[] }
}

/** PUT to `namespaces/finalize`: changes only `spec.finalizers`; removing the last one removes a terminating namespace. */
export async function finalizeNamespace(scope: RequestScope, context: RequestContext): Promise<ApiResponse> {
  const { definition, responses, store } = scope
  const { name } = context.info
  const representation = responses.negotiator.negotiate(header(context.request, 'accept'))
  const options = requestedOptions(scope, context, 'UpdateOptions')
  const body = (await readObject(scope, context, {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
  })) as Namespace
  checkIdentity(body, name, '', false)
  const result = await store.updateStored(writeContext(context, options), {
    namespace: '',
    name,
    subresource: 'finalize',
    uid: body.metadata.uid ?? '',
    change(current) {
      const next = structuredClone(current) as Namespace
      next.metadata.resourceVersion = body.metadata.resourceVersion ?? ''
      next.spec = { ...next.spec, finalizers: body.spec?.finalizers ?? [] }
      return next
    },
  })
  return storedResponse(scope, context, result, { representation, status: 200 })
}
