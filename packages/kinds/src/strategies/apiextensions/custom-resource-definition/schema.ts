import type { DeepReadonly } from '@krmkit/meta'
import type { JSONSchemaProps } from '../../../types/apiextensions-v1.generated.ts'

/** `openAPIV3Schema` of a version, or a part of it. */
export type Schema = DeepReadonly<JSONSchemaProps>
