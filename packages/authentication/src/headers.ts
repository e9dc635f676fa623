/** Identity headers: validation, decoding, and removal of token subprotocols. Entry point `@krmkit/authentication/headers`. */

export {
  createIdentityHeaderRules,
  decodeExtraKey,
  headerValues,
  type IdentityHeaderError,
  type IdentityHeaderRules,
  impersonationHeaders,
  isValidHeaderText,
  singleHeaderValue,
} from './identity-headers.ts'
export { removeTokenProtocols } from './web-socket-token.ts'
