import type { GroupVersionKind } from '@krmkit/meta'
import type { ConvertFactory } from '../../conversions/convert.ts'
import { v2AutoscalerToV2beta1, v2beta1AutoscalerToV2 } from './autoscaler.ts'
import { betaDefinitionToV1, v1DefinitionToBeta } from './custom-resource-definition.ts'
import { betaIngressToV1, v1IngressToBeta } from './ingress.ts'
import * as small from './small-changes.ts'

/** Conversions of the versions that 1.33 no longer serves, by their stock names: `group/version/kind`. */

/** To and from the storage version of the kind. */
export interface ConversionPair {
  readonly toStorage: ConvertFactory
  readonly fromStorage: ConvertFactory
}

const ingress: ConversionPair = { toStorage: betaIngressToV1, fromStorage: v1IngressToBeta }
const assured: ConversionPair = { toStorage: small.assuredLevelToV1, fromStorage: small.v1LevelToAssured }
const review: ConversionPair = { toStorage: small.betaReviewToV1, fromStorage: small.v1ReviewToBeta }
const binding: ConversionPair = { toStorage: small.alphaBindingToV1, fromStorage: small.v1BindingToAlpha }

const pairs: Readonly<Record<string, ConversionPair>> = {
  'apiextensions.k8s.io/v1beta1/CustomResourceDefinition': { toStorage: betaDefinitionToV1, fromStorage: v1DefinitionToBeta },
  'authorization.k8s.io/v1beta1/LocalSubjectAccessReview': review,
  'authorization.k8s.io/v1beta1/SubjectAccessReview': review,
  'autoscaling/v2beta1/HorizontalPodAutoscaler': { toStorage: v2beta1AutoscalerToV2, fromStorage: v2AutoscalerToV2beta1 },
  'discovery.k8s.io/v1beta1/EndpointSlice': { toStorage: small.betaSliceToV1, fromStorage: small.v1SliceToBeta },
  'extensions/v1beta1/Ingress': ingress,
  'flowcontrol.apiserver.k8s.io/v1beta1/PriorityLevelConfiguration': assured,
  'flowcontrol.apiserver.k8s.io/v1beta2/PriorityLevelConfiguration': assured,
  'flowcontrol.apiserver.k8s.io/v1beta3/PriorityLevelConfiguration': {
    toStorage: small.v1beta3LevelToV1,
    fromStorage: small.v1LevelToV1beta3,
  },
  'networking.k8s.io/v1beta1/Ingress': ingress,
  'node.k8s.io/v1alpha1/RuntimeClass': { toStorage: small.alphaRuntimeClassToV1, fromStorage: small.v1RuntimeClassToAlpha },
  'policy/v1beta1/PodDisruptionBudget': { toStorage: small.betaBudgetToV1, fromStorage: small.v1BudgetToBeta },
  'rbac.authorization.k8s.io/v1alpha1/ClusterRoleBinding': binding,
  'rbac.authorization.k8s.io/v1alpha1/RoleBinding': binding,
}

/** The conversions of a version whose shape differs from the storage version; undefined where only the apiVersion does. */
export function earlierConversions({ group, version, kind }: GroupVersionKind): ConversionPair | undefined {
  const key = `${group}/${version}/${kind}`
  return Object.hasOwn(pairs, key) ? pairs[key] : undefined
}
