import type { ApiObject } from '@krmkit/meta'
import { updateObject } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject } from '../request-body.ts'
import { header } from '../request-context.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { checkIdentity, presentStored } from '../verbs/write.ts'

interface Namespace extends ApiObject {
  spec?: { finalizers?: string[] }
}

/** PUT to `namespaces/finalize`: changes `spec.finalizers` alone; the last one gone ends a terminating namespace. */
export async function finalizeNamespace(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const representation = machinery.responder.negotiator.negotiate(header(state.request, 'accept'))
  const options = requestedOptions(request, 'UpdateOptions')
  const body = (await readObject(machinery, state, {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
  })) as Namespace
  checkIdentity(body, state.info.name, '', false)
  const answer = await updateObject(machinery.writer, definition, writeContext(request, options), {
    namespace: '',
    name: state.info.name,
    subresource: 'finalize',
    uid: body.metadata.uid ?? '',
    change(current) {
      const next = structuredClone(current) as Namespace
      next.metadata.resourceVersion = body.metadata.resourceVersion ?? ''
      next.spec = { ...next.spec, finalizers: body.spec?.finalizers ?? [] }
      return next
    },
  })
  return presentStored(request, 200, answer, representation)
}
