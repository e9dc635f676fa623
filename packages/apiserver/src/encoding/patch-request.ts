import type { RequiredMembers } from '@krmkit/kinds/strategies'
import type { GroupVersionKind } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { TypeMeta } from '@krmkit/schema/decode'
import type { RequestContext } from '../request/context.ts'
import type { WriteOptions } from '../request/query.ts'
import type { RequestScope } from '../request/scope.ts'
import type { PatchBody } from './patch-body.ts'

/** The kind of object that a patch is applied to: the kind of the resource in the version of the request, or Scale. */
export interface PatchTarget {
  readonly gvk: GroupVersionKind
  readonly type: () => StructType
  readonly namespaced: boolean
  /** Members that the patched object must have. @see Strategy.requiredMembers */
  readonly required?: RequiredMembers
}

/** One PATCH request. */
export interface PatchRequest {
  readonly scope: RequestScope
  readonly context: RequestContext
  readonly target: PatchTarget
  readonly body: PatchBody
  readonly options: WriteOptions
  /** Called when the patch turns a custom resource into another type, which validation refuses. */
  readonly onOtherType?: (stated: TypeMeta) => void
}
