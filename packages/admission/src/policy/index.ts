/** Validating admission policies, CEL match conditions and type checking of policy expressions. */
export { celMatchConditions } from './match-conditions.ts'
export { mutatingPolicies } from './mutating-policies.ts'
export { checkPolicyTypes, type ExpressionWarning, type PolicyTypeResolver, type ServedType } from './type-check.ts'
export { validatingPolicies } from './validating-policies.ts'
